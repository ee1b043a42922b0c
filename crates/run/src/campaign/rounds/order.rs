//! The order of the trials.

use std::collections::{BTreeMap, HashMap};

use hopbench_model::{Cell, Plan, point_label};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// The cells of a round (from 1), each once, in an order that follows from the plan's seed and the
/// round alone. It is the same for every run of the same plan with the same build.
///
/// A round consists of blocks, in random order. A block has the cells of one point, in random
/// order, the baseline and its twin among them. So a cell and what it is compared with lie close
/// together: what changes on the machine more slowly than a block takes hits both. The cells of a
/// tool of others are in the block of those that it stands beside. Rounds have orders of their own.
/// So what follows from the trial before hits no cell in all rounds alike.
/// Cells that are searched are in no round.
pub fn order(plan: &Plan, round: u32) -> Vec<Cell> {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&plan.seed.to_le_bytes());
    seed[8..12].copy_from_slice(&round.to_le_bytes());
    let mut random = StdRng::from_seed(seed);
    let places = places(plan);
    let mut blocks: BTreeMap<usize, Vec<Cell>> = BTreeMap::new();
    for cell in plan.cells.iter().filter(|cell| plan.points[cell.point].search.is_none()) {
        blocks.entry(places[cell.point]).or_default().push(*cell);
    }
    let mut blocks: Vec<Vec<Cell>> = blocks.into_values().collect();
    blocks.shuffle(&mut random);
    blocks.iter_mut().for_each(|block| block.shuffle(&mut random));
    blocks.concat()
}

/// The block of each point: its own, or that of the point that a tool stands beside.
fn places(plan: &Plan) -> Vec<usize> {
    let mut first: HashMap<(&str, String), usize> = HashMap::new();
    let mut places = Vec::with_capacity(plan.points.len());
    for (index, point) in plan.points.iter().enumerate() {
        let name = point.peer.as_ref().map_or(&point.workload, |peer| &peer.of);
        let known = *first.entry((name, point_label(&point.point))).or_insert(index);
        places.push(if point.peer.is_some() { known } else { index });
    }
    places
}

/// So many things in the order of a pass (from 1) of searches, as indices. It follows from the
/// plan's seed and the pass, as that of a round does. `phase` tells sorts of passes apart.
pub(in crate::campaign) fn shuffled(plan: &Plan, phase: u8, pass: u32, count: usize) -> Vec<usize> {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&plan.seed.to_le_bytes());
    seed[8..12].copy_from_slice(&pass.to_le_bytes());
    seed[12] = phase;
    let mut places: Vec<usize> = (0..count).collect();
    places.shuffle(&mut StdRng::from_seed(seed));
    places
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Peer, Point, fixture};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_is_measured_among_the_cells_that_it_stands_beside() {
        let ours = |name: &str| fixture::point(name, fixture::job("rr", json!({})));
        let theirs = |of: &str| {
            let peer = Peer { tool: "qperf".to_owned(), of: of.to_owned() };
            Point { peer: Some(peer.clone()), ..ours(&peer.workload()) }
        };
        let paths = ["p", "q"].map(fixture::path).into();
        let points = vec![ours("a"), theirs("a"), ours("b"), theirs("b")];
        let plan = fixture::plan(paths, points);
        let mut mixed = 0;
        for round in 1..=20 {
            let order = order(&plan, round);
            assert_eq!(order.len(), 8);
            let halves = order.chunks(4).map(|half| {
                let of: Vec<usize> = half.iter().map(|cell| cell.point / 2).collect();
                assert!(of.iter().all(|workload| *workload == of[0]), "{order:?}");
                half.iter().map(|cell| cell.point % 2).collect::<Vec<_>>()
            });
            // Neither all of ours first, nor all of theirs.
            let blocks = [[0, 0, 1, 1], [1, 1, 0, 0]];
            mixed += halves.filter(|half| !blocks.iter().any(|block| half == block)).count();
        }
        assert!(mixed > 10, "{mixed} of 40 blocks are mixed");
    }
}
