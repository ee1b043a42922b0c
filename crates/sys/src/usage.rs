//! What a process or thread has spent.

/// CPU time and switches since the start of the process or thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// CPU time in user mode, ns (the kernel counts in microseconds).
    pub user_ns: u64,
    /// CPU time in the kernel, ns.
    pub system_ns: u64,
    /// Largest resident set so far, bytes; of the process, also when asked for a thread.
    pub max_rss_bytes: u64,
    /// Times it gave up the CPU to wait.
    pub voluntary_switches: u64,
    /// Times the CPU was taken from it.
    pub involuntary_switches: u64,
}

/// Of this process: all threads, ended ones included.
pub fn process() -> Usage {
    read(libc::RUSAGE_SELF)
}

/// Of the calling thread.
pub fn thread() -> Usage {
    read(libc::RUSAGE_THREAD)
}

fn read(who: libc::c_int) -> Usage {
    // SAFETY: an all-zero rusage is a valid value.
    let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `raw` is writable; `who` is one of the two valid constants, so the call cannot fail.
    unsafe { libc::getrusage(who, &raw mut raw) };
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    Usage {
        user_ns: ns(raw.ru_utime),
        system_ns: ns(raw.ru_stime),
        max_rss_bytes: raw.ru_maxrss as u64 * 1024,
        voluntary_switches: raw.ru_nvcsw as u64,
        involuntary_switches: raw.ru_nivcsw as u64,
    }
}
