//! Refusals of the kernel, as faults of the environment.

use std::fmt::Display;
use std::io;

use hopbench_model::Fault;

/// The kernel's refusal with what it was about.
pub(crate) fn refused(what: impl Display) -> impl FnOnce(io::Error) -> Fault {
    move |error| Fault::environment(format!("the lab: {what}: {error}"))
}
