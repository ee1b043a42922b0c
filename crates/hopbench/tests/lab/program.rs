//! The binary under test, run to its end.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use super::wait::{S, until};

/// The binary: the one that `HOPBENCH_BINARY` names, or the one that was built with the tests.
pub(crate) fn binary() -> PathBuf {
    std::env::var_os("HOPBENCH_BINARY")
        .map_or_else(|| env!("CARGO_BIN_EXE_hopbench").into(), PathBuf::from)
}

/// A command for the binary with these arguments; no token comes from the environment.
pub(crate) fn program<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).env_remove("HOPBENCH_TOKEN");
    command
}

/// The arguments of a command line in which no argument has a blank.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// How a program ended, and what it said.
#[derive(Debug)]
pub(crate) struct Finished {
    /// The exit code; `None`: a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// Everything about it, for the message of a test that failed.
    pub(crate) fn story(&self) -> String {
        format!("exit code {:?}\nstdout: {}\nstderr: {}", self.code, self.stdout, self.stderr)
    }
}

/// A program that is running; killed when dropped.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
}

/// A program that does not end by itself is ended after this, ns.
pub(crate) const PATIENCE: u64 = 60 * S;

impl Running {
    /// Starts it with nothing to read and its output kept.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"));
        let stdout = child.stdout.take().map(collect);
        let stderr = child.stderr.take().map(collect);
        Self { child, stdout, stderr }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has not ended yet.
    pub(crate) fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends it a signal by name: `INT`, `STOP`, `KILL`.
    pub(crate) fn signal(&self, name: &str) {
        super::process::signal(self.pid(), name);
    }

    /// Waits for its end.
    pub(crate) fn finish(self) -> Finished {
        self.finish_within(PATIENCE)
    }

    /// Waits for its end for at most `patience` ns.
    pub(crate) fn finish_within(mut self, patience: u64) -> Finished {
        let status = until(patience, || self.child.try_wait().expect("the state of a child"));
        if status.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        let text = |thread: Option<JoinHandle<String>>| {
            thread.and_then(|t| t.join().ok()).unwrap_or_default()
        };
        let finished = Finished {
            code: status.and_then(|s| s.code()),
            stdout: text(self.stdout.take()),
            stderr: text(self.stderr.take()),
        };
        assert!(status.is_some(), "it did not end within {} s: {}", patience / S, finished.story());
        finished
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.runs() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Finished {
    Running::start(command).finish()
}

fn collect(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
