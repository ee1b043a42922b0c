//! The checks of what this machine can do, each of which tries it.
//!
//! To add a check: one file in `doctor/kernel/` or `doctor/programs/`, and one line in [`CHECKS`].

mod check;

/// Checks of the kernel and of what it allows.
mod kernel {
    pub(super) mod cpus;
    pub(super) mod icmp;
    pub(super) mod ipv6;
    pub(super) mod links;
    pub(super) mod netem;
    pub(super) mod open_files;
    mod probe;
    pub(super) mod profiles;
    pub(super) mod shaping;
    pub(super) mod steering;
    pub(super) mod uring;
}

/// Checks of programs that a lab uses.
mod programs {
    pub(super) mod envoy;
    pub(super) mod nft;
    pub(super) mod nginx;
    pub(super) mod runsc;
}

use hopbench_model::Fault;

pub use check::Check;
pub use hopbench_testbed::{Finding, State};
pub(crate) use kernel::ipv6::translates as translates_ipv6;

/// Every check, in the order of the table.
pub const CHECKS: &[Check] = &[
    kernel::links::CHECK,
    kernel::shaping::CHECK,
    programs::nft::CHECK,
    kernel::netem::CHECK,
    programs::nginx::CHECK,
    programs::runsc::CHECK,
    programs::envoy::CHECK,
    kernel::icmp::CHECK,
    kernel::ipv6::CHECK,
    kernel::uring::CHECK,
    kernel::cpus::CHECK,
    kernel::steering::CHECK,
    kernel::open_files::CHECK,
    kernel::profiles::CHECK,
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

/// The table of a machine without namespaces.
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
            assert_eq!(
                finding.state == State::Works,
                finding.remedy.is_empty(),
                "{name}: {finding:?}"
            );
        }
    }
}
