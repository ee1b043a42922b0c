//! A run of a program that may not hang.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use hopbench_model::Nanos;
use hopbench_model::units::Span;
use hopbench_sys::clock;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

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

/// Waits for the end of a program, at most so long, with a look every `look_ns`; `None`: it goes
/// on.
pub(crate) fn end_of(
    child: &mut Child,
    most_ns: Nanos,
    look_ns: Nanos,
) -> io::Result<Option<ExitStatus>> {
    let end = clock::now() + most_ns;
    let mut status = child.try_wait()?;
    while status.is_none() && clock::now() < end {
        clock::sleep_until(clock::now() + look_ns);
        status = child.try_wait()?;
    }
    Ok(status)
}

/// Kills a program that leads a group of processes, and all of that group.
pub(crate) fn kill_group(child: &Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}
