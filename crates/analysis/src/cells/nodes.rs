//! The CPUs of a cell's nodes over its rounds.

use std::collections::BTreeMap;

use hopbench_model::SHORTEST_OF_MACHINE_S;
use hopbench_model::number::{counted, percentage};

use super::cell::Cell;
use crate::figures::Node;
use crate::summary::{NodeSummary, Spread};

/// The CPUs of a cell's nodes over its rounds, node by node; empty if all are one machine.
pub(crate) fn summary(cell: &Cell) -> Vec<NodeSummary> {
    let mut names: Vec<&str> = Vec::new();
    for node in cell.counted().flat_map(|round| &round.nodes) {
        if !names.contains(&node.name.as_str()) {
            names.push(&node.name);
        }
    }
    let short = has_short_windows(cell);
    let one = |name: &str| {
        let spread = |of: fn(&Node) -> f64| {
            let nodes = cell
                .counted()
                .flat_map(|round| round.nodes.iter().map(|node| (round.window_s, node)));
            let windows =
                nodes.filter(|(_, node)| node.name == name).map(|(s, node)| (s, of(node)));
            if short { summed(windows) } else { Spread::of(windows.map(|(_, cores)| cores)) }
        };
        Some(NodeSummary {
            name: name.to_owned(),
            busy_cores: spread(|node| node.busy)?,
            softirq_cores: spread(|node| node.softirq)?,
            steal_cores: spread(|node| node.steal)?,
            idle_ratio: spread(Node::idle)?,
        })
    };
    if names.len() > 1 { names.into_iter().filter_map(one).collect() } else { Vec::new() }
}

/// Whether a window of the cell holds too few ticks for figures of its own.
pub(crate) fn has_short_windows(cell: &Cell) -> bool {
    cell.counted().any(|round| round.window_s < SHORTEST_OF_MACHINE_S)
}

/// Whether windows of this length together, s, hold enough ticks. Ten times 50 ms do, and are less
/// than half a second in binary numbers.
fn is_enough(all_s: f64) -> bool {
    all_s > SHORTEST_OF_MACHINE_S - 1e-6
}

/// How many cells have no figures of their machines because all their windows together are too
/// short.
pub(crate) fn too_short<'a>(cells: impl Iterator<Item = &'a Cell>) -> Option<String> {
    let known = |cell: &&Cell| cell.counted().any(|round| !round.nodes.is_empty());
    let all_s = |cell: &Cell| cell.counted().map(|round| round.window_s).sum::<f64>();
    match cells.filter(known).filter(|cell| !is_enough(all_s(cell))).count() {
        0 => None,
        short => Some(format!(
            "{}: all windows together are too short (below {SHORTEST_OF_MACHINE_S} s) for the CPU \
             of the machine, which the kernel counts in ticks",
            counted(short as u64, "cell", "cells")
        )),
    }
}

/// Cores over several windows, of each of which the length in seconds is given, and the cores in
/// it: all that was counted in them by all their time. It has no interval, since one of them by
/// itself is a few ticks. `None` where all of them together are too short.
pub(crate) fn summed(windows: impl Iterator<Item = (f64, f64)>) -> Option<Spread> {
    let known = windows.filter(|(s, cores)| *s > 0.0 && cores.is_finite());
    let (count, all_s, spent_s) = known.fold((0, 0.0, 0.0), |(count, all, spent), (s, cores)| {
        (count + 1, all + s, spent + s * cores)
    });
    is_enough(all_s).then(|| Spread::with(spent_s / all_s, None, count))
}

/// A node of whose CPU time more than this share went to others in a round is told.
const STOLEN: f64 = 0.01;

/// More nodes than this are counted, not named.
const MOST_NAMED: usize = 5;

/// CPU time of a node that could have been used and that the hypervisor gave to others, in cores.
#[derive(Debug, Default, Clone, Copy)]
struct Share {
    stolen: f64,
    cpus: f64,
}

impl Share {
    fn add(&mut self, node: &Node) {
        self.stolen += node.steal;
        self.cpus += node.cpus as f64;
    }

    fn of_all(self) -> f64 {
        if self.cpus > 0.0 { self.stolen / self.cpus } else { 0.0 }
    }
}

/// The nodes that lost CPU time to other machines, and how much; `None` if that is next to nothing.
pub(crate) fn stolen<'a>(cells: impl Iterator<Item = &'a Cell>) -> Option<String> {
    let mut by_round: BTreeMap<&str, BTreeMap<u32, Share>> = BTreeMap::new();
    for round in cells.flat_map(|cell| &cell.rounds) {
        for node in &round.nodes {
            by_round.entry(&node.name).or_default().entry(round.round).or_default().add(node);
        }
    }
    let one = |(name, rounds): (&&str, &BTreeMap<u32, Share>)| {
        let (worst, most) = rounds.iter().max_by(|a, b| a.1.of_all().total_cmp(&b.1.of_all()))?;
        let add = |sum: Share, one: &Share| Share {
            stolen: sum.stolen + one.stolen,
            cpus: sum.cpus + one.cpus,
        };
        let mean = rounds.values().fold(Share::default(), add).of_all();
        let text = format!(
            "{name} {} % ({} % in round {worst})",
            percentage(mean),
            percentage(most.of_all())
        );
        (most.of_all() > STOLEN).then_some(text)
    };
    let named: Vec<String> = by_round.iter().filter_map(one).collect();
    if named.is_empty() {
        return None;
    }
    let more = named.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more nodes") } else { String::new() };
    Some(format!(
        "other machines took CPU time of the nodes: {}{more}. What was measured then is slower \
         than this place is",
        named[..named.len().min(MOST_NAMED)].join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_windows_are_added_up() {
        // One tick of 10 ms in 50 ms is a fifth of a core, and there were three of them in ten
        // windows.
        let windows = |count: usize| (0..count).map(|n| (0.05, if n < 3 { 0.2 } else { 0.0 }));
        let spread = summed(windows(10)).unwrap();
        assert!((spread.median - 0.06).abs() < 1e-9, "{spread:?}");
        assert_eq!((spread.low, spread.high, spread.rounds), (None, None, 10));
        assert_eq!(summed(windows(9)), None, "0.45 s are too short, too");
        // A longer window counts for more; one without a figure for nothing.
        let spread = summed([(0.9, 1.0), (0.1, 0.0), (5.0, f64::NAN)].into_iter()).unwrap();
        assert!((spread.median - 0.9).abs() < 1e-9 && spread.rounds == 2, "{spread:?}");
    }
}
