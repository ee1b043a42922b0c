//! Messages of runs that end when their intervals are narrow enough.

use hopbench_report::number::{as_written, counted, percentage};
use hopbench_run::CellsEnded;

/// `round 4, 12 of 50 cells still open, widest 7 % (goal 5 %)`.
pub(super) fn round(
    round: u32,
    (open, cells): (usize, usize),
    widest: Option<f64>,
    goal: f64,
) -> String {
    let still = if open < cells { "still " } else { "" };
    let widest = widest.map_or_else(String::new, |widest| format!(", widest {}", width(widest)));
    format!(
        "round {round}, {open} of {} {still}open{widest} (goal {})",
        counted(cells as u64, "cell", "cells"),
        width(goal)
    )
}

/// `38 cells are narrow enough, 4 out of budget, 8 had all 20 rounds`; what does not occur is left
/// out.
pub(super) fn ended(ended: &CellsEnded, rounds: u32) -> String {
    let CellsEnded { narrow, by_budget, by_rounds, open } = *ended;
    let is = if narrow == 1 { "is" } else { "are" };
    let mut parts = vec![format!("{} {is} narrow enough", counted(narrow as u64, "cell", "cells"))];
    let more = [
        (by_budget, "out of budget".to_owned()),
        (by_rounds, format!("had all {rounds} rounds")),
        (open, "still open".to_owned()),
    ];
    parts.extend(
        more.into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}")),
    );
    parts.join(", ")
}

/// Half of an interval, with as many digits as say something: `7 %`, `2.4 %`. Wider than the figure
/// itself, its width says no more than that.
fn width(share: f64) -> String {
    if share > 1.0 {
        return "above 100 %".to_owned();
    }
    let digits = percentage(share);
    format!("{} %", digits.parse().map_or(digits, as_written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_says_how_many_are_open_and_how_wide_they_are() {
        assert_eq!(
            round(4, (12, 50), Some(0.0702), 0.05),
            "round 4, 12 of 50 cells still open, widest 7 % (goal 5 %)"
        );
        assert_eq!(round(1, (50, 50), None, 0.024), "round 1, 50 of 50 cells open (goal 2.4 %)");
        assert_eq!(
            round(2, (1, 1), Some(12.34), 0.0005),
            "round 2, 1 of 1 cell open, widest above 100 % (goal 0.05 %)"
        );
        let widths = [0.07, 0.024, 0.256, 0.005, 0.0, 1e-6].map(width);
        assert_eq!(widths, ["7 %", "2.4 %", "26 %", "0.5 %", "0 %", "< 0.01 %"]);
        let long = format!("{}, 10:00:00 left", round(100, (234, 1500), Some(0.256), 0.025));
        assert!(long.chars().count() <= 80, "{} columns: {long}", long.chars().count());
    }

    #[test]
    fn the_end_says_why_each_cell_ended() {
        let all = CellsEnded { narrow: 38, by_budget: 4, by_rounds: 8, open: 0 };
        assert_eq!(
            ended(&all, 20),
            "38 cells are narrow enough, 4 out of budget, 8 had all 20 rounds"
        );
        let one = CellsEnded { narrow: 1, open: 3, ..CellsEnded::default() };
        assert_eq!(ended(&one, 20), "1 cell is narrow enough, 3 still open");
        let none = CellsEnded { by_rounds: 2, ..CellsEnded::default() };
        assert_eq!(ended(&none, 4), "0 cells are narrow enough, 2 had all 4 rounds");
        let most = CellsEnded { narrow: 1500, by_budget: 1500, by_rounds: 1500, open: 0 };
        assert!(ended(&most, 100).chars().count() <= 80, "{}", ended(&most, 100));
    }
}
