//! The cores of each component of a cell over its rounds, and of nodes without an end.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::cell::{Cell, Round};
use crate::summary::{ComponentSummary, MeteredNodeSummary, Spread};

/// The cores of each component over the rounds; a component without a figure is left out.
pub(crate) fn summary(cell: &Cell) -> Vec<ComponentSummary> {
    let one = |(at, name): (usize, &Cow<'static, str>)| {
        let cores = Spread::of(values(cell, |round| &round.components, at))?;
        Some(ComponentSummary { name: name.clone(), cores })
    };
    cell.components.iter().enumerate().filter_map(one).collect()
}

/// The idle share of each node that no end saw, where the facts of the testbed say how many CPUs
/// it has.
pub(crate) fn metered_nodes(
    cell: &Cell,
    facts: &BTreeMap<String, String>,
) -> Vec<MeteredNodeSummary> {
    let one = |(at, name): (usize, &Cow<'static, str>)| {
        let cpus: f64 = facts.get(&format!("node {name} cpus"))?.parse().ok()?;
        let cores = values(cell, |round| &round.metered_nodes, at);
        let idle = cores.map(|cores| (1.0 - cores / cpus).max(0.0));
        let idle_ratio = Spread::of(idle).filter(|_| cpus > 0.0)?;
        Some(MeteredNodeSummary { name: name.clone(), idle_ratio })
    };
    cell.metered_nodes.iter().enumerate().filter_map(one).collect()
}

fn values(cell: &Cell, of: fn(&Round) -> &[f64], at: usize) -> impl Iterator<Item = f64> {
    cell.counted().filter_map(move |round| of(round).get(at).copied())
}
