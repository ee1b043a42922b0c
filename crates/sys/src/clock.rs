//! The one clock: `CLOCK_MONOTONIC` in nanoseconds.
//!
//! All processes of one machine read the same monotonic clock, network namespaces included, so
//! times of two ends on one machine can be subtracted.

use std::time::Duration;

fn read(clock: libc::clockid_t) -> libc::timespec {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, writable timespec. The call cannot fail for the clocks used here.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time
}

/// Monotonic time, ns since boot. Answered by the vDSO: about 25 ns, no system call.
#[inline]
pub fn now() -> u64 {
    let time = read(libc::CLOCK_MONOTONIC);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Wall-clock time since 1970-01-01 UTC; for labels, never for intervals.
pub fn wall() -> Duration {
    let time = read(libc::CLOCK_REALTIME);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Sleeps until the monotonic clock reads `until` ns; returns at once when that has passed.
/// A signal does not end the sleep.
pub fn sleep_until(until: u64) {
    // The kernel would still set a timer, and that costs about as much as a wake-up.
    if now() >= until {
        return;
    }
    let time = timespec(until);
    loop {
        // SAFETY: `time` is a valid timespec; the remaining time is not asked for (null is
        // allowed).
        let code = unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &raw const time,
                std::ptr::null_mut(),
            )
        };
        if code != libc::EINTR {
            return;
        }
    }
}

/// A time in ns as the kernel takes it.
pub(crate) fn timespec(ns: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    }
}

/// Tells two machines, or two boots of one, apart: times may be compared only under the same id.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|t| t.trim().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_ends_at_or_after_the_asked_time() {
        let until = now() + 3_000_000;
        sleep_until(until);
        assert!(now() >= until);
        sleep_until(1);
    }
}
