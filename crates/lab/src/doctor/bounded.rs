//! A program that may not hang.

use std::io::{self, Read};
use std::process::{Command, Output, Stdio};

use hopbench_model::{Nanos, SECOND};
use hopbench_sys::clock;

const LOOK_NS: Nanos = 5_000_000;
/// Its last words are cut after this many bytes.
const MOST_WORDS: u64 = 2048;

/// Waits for the end of a program, at most so long; its standard error, and no output.
pub(super) fn bounded(command: &mut Command, most_ns: Nanos) -> io::Result<Output> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let end = clock::now() + most_ns;
    while child.try_wait()?.is_none() {
        if clock::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::Error::other(format!("it did not end within {} s", most_ns / SECOND)));
        }
        clock::sleep_until(clock::now() + LOOK_NS);
    }
    let mut stderr = Vec::new();
    if let Some(words) = child.stderr.take() {
        words.take(MOST_WORDS).read_to_end(&mut stderr)?;
    }
    Ok(Output { status: child.wait()?, stdout: Vec::new(), stderr })
}
