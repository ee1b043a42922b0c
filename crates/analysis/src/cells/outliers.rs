//! Rounds that are far from the others of their cell: marked wherever they count, and left out
//! nowhere.

use std::collections::BTreeMap;

use hopbench_model::number::counted;
use hopbench_stats::outliers;

use crate::summary::WorkloadSummary;

/// The mark of a figure one of whose rounds is far from the others.
pub const OUTLIER_MARK: &str = "*";

/// More than this are counted by round, not named.
const MOST_NAMED: usize = 3;
/// More rounds than this are counted.
const MOST_ROUNDS: usize = 8;

/// The rounds whose values are far from the others of a figure.
pub(crate) fn of(rounds: &[u32], values: &[f64]) -> Vec<u32> {
    let logarithms = values.iter().all(|value| *value > 0.0);
    let scaled: Vec<f64> =
        values.iter().map(|value| if logarithms { value.ln() } else { *value }).collect();
    outliers(&scaled).iter().filter_map(|outlier| rounds.get(outlier.at)).copied().collect()
}

/// The rounds of main figures that are far from the others of their cell, in a sentence.
pub(crate) fn note(workloads: &[WorkloadSummary]) -> Option<String> {
    let mut named: Vec<String> = Vec::new();
    let mut by_round: BTreeMap<u32, u64> = BTreeMap::new();
    for (workload, cell) in workloads
        .iter()
        .flat_map(|workload| workload.cells.iter().map(move |cell| (workload, cell)))
    {
        let main = workload.main_figure().and_then(|main| cell.figure(main.name));
        for round in main.iter().flat_map(|figure| &figure.outliers) {
            *by_round.entry(*round).or_default() += 1;
            let name = [cell.path.as_str(), &workload.name, &cell.point_label].join(" ");
            named.push(format!("round {round} of {}", name.trim_end()));
        }
    }
    let all = named.len();
    if all == 0 {
        return None;
    }
    let which = if all <= MOST_NAMED {
        named.join(", ")
    } else {
        let rounds = by_round.iter().take(MOST_ROUNDS);
        let rounds = rounds
            .map(|(round, cells)| format!("round {round} in {}", counted(*cells, "cell", "cells")));
        let more = by_round.len().saturating_sub(MOST_ROUNDS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", rounds.collect::<Vec<_>>().join(", "))
    };
    let (are, they) = if all == 1 { ("is", "it is") } else { ("are", "they are") };
    Some(format!(
        "{} {are} far from the other rounds of the same cell ({which}): marked {OUTLIER_MARK}, and \
         {they} in the figures",
        counted(all as u64, "trial", "trials")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_round_that_is_named_and_ratios_that_count() {
        let rounds = [1, 2, 3, 5, 6, 7];
        assert_eq!(of(&rounds, &[10.0, 10.2, 9.9, 10.1, 5.0, 10.0]), [6]);
        // 8 is as many times too much as 0.125 is too little; as differences only 8 would be far.
        assert_eq!(of(&rounds, &[1.0, 1.05, 0.95, 0.125, 8.0, 1.0]), [5, 6]);
        assert!(of(&rounds[..4], &[1.0, 1.0, 1.0, 9.0]).is_empty(), "4 rounds know no others");
    }
}
