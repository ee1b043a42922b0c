//! The plain pacing loop: it waits for one intended time after the other and sends nothing.
//!
//! How late it is shows what the machine alone does to a schedule: a CPU that is taken away, a
//! timer that goes off late. It runs as a hidden subcommand of this binary.

use std::time::Duration;

use anyhow::{Context, Result};
use hopbench_model::Pacing;
use hopbench_stats::Histogram;
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use serde::{Deserialize, Serialize};

const NS_PER_S: u64 = 1_000_000_000;
/// As ours: the kernel may delay the end of a sleep by no more than this.
const TIMER_SLACK_NS: u64 = 1;

/// What the loop noted inside its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Paced {
    /// Intended times.
    pub(crate) steps: u64,
    /// 99 % of the steps were late by this or less, ns.
    pub(crate) lateness_p99_ns: u64,
}

/// Waits for evenly spaced times, `per_s` a second, and notes by how much each is passed in
/// `window` after `warmup`. A time that has passed already is not waited for, as in ours.
///
/// # Errors
/// When the kernel refuses its clock, a sleep or the timer slack.
pub(crate) fn pace(
    per_s: u64,
    pacing: Pacing,
    warmup: Duration,
    window: Duration,
) -> Result<Paced> {
    prctl::set_timerslack(TIMER_SLACK_NS).context("timer slack")?;
    let [before, inside] = [warmup, window].map(|time| steps(per_s, time));
    let mut lateness = Histogram::new();
    let begun = now_ns()?;
    for step in 0..before + inside {
        let late_ns = wait(begun + step * NS_PER_S / per_s, pacing)?;
        if step >= before {
            lateness.record(late_ns);
        }
    }
    Ok(Paced { steps: lateness.count(), lateness_p99_ns: lateness.percentile(99.0) })
}

/// The intended times of a while.
fn steps(per_s: u64, time: Duration) -> u64 {
    per_s * time.as_millis() as u64 / 1000
}

/// Waits until the clock reads `until` ns, and returns by how much it reads more, ns.
fn wait(until: u64, pacing: Pacing) -> Result<u64> {
    loop {
        let now = now_ns()?;
        if let Some(late_ns) = now.checked_sub(until) {
            return Ok(late_ns);
        }
        match pacing {
            Pacing::Sleep => sleep_until(until)?,
            Pacing::Spin => std::hint::spin_loop(),
        }
    }
}

/// Sleeps to an absolute time; a signal may end it early.
fn sleep_until(ns: u64) -> Result<()> {
    let time = TimeSpec::from_duration(Duration::from_nanos(ns));
    match clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &time) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error).context("clock_nanosleep"),
    }
}

/// The clock that [`sleep_until`] goes by, ns.
fn now_ns() -> Result<u64> {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).context("clock_gettime")?;
    Ok(time.tv_sec() as u64 * NS_PER_S + time.tv_nsec() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_intended_time_of_the_window_is_waited_for_once() {
        let (warmup, window) = (Duration::from_millis(20), Duration::from_millis(50));
        for pacing in [Pacing::Sleep, Pacing::Spin] {
            // 3000 is a rate whose gaps are not whole ns.
            for (per_s, steps) in [(3000, 150), (20_000, 1000), (10, 0)] {
                let begun = now_ns().unwrap();
                let paced = pace(per_s, pacing, warmup, window).unwrap();
                let took_ns = now_ns().unwrap() - begun;
                assert_eq!(paced.steps, steps, "{per_s}/s, {pacing}");
                // The last of them is a gap before the end of the window.
                let gap_ns = NS_PER_S / per_s + 1;
                let least_ns = if steps == 0 { 0 } else { 70_000_000 - gap_ns };
                assert!(took_ns >= least_ns, "{per_s}/s, {pacing}: {took_ns} ns");
            }
        }
    }

    #[test]
    fn a_wait_ends_at_its_time_or_later_and_tells_how_much() {
        for pacing in [Pacing::Sleep, Pacing::Spin] {
            let until = now_ns().unwrap() + 3_000_000;
            let late_ns = wait(until, pacing).unwrap();
            assert!(now_ns().unwrap() >= until + late_ns, "{pacing}");
            // A time that has passed is not waited for, and its whole lateness counts.
            assert!(wait(until - 3_000_000, pacing).unwrap() >= 3_000_000, "{pacing}");
        }
    }
}
