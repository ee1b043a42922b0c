//! The process that holds a lab.

use std::convert::Infallible;
use std::io::{BufRead, Write};
use std::os::fd::AsRawFd;

use hopbench_model::{Fault, Plan, TestbedSpec};

use super::standing::StandingPlace;
use crate::lab::Lab;

/// Leaves the terminal: what happens to it does not concern a lab. To be called before the sandbox
/// is entered.
///
/// # Errors
/// The process leads a group already.
pub fn detach() -> Result<(), Fault> {
    let left = nix::unistd::setsid();
    left.map(drop)
        .map_err(|error| Fault::environment(format!("cannot leave the terminal: {error}")))
}

/// Builds the lab of a plan, without agents, and holds it until the process is ended. It writes the
/// places to `out`, and reads from `answer` that they are kept. It is called inside the sandbox.
///
/// # Errors
/// A lab that cannot be built, or a reader that went away before it kept the places.
pub fn hold(
    plan: &Plan,
    mut out: impl Write,
    mut answer: impl BufRead,
) -> Result<Infallible, Fault> {
    let TestbedSpec::Lab(spec) = &plan.testbed else {
        return Err(Fault::input(format!(
            "testbed: found `{}`, expected `lab`",
            plan.testbed.name()
        )));
    };
    let mut lab = Lab::new(spec, None);
    lab.build(plan)?;
    let mut spots = Vec::new();
    for (name, address) in lab.places() {
        let fd = lab.namespace(&name)?.fd().as_raw_fd();
        spots.push(StandingPlace { name, address, fd });
    }
    let failed = |error: std::io::Error| {
        Fault::environment(format!("cannot say that the lab stands: {error}"))
    };
    let line = serde_json::to_string(&spots).map_err(|error| failed(error.into()))?;
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(failed)?;
    // Not `out`: whoever waits for its end would wait for the lab's.
    drop(out);
    let mut line = String::new();
    if answer.read_line(&mut line).map_err(failed)? == 0 {
        return Err(failed(std::io::ErrorKind::UnexpectedEof.into()));
    }
    loop {
        std::thread::park();
    }
}
