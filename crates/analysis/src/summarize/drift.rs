//! Drift: what moved over the rounds of a run, in all its cells at once: a machine that gets
//! warmer, a neighbour that comes.

use hopbench_model::number::percentage;
use hopbench_stats::{persistence, round_effects, trend};

use crate::cells::{Cell, nodes};
use crate::figures::{Better, Figure};
use crate::run_data::RunData;

/// A p-value up to which a movement over the rounds is told: one run in a hundred tells of nothing.
const TOLD: f64 = 0.01;

/// Notes on the drift of a run, a sentence each.
pub(crate) fn notes(data: &RunData) -> Vec<String> {
    let speeds = speeds(data);
    let mut out = Vec::new();
    if let Some(moved) = trend(&speeds).filter(|moved| moved.p <= TOLD) {
        let word = if moved.relative_change < 0.0 { "slower" } else { "faster" };
        out.push(format!(
            "from the first round to the last all cells together got {word} by {} % (p {}): the \
             machine, or what else ran on it, changed. Ratios are taken round by round and hardly \
             know; the figures are of all of it",
            percentage(moved.relative_change.abs()),
            p_value(moved.p),
        ));
    }
    let alike = persistence(&speeds, data.run.plan.seed)
        .filter(|alike| alike.p <= TOLD && alike.correlation > 0.0);
    if let Some(alike) = alike {
        out.push(format!(
            "rounds resemble the round before (rank correlation {:.2}, p {}). There is less in \
             them than their number says, and intervals of figures are too narrow",
            alike.correlation,
            p_value(alike.p),
        ));
    }
    out.extend(nodes::stolen(data.cells.values()));
    out
}

/// How fast each round was over all cells, 1 being usual; a latency counts turned over.
fn speeds(data: &RunData) -> Vec<f64> {
    let plan = &data.run.plan;
    let mut places: Vec<&(usize, usize)> = data.cells.keys().collect();
    places.sort_unstable();
    let main =
        |(_, point): &(usize, usize)| &data.workloads[data.workload_of[*point]].kind.figures[0];
    let cells =
        places.into_iter().map(|place| by_round(&data.cells[place], main(place), plan.rounds));
    round_effects(&cells.collect::<Vec<_>>()).iter().map(|effect| effect.exp()).collect()
}

/// The main figure of a cell by round, more being faster.
fn by_round(cell: &Cell, main: &Figure, rounds: u32) -> Vec<Option<f64>> {
    let fast = |value: f64| if main.better == Better::Higher { value } else { 1.0 / value };
    cell.main_by_round(rounds).into_iter().map(|value| value.map(fast)).collect()
}

/// `= 0.004`, `< 0.001`.
fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("= {p:.3}") }
}
