//! CPU time of one process, read from outside.

use std::ops::Sub;

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};

/// CPU time that a process took, s.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Usage {
    /// In the program.
    pub(crate) user_s: f64,
    /// In the kernel on its behalf.
    pub(crate) system_s: f64,
}

impl Usage {
    /// User and system time together, s.
    pub(crate) fn total_s(self) -> f64 {
        self.user_s + self.system_s
    }

    /// The CPU time of all children that were reaped so far. The difference around one `wait` is
    /// that child's time from exec to exit. It counts every thread of the child, to the
    /// microsecond.
    ///
    /// # Errors
    /// When the kernel refuses (it has no reason to).
    pub(super) fn of_reaped_children() -> Result<Self> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("resource usage of children")?;
        let seconds =
            |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
        Ok(Self { user_s: seconds(usage.user_time()), system_s: seconds(usage.system_time()) })
    }
}

impl Sub for Usage {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self { user_s: self.user_s - earlier.user_s, system_s: self.system_s - earlier.system_s }
    }
}
