//! What this machine can do, found out by trying it.
//!
//! To add a check: one file in `doctor/` and one line in [`CHECKS`].

mod cpus;
mod envoy;
mod icmp;
mod links;
mod netem;
mod nft;
mod nginx;
mod open_files;
mod probe;
mod runsc;
mod shaping;
mod steering;
mod uring;

use hopbench_model::Fault;
pub use hopbench_testbed::{Finding, State};

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

/// Every check, in the order of the table.
pub const CHECKS: &[Check] = &[
    links::CHECK,
    shaping::CHECK,
    nft::CHECK,
    netem::CHECK,
    nginx::CHECK,
    runsc::CHECK,
    envoy::CHECK,
    icmp::CHECK,
    uring::CHECK,
    cpus::CHECK,
    steering::CHECK,
    open_files::CHECK,
];

/// A line of the table: the check's name, what it is needed for, what came of it.
pub type Line = (&'static str, &'static str, Finding);

/// Tries what the caller itself can do.
pub fn outside() -> Vec<Line> {
    lines(false).collect()
}

/// Tries what only the lab's namespaces allow; the caller is inside them.
pub fn inside() -> Vec<Line> {
    let entered = Finding::works("user, network, mount and process namespaces");
    std::iter::once((NAMESPACES.0, NAMESPACES.1, entered)).chain(lines(true)).collect()
}

/// What is to be said where there are no namespaces.
pub fn forbidden(why: &Fault) -> Vec<Line> {
    let remedy = "the commands by hand (`serve`, `rr` ...) work without";
    vec![(NAMESPACES.0, NAMESPACES.1, Finding::missing(why.text.clone(), remedy))]
}

const NAMESPACES: (&str, &str) = ("namespaces", "the lab");

fn lines(inside: bool) -> impl Iterator<Item = Line> {
    CHECKS.iter().filter(move |c| c.inside == inside).map(|c| (c.name, c.needed_for, (c.run)()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_comes_with_advice() {
        let lines = outside();
        assert!(lines.len() > 3);
        for (name, needed_for, finding) in lines {
            assert!(!finding.found.is_empty() && !needed_for.is_empty(), "{name}");
            assert_eq!(finding.state == State::Works, finding.remedy.is_empty(), "{name}: {finding:?}");
        }
    }
}
