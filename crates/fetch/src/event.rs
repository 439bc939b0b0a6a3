use std::time::Duration;

/// What goes on. Told from any thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A source has answered and its file is the expected one, as far as can be told.
    Started {
        /// Where it comes from.
        url: String,
        /// Bytes there already, from an earlier time.
        done: u64,
        /// Bytes in all.
        total: u64,
        /// Connections at a time.
        connections: usize,
    },
    /// Bytes have come.
    Progress {
        /// Bytes there.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// An attempt failed, and another follows.
    Retrying {
        /// Where it failed.
        url: String,
        /// Why.
        why: String,
        /// Number of the next attempt.
        attempt: u32,
        /// Attempts in all.
        of: u32,
        /// Wait before it.
        wait: Duration,
    },
    /// What was there is of no use: the download begins anew.
    Restarted {
        /// Where.
        url: String,
        /// Why.
        why: String,
    },
    /// A source was given up, and the next is tried.
    NextSource {
        /// Why.
        why: String,
    },
    /// The file is being hashed.
    Verifying {
        /// Bytes hashed.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// A packed file is being read.
    Unpacking {
        /// Bytes of the packed file that were read.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
}
