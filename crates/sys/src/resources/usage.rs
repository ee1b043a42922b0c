//! The CPU time and memory of a process or thread.

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

impl Usage {
    /// CPU time in user mode and in the kernel together, ns.
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// CPU time of another process in this PID namespace so far: all threads, ended ones included, ns.
/// `/proc` has it in clock ticks only.
///
/// # Errors
/// A process that is not there.
pub fn of_process(pid: u32) -> std::io::Result<u64> {
    // 0 would be this process itself.
    let wrong = || std::io::Error::from_raw_os_error(libc::ESRCH);
    let pid = libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 0).ok_or_else(wrong)?;
    let mut clock: libc::clockid_t = 0;
    // SAFETY: `clock` is writable.
    let error = unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) };
    if error != 0 {
        return Err(std::io::Error::from_raw_os_error(error));
    }
    read_clock(clock)
}

/// CPU time on a clock of a process or thread, ns.
fn read_clock(clock: libc::clockid_t) -> std::io::Result<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Of this process: all threads, ended ones included, up to this moment.
pub fn process() -> Usage {
    bring_up_to_date();
    read(libc::RUSAGE_SELF)
}

/// Makes the kernel count the CPU time of this process's threads up to now. The time of a thread
/// that runs on another CPU is counted at ticks, which are 4 ms apart with 250 Hz. Reading the
/// thread's own clock makes the kernel count it at once.
fn bring_up_to_date() {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return };
    for thread in threads.flatten() {
        let number = thread.file_name().to_str().and_then(|name| name.parse().ok());
        // One that has ended meanwhile is of no interest.
        let _ = number.map(of_thread);
    }
}

/// CPU time of a thread of this process up to this moment, ns.
fn of_thread(number: libc::pid_t) -> std::io::Result<u64> {
    // How the kernel names the scheduler's clock (2) of one thread (4).
    read_clock((!number << 3) | 4 | 2)
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

    use super::*;
    use crate::clock;

    #[test]
    fn what_a_thread_on_another_cpu_has_spent_is_counted_up_to_now() {
        const ROUNDS: usize = 200;
        let (number, over) = (AtomicI32::new(0), AtomicBool::new(false));
        let near = std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: it takes nothing and cannot fail.
                number.store(unsafe { libc::gettid() }, Ordering::SeqCst);
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            while number.load(Ordering::SeqCst) == 0 {
                std::hint::spin_loop();
            }
            let spent = || of_thread(number.load(Ordering::SeqCst)).unwrap();
            let near = (0..ROUNDS).filter(|_| {
                let before = (process().cpu_ns(), spent());
                clock::sleep_until(clock::now() + 1_100_000);
                let after = (process().cpu_ns(), spent());
                // Other threads may have spent more.
                after.0 - before.0 + 100_000 >= after.1 - before.1
            });
            let near = near.count();
            over.store(true, Ordering::Relaxed);
            near
        });
        // Between the two readings this thread may have been kept from running.
        assert!(near > ROUNDS * 3 / 4, "{near} of {ROUNDS}");
    }

    #[test]
    fn another_process_is_seen_as_it_sees_itself() {
        let before = process().cpu_ns();
        let seen = of_process(std::process::id()).unwrap();
        let mut n = 1u64;
        (0..3_000_000u64).for_each(|i| n = std::hint::black_box(n.wrapping_mul(31) ^ i));
        let (grown, after) = (of_process(std::process::id()).unwrap() - seen, process().cpu_ns());
        assert!(
            grown > 0 && seen + grown <= after + 1_000_000 && seen + 1_000_000 >= before,
            "{seen} {grown} {after}"
        );
        for nobody in [0, u32::MAX, 1 << 23] {
            assert!(of_process(nobody).is_err(), "{nobody}");
        }
    }
}
