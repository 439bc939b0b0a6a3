//! A worker's first words.

use annbench_core::Descriptor;
use annbench_core::wire::{Numbered, PROTOCOL_VERSION, REVISION, Reply, parse_frame};
use serde_json::Value;

/// The descriptor of an adapter that speaks this protocol and measures in this way.
///
/// The version is looked at before anything else: a hello of another version may have any shape.
///
/// # Errors
/// What was expected, what was found and a next step, in words.
pub(crate) fn read_hello(frame: &[u8]) -> Result<Descriptor, String> {
    match announced_protocol(frame) {
        Some(protocol) if protocol != u64::from(PROTOCOL_VERSION) => {
            return Err(format!(
                "expected protocol {PROTOCOL_VERSION}, found {protocol}; rebuild it with \
                 scripts/build-adapters"
            ));
        }
        _ => {}
    }
    let hello: Numbered<Reply> = parse_frame(frame).map_err(|error| {
        format!("expected a hello: {error}; rebuild it with scripts/build-adapters")
    })?;
    match hello {
        Numbered {
            number: 0,
            message:
                Reply::Hello {
                    revision,
                    descriptor,
                    ..
                },
        } => match revision {
            Some(other) if other != REVISION => Err(format!(
                "built from another revision of annbench-core, so it may measure in another way: \
                 expected {REVISION}, found {other}; rebuild it with scripts/build-adapters"
            )),
            _ => Ok(*descriptor),
        },
        other => Err(format!(
            "expected a hello, found the reply `{}` to request {}; rebuild it with \
             scripts/build-adapters",
            other.message.name(),
            other.number
        )),
    }
}

/// The version that a hello announces, wherever earlier and later versions may have it.
fn announced_protocol(frame: &[u8]) -> Option<u64> {
    let frame: Value = serde_json::from_slice(frame).ok()?;
    ["/message/protocol", "/protocol"]
        .iter()
        .find_map(|place| frame.pointer(place)?.as_u64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn another_version_is_told_whatever_its_shape() {
        for hello in [
            json!({"number": 0, "message": {"reply": "hello", "protocol": 99, "descriptor": 7}}),
            json!({"protocol": 99}),
        ] {
            let error = read_hello(hello.to_string().as_bytes()).unwrap_err();
            assert!(error.contains("expected protocol 1, found 99"), "{error}");
        }
    }

    #[test]
    fn a_frame_that_is_no_hello_is_shown() {
        let error = read_hello(br#"{"message": "good morning"}"#).unwrap_err();
        assert!(error.contains("good morning"), "{error}");
        let reply = json!({"number": 3, "message": {"reply": "saved", "bytes": 1}});
        let error = read_hello(reply.to_string().as_bytes()).unwrap_err();
        assert!(error.contains("`saved` to request 3"), "{error}");
    }
}
