//! A run of a program that may not hang.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use hopbench_model::Nanos;
use hopbench_model::units::Span;
use hopbench_sys::process::{end_of, kill_group};

const LOOK_NS: Nanos = 5_000_000;
/// Its output is cut after this many bytes.
const MOST_OUTPUT_BYTES: u64 = 2048;

/// Waits for the end of a program, at most so long; the beginning of its output and of its standard
/// error. One that takes longer is killed.
pub(crate) fn bounded(command: &mut Command, most_ns: Nanos) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let status = end_of(&mut child, most_ns, LOOK_NS)?;
    // What it started itself goes with it: it would keep the pipes open.
    kill_group(&child);
    let Some(status) = status else {
        child.wait()?;
        return Err(io::Error::other(format!("it did not end within {}", Span(most_ns))));
    };
    let begin = |pipe: Option<&mut dyn Read>| {
        let mut bytes = Vec::new();
        pipe.map_or(Ok(0), |pipe| pipe.take(MOST_OUTPUT_BYTES).read_to_end(&mut bytes))
            .map(|_| bytes)
    };
    let stdout = begin(child.stdout.as_mut().map(|pipe| pipe as &mut dyn Read))?;
    let stderr = begin(child.stderr.as_mut().map(|pipe| pipe as &mut dyn Read))?;
    Ok(Output { status, stdout, stderr })
}
