//! Opening an io_uring, whatever the kernel's age.

use std::io;

use io_uring::IoUring;

/// The least and the most submissions that fit into one system call; 64 bytes each.
const FEWEST_ENTRIES: usize = 256;
const MOST_ENTRIES: usize = 4096;

/// The best ring that this kernel gives.
pub(super) fn open(slots: usize) -> io::Result<IoUring> {
    let entries = slots.clamp(FEWEST_ENTRIES, MOST_ENTRIES).next_power_of_two() as u32;
    let mut result = build(entries, Work::Deferred);
    for work in [Work::Cooperative, Work::Interrupting] {
        // A flag that the kernel does not know yet.
        if result.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EINVAL)) {
            result = build(entries, work);
        }
    }
    let ring = result.map_err(|error| explain(&error))?;
    let features = ring.params();
    if !(features.is_feature_ext_arg()
        && features.is_feature_nodrop()
        && features.is_feature_fast_poll())
    {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "its io_uring is older than Linux 5.11",
        ));
    }
    Ok(ring)
}

/// When the kernel does what is left to do for an operation whose socket became ready.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    /// When the thread waits for completions, all at once: Linux 6.1.
    Deferred,
    /// When the thread makes any system call: Linux 5.19.
    Cooperative,
    /// At once, with an interrupt.
    Interrupting,
}

pub(super) fn build(entries: u32, work: Work) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder.setup_clamp().setup_cqsize(entries * 4);
    match work {
        Work::Deferred => builder.setup_single_issuer().setup_defer_taskrun(),
        Work::Cooperative => builder.setup_coop_taskrun(),
        Work::Interrupting => &mut builder,
    };
    builder.build(entries)
}

fn explain(error: &io::Error) -> io::Error {
    let why = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            let setting = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled")
                .map_or_else(|_| String::new(), |value| format!(" (now {})", value.trim()));
            format!(
                "io_uring is forbidden: by the seccomp profile of the container, or by the sysctl \
                 kernel.io_uring_disabled{setting}; allow it there or take another engine"
            )
        }
        Some(libc::ENOSYS) => {
            "this kernel has no io_uring, or a seccomp profile hides it; take another engine"
                .to_owned()
        }
        Some(libc::ENOMEM) => format!("io_uring gets no memory: see `ulimit -l` ({error})"),
        _ => format!("io_uring cannot be opened: {error}"),
    };
    io::Error::new(error.kind(), why)
}
