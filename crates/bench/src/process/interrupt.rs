//! Signals such as Ctrl-C. They are noted here, and whatever waits looks at the note: so guards
//! run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process::clock::{self, Moment};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Longest time until a signal is noticed; also how often a waiting bench wakes up, which must not
/// disturb what it measures.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// Turns SIGINT, SIGTERM and SIGHUP into an error of whatever waits next.
///
/// # Errors
/// When the handler cannot be installed.
pub(crate) fn install() -> Result<()> {
    ctrlc::set_handler(|| ASKED.store(true, Ordering::Relaxed)).context("signal handler")
}

/// Whether a signal asked the program to end.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// An error once a signal asked the program to end.
///
/// # Errors
/// After a signal.
pub(crate) fn check() -> Result<()> {
    if asked() {
        bail!("interrupted");
    }
    Ok(())
}

/// Sleeps, unless a signal cuts it short.
///
/// # Errors
/// After a signal.
pub(crate) fn sleep(time: Duration) -> Result<()> {
    let begun = Moment::now();
    while let Some(left) = time.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
        check()?;
        clock::sleep(left.min(SLICE));
    }
    check()
}
