use crate::form::Form;
use crate::native::Native;
use annbench_core::{AdapterError, Vectors};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Adds all rows of `base`, by `threads` threads of ours: the library has none.
///
/// With one thread in the order of the rows. With more, each takes the next row that is left. Then
/// the library loses some: a row that finds one still being added for its only neighbour ends up
/// without a link to it (USearch issue 735, open in 2.26.6). Few, unless threads outnumber CPUs, so
/// that one is stopped in the middle; recall shows how many. Adding a first part by one thread was
/// tried and does not help.
pub(crate) fn add_all(
    native: &Native,
    base: Vectors<'_>,
    form: Form,
    threads: usize,
) -> Result<(), AdapterError> {
    if base.n() == 0 {
        return Ok(());
    }
    let rows = Rows {
        native,
        base,
        form,
        next: AtomicUsize::new(1),
        stop: AtomicBool::new(false),
    };
    // The first row alone: the others start from it.
    rows.add(0, &mut Vec::new())?;
    if threads == 1 {
        return rows.add_the_rest();
    }
    thread::scope(|scope| {
        let mut workers = Vec::with_capacity(threads);
        for number in 0..threads {
            let spawned = thread::Builder::new()
                .name(format!("build-{number}"))
                .spawn_scoped(scope, || rows.add_the_rest());
            match spawned {
                Ok(worker) => workers.push(worker),
                Err(e) => {
                    rows.stop.store(true, Ordering::Relaxed);
                    return Err(AdapterError::Failed(format!("build thread {number}: {e}")));
                }
            }
        }
        // All are waited for; the first error is told.
        let ends: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        ends.into_iter().try_for_each(|end| match end {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

/// What is added, and how far the threads have come.
struct Rows<'a> {
    native: &'a Native,
    base: Vectors<'a>,
    form: Form,
    next: AtomicUsize,
    stop: AtomicBool,
}

impl Rows<'_> {
    fn add_the_rest(&self) -> Result<(), AdapterError> {
        let mut scratch = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            let id = self.next.fetch_add(1, Ordering::Relaxed);
            if id >= self.base.n() {
                break;
            }
            if let Err(e) = self.add(id, &mut scratch) {
                self.stop.store(true, Ordering::Relaxed);
                return Err(e);
            }
        }
        Ok(())
    }

    fn add(&self, id: usize, scratch: &mut Vec<f32>) -> Result<(), AdapterError> {
        let vector = self
            .form
            .hand(self.base.row(id), self.base.dim(), scratch)?;
        self.native.add(id, vector)
    }
}
