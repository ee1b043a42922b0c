//! A program that runs, and how it ended.

use std::process::{Child, ExitStatus};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::NamedTempFile;

use super::Usage;
use crate::process::clock::{self, Moment};
use crate::process::interrupt;

/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// Held around each `wait`, so that the difference of the children's usage is one child's. Only
/// tests have more than one thread that waits.
static REAPING: Mutex<()> = Mutex::new(());

/// A program that runs; it is killed and reaped when this is dropped.
#[derive(Debug)]
pub(crate) struct RunningProgram {
    shown: String,
    child: Child,
    reaped: Option<(ExitStatus, Usage)>,
    out: NamedTempFile,
    err: NamedTempFile,
}

/// The output and the cost of a program that has ended.
#[derive(Debug)]
pub(crate) struct Completed {
    /// Its command as shown.
    pub(crate) shown: String,
    /// Its standard output.
    pub(crate) stdout: String,
    /// Its CPU time from exec to exit.
    pub(crate) usage: Usage,
}

impl RunningProgram {
    pub(super) fn new(shown: String, child: Child, out: NamedTempFile, err: NamedTempFile) -> Self {
        Self { shown, child, reaped: None, out, err }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A file of the program below `/proc/PID`.
    ///
    /// # Errors
    /// When the program is gone.
    pub(crate) fn proc_file(&self, name: &str) -> Result<String> {
        let path = format!("/proc/{}/{name}", self.pid());
        std::fs::read_to_string(&path).with_context(|| format!("{path} of `{}`", self.shown))
    }

    /// Whether it has ended by itself.
    ///
    /// # Errors
    /// When the kernel refuses to say.
    pub(crate) fn ended(&mut self) -> Result<bool> {
        if self.reaped.is_none() {
            let _turn = REAPING.lock();
            let before = Usage::of_reaped_children()?;
            if let Some(status) = self.child.try_wait().context("wait for a program")? {
                self.reaped = Some((status, Usage::of_reaped_children()? - before));
            }
        }
        Ok(self.reaped.is_some())
    }

    /// Waits for the program to end by itself.
    ///
    /// # Errors
    /// When it fails, or takes longer than `limit`, or a signal asks this program to end.
    pub(crate) fn finish(mut self, limit: Duration) -> Result<Completed> {
        let begun = Moment::now();
        while !self.ended()? {
            if begun.elapsed() > limit {
                bail!(
                    "`{}` still ran after {} s{}",
                    self.shown,
                    limit.as_secs_f64(),
                    self.last_words()
                );
            }
            interrupt::check()?;
            clock::sleep(interrupt::SLICE);
        }
        let (status, usage) = self.reaped.context("a program that ended has a status")?;
        if !status.success() {
            bail!("`{}` failed, {status}{}", self.shown, self.last_words());
        }
        Ok(Completed { shown: self.shown.clone(), stdout: text(&self.out), usage })
    }

    /// Asks the program to end, insists after a while, and says what it had cost.
    ///
    /// # Errors
    /// When it had ended before.
    pub(crate) fn stop(mut self) -> Result<Usage> {
        if self.ended()? {
            bail!("`{}` ended too early{}", self.shown, self.last_words());
        }
        kill(self.target(), Signal::SIGTERM).with_context(|| format!("end of `{}`", self.shown))?;
        let begun = Moment::now();
        while !self.ended()? {
            if begun.elapsed() > GRACE {
                kill(self.target(), Signal::SIGKILL)
                    .with_context(|| format!("end of `{}`", self.shown))?;
            }
            clock::sleep(Duration::from_millis(5));
        }
        let (_, usage) = self.reaped.context("a program that ended has a status")?;
        Ok(usage)
    }

    /// The command and the end of what it printed, for an error message.
    pub(crate) fn last_words(&self) -> String {
        let printed = format!("{}\n{}", text(&self.out), text(&self.err));
        let lines: Vec<&str> = printed.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(6)..].join("\n  ");
        if last.is_empty() { String::new() } else { format!("; it printed\n  {last}") }
    }

    /// The command as shown.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    fn target(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        if self.reaped.is_none() {
            // Both fail only when the process is gone already.
            let _ = self.child.kill();
            let _turn = REAPING.lock();
            let _ = self.child.wait();
        }
    }
}

fn text(file: &NamedTempFile) -> String {
    std::fs::read(file.path())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default()
}
