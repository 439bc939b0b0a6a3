//! A limit on file sizes that stands in for a full disk. It belongs to the whole process: a test that
//! sets it is alone in its binary.

/// No file grows beyond `bytes` from now on; `None` lifts the limit.
pub fn limit_file_size(bytes: Option<u64>) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for one rlimit, and a valid one afterwards; ignoring SIGXFSZ
    // makes writes fail instead of ending the process.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit), 0);
        limit.rlim_cur = bytes.map_or(limit.rlim_max, |bytes| bytes as libc::rlim_t);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit), 0);
    }
}
