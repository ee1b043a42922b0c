//! The network kinds of a lab: one file each, made of the same building blocks.

use crate::addresses::{self, Subnet};
use crate::kind::Kind;

mod blocks;
mod bridge;
mod eni;
mod host;
mod macvlan;
mod overlay;
mod ptp;

/// Every network kind. To add one: a file here and a line there.
pub const KINDS: &[&dyn Kind] =
    &[&host::Host, &bridge::Bridge, &overlay::Overlay, &ptp::Ptp, &macvlan::Macvlan, &eni::Eni];

/// The kind of this name.
pub fn kind(name: &str) -> Option<&'static dyn Kind> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}

/// The addresses of a kind's pods behind a node.
pub(crate) fn subnet(node: usize, kind: &str) -> Subnet {
    let position = KINDS.iter().position(|known| known.name() == kind).unwrap_or_default();
    addresses::pods(node, position)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_a_name_and_a_subnet_of_its_own() {
        let names: BTreeSet<_> = KINDS.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), KINDS.len());
        assert!(KINDS.len() <= addresses::MOST_KINDS);
        let subnets: BTreeSet<_> = KINDS.iter().map(|kind| subnet(3, kind.name()).base).collect();
        assert_eq!(subnets.len(), KINDS.len());
    }
}
