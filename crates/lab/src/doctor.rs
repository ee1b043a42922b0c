//! What this machine can do, found out by trying it.
//!
//! To add a check: one file in `doctor/` and one line in [`CHECKS`].

mod cpus;
mod icmp;
mod links;
mod netem;
mod nft;
mod nginx;
mod open_files;
mod runsc;
mod shaping;
mod uring;

use hopbench_model::Fault;

/// One thing that a machine may or may not be able to do.
#[derive(Debug)]
pub struct Check {
    /// Its name in the table.
    pub name: &'static str,
    /// What it is needed for.
    pub needed_for: &'static str,
    /// Whether it can only be tried inside the lab's namespaces.
    pub inside: bool,
    /// Tries it.
    pub run: fn() -> Finding,
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether it works.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do about it; empty where nothing needs to be done.
    pub remedy: String,
}

/// Whether something works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It does.
    Works,
    /// It does, with a limit that a measurement may meet.
    Limited,
    /// It does not.
    Missing,
}

impl State {
    /// The word in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Limited => "limited",
            Self::Missing => "missing",
        }
    }
}

impl Finding {
    fn works(found: impl Into<String>) -> Self {
        Self { state: State::Works, found: found.into(), remedy: String::new() }
    }

    fn limited(found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state: State::Limited, found: found.into(), remedy: remedy.into() }
    }

    fn missing(found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state: State::Missing, found: found.into(), remedy: remedy.into() }
    }
}

/// Every check, in the order of the table.
pub const CHECKS: &[Check] = &[
    links::CHECK,
    shaping::CHECK,
    nft::CHECK,
    netem::CHECK,
    nginx::CHECK,
    runsc::CHECK,
    icmp::CHECK,
    uring::CHECK,
    cpus::CHECK,
    open_files::CHECK,
];

/// Tries everything. `namespaces` is what came of entering them: without them, what needs them is not tried.
pub fn examine(namespaces: Result<(), &Fault>) -> Vec<(&'static str, &'static str, Finding)> {
    let first = match namespaces {
        Ok(()) => Finding::works("user, network, mount and process namespaces"),
        Err(fault) => Finding::missing(fault.text.clone(), "the commands by hand (`serve`, `rr` ...) work without"),
    };
    let rest = CHECKS.iter().map(|check| {
        let finding = if check.inside && namespaces.is_err() {
            Finding::missing("not tried", "needs namespaces")
        } else {
            (check.run)()
        };
        (check.name, check.needed_for, finding)
    });
    std::iter::once(("namespaces", "the lab", first)).chain(rest).collect()
}
