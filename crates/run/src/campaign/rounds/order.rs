//! The order of the trials.

use std::collections::BTreeMap;

use hopbench_model::{Cell, Plan};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// The cells of a round (from 1), each once, in an order that follows from the plan's seed and the
/// round alone. It is the same for every run of the same plan with the same build.
///
/// A round consists of blocks, in random order. A block has the cells of one point, in random
/// order, the baseline and its twin among them. So a cell and what it is compared with lie close
/// together: what changes on the machine more slowly than a block takes hits both. Rounds have
/// orders of their own. So what follows from the trial before hits no cell in all rounds alike.
/// Cells that are searched are in no round.
pub fn order(plan: &Plan, round: u32) -> Vec<Cell> {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&plan.seed.to_le_bytes());
    seed[8..12].copy_from_slice(&round.to_le_bytes());
    let mut random = StdRng::from_seed(seed);
    let mut blocks: BTreeMap<usize, Vec<Cell>> = BTreeMap::new();
    for cell in plan.cells.iter().filter(|cell| plan.points[cell.point].search.is_none()) {
        blocks.entry(cell.point).or_default().push(*cell);
    }
    let mut blocks: Vec<Vec<Cell>> = blocks.into_values().collect();
    blocks.shuffle(&mut random);
    blocks.iter_mut().for_each(|block| block.shuffle(&mut random));
    blocks.concat()
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
