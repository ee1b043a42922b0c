//! The cores of each component of a cell over its rounds, and of nodes without an end.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::cell::{Cell, Round};
use super::nodes::{has_short_windows, summed};
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
        let rounds = cell.counted();
        let cores = rounds
            .filter_map(|round| Some((round.window_s, round.metered_nodes.get(at).copied()?)));
        let idle = cores.map(|(s, cores)| (s, 1.0 - cores / cpus));
        // An onlooker counts in ticks, too.
        let idle_ratio = if has_short_windows(cell) {
            summed(idle)
        } else {
            Spread::of(idle.map(|(_, idle)| idle.max(0.0)))
        };
        let idle_ratio = idle_ratio.filter(|_| cpus > 0.0)?;
        Some(MeteredNodeSummary { name: name.clone(), idle_ratio })
    };
    cell.metered_nodes.iter().enumerate().filter_map(one).collect()
}

fn values(cell: &Cell, of: fn(&Round) -> &[f64], at: usize) -> impl Iterator<Item = f64> {
    cell.counted().filter_map(move |round| of(round).get(at).copied())
}
