//! The registry of network kinds: one file each, made of the same building blocks.

use super::addresses::Subnets;
use super::kind::NetworkKind;

mod blocks;
mod bridge;
mod eni;
mod host;
mod macvlan;
mod overlay;
mod ptp;

/// Every network kind. To add one: a file here and a line there.
pub const KINDS: &[&dyn NetworkKind] =
    &[&host::Host, &bridge::Bridge, &overlay::Overlay, &ptp::Ptp, &macvlan::Macvlan, &eni::Eni];

/// The kind of this name.
pub fn kind(name: &str) -> Option<&'static dyn NetworkKind> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}

/// The subnets of the kind of this name.
pub(crate) fn subnets(kind: &str) -> Subnets {
    let position = KINDS.iter().position(|known| known.name() == kind).unwrap_or_default();
    Subnets::of_kind(position)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::topology::addresses::MOST_KINDS;

    #[test]
    fn every_kind_has_a_name_and_a_subnet_of_its_own() {
        let names: BTreeSet<_> = KINDS.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), KINDS.len());
        assert!(KINDS.len() <= MOST_KINDS);
        let subnets: BTreeSet<_> =
            KINDS.iter().map(|kind| subnets(kind.name()).behind(3).base).collect();
        assert_eq!(subnets.len(), KINDS.len());
    }
}
