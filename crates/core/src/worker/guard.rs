use crate::AdapterError;
use crate::wire::{Fault, FaultKind};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs library code; an error or a caught panic becomes a fault.
pub(super) fn guard<T>(work: impl FnOnce() -> Result<T, AdapterError>) -> Result<T, Fault> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(fault(error)),
        Err(payload) => Err(Fault {
            kind: FaultKind::Panic,
            message: panic_message(payload.as_ref()),
        }),
    }
}

/// An adapter's error as a fault.
pub(super) fn fault(error: AdapterError) -> Fault {
    Fault {
        kind: match error {
            AdapterError::Failed(_) => FaultKind::Error,
            AdapterError::Rejected(_) | AdapterError::Unsupported(_) => FaultKind::Rejected,
        },
        message: error.to_string(),
    }
}

/// The text of a panic.
pub(super) fn panic_message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}
