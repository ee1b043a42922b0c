//! CPUs: which there are, where a thread runs, how exactly it wakes.

use std::io;

use crate::check;

/// The CPUs this process may run on, ascending.
///
/// # Errors
/// What the kernel said when asked for the affinity mask.
pub fn allowed() -> io::Result<Vec<usize>> {
    // SAFETY: an all-zero cpu_set_t is a valid empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is writable and its size is passed with it.
    check(unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) })?;
    // SAFETY: every index is below CPU_SETSIZE, the size of the set.
    Ok((0..libc::CPU_SETSIZE as usize)
        .filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) })
        .collect())
}

/// Keeps the calling thread on `cpus` and returns the set that the kernel granted.
///
/// # Errors
/// `EINVAL` when none of the CPUs exists or may be used.
pub fn pin_thread(cpus: &[usize]) -> io::Result<Vec<usize>> {
    // SAFETY: an all-zero cpu_set_t is a valid empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the index is below CPU_SETSIZE.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    // SAFETY: `set` is valid and its size is passed with it; 0 is the calling thread.
    check(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) })?;
    allowed()
}

/// Lets the kernel delay this thread's timers by at most `ns`; 50 000 is the default, 1 the least.
pub fn set_timer_slack(ns: u64) {
    // SAFETY: PR_SET_TIMERSLACK takes one integer argument and touches no memory of ours.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, ns as libc::c_ulong, 0, 0, 0) };
}

/// Tells the CPU that this is a busy-wait loop.
#[inline]
pub fn relax() {
    std::hint::spin_loop();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinning_is_read_back() {
        let cpu = allowed().unwrap()[0];
        std::thread::spawn(move || assert_eq!(pin_thread(&[cpu]).unwrap(), [cpu])).join().unwrap();
        assert!(std::thread::spawn(|| pin_thread(&[1023])).join().unwrap().is_err());
    }
}
