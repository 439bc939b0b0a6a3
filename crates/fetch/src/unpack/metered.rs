use crate::Event;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The packed bytes, as they are read: tells how far it is, and ends when it should.
pub(super) struct Packed<'a> {
    file: File,
    done: u64,
    total: u64,
    interrupted: &'a AtomicBool,
    tell: &'a (dyn Fn(Event) + Sync),
}

/// The marks by which the errors of the readers below are known, through those of tar and gzip.
pub(super) const INTERRUPTED: &str = "annbench: interrupted";
pub(super) const TOO_MUCH: &str = "annbench: too much";

impl<'a> Packed<'a> {
    pub(super) fn new(
        file: File,
        interrupted: &'a AtomicBool,
        tell: &'a (dyn Fn(Event) + Sync),
    ) -> io::Result<Self> {
        let total = file.metadata()?.len();
        Ok(Self {
            file,
            done: 0,
            total,
            interrupted,
            tell,
        })
    }
}

impl Read for Packed<'_> {
    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(io::Error::other(INTERRUPTED));
        }
        let n = self.file.read(chunk)?;
        self.done += n as u64;
        (self.tell)(Event::Unpacking {
            done: self.done,
            total: self.total,
        });
        Ok(n)
    }
}

/// How many unpacked bytes may still be read: in all, and for what is read now.
#[derive(Clone)]
pub(super) struct Allowance {
    all: Rc<Cell<u64>>,
    now: Rc<Cell<u64>>,
}

impl Allowance {
    pub(super) fn new(all: u64) -> Self {
        Self {
            all: Rc::new(Cell::new(all)),
            now: Rc::new(Cell::new(u64::MAX)),
        }
    }

    /// What is read from now on has at most `bytes`.
    pub(super) fn limit(&self, bytes: u64) {
        self.now.set(bytes);
    }

    fn take(&self, bytes: u64) -> io::Result<()> {
        for left in [&self.all, &self.now] {
            match left.get().checked_sub(bytes) {
                Some(rest) => left.set(rest),
                None => return Err(io::Error::other(TOO_MUCH)),
            }
        }
        Ok(())
    }
}

/// Unpacked bytes within an allowance.
pub(super) struct Metered<R> {
    pub(super) inner: R,
    pub(super) allowance: Allowance,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(chunk)?;
        self.allowance.take(n as u64)?;
        Ok(n)
    }
}
