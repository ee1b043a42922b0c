//! Cells of the table, the same in every format.

use super::measured::{RowReport, SessionResults};
use crate::bench::Spread;
use crate::row::goal::{GoalState, Judged, Reach};
use crate::row::pairs::JudgedGoal;

/// Headings of the cells below.
pub(super) const HEADINGS: [&str; 8] =
    ["figure", "ours", "peer", "ratio (min - max)", "95 % interval", "pairs", "goal", ""];

/// The lines of the table: a title, only at the first of a row, and the cells.
pub(super) fn lines<'a>(
    report: &'a SessionResults,
    name: fn(&RowReport) -> &str,
) -> impl Iterator<Item = (String, [String; 8])> + 'a {
    let measured = report.rows.iter().filter(|row| !row.runs.is_empty());
    measured.flat_map(move |row| {
        let title = match row.against {
            "" => name(row).to_owned(),
            against => format!("{} / {against}", name(row)),
        };
        let titles = std::iter::once(title).chain(std::iter::repeat(String::new()));
        titles.zip(row.judgements.iter().map(line))
    })
}

/// One line of the table, without the row's name.
fn line(judgement: &JudgedGoal) -> [String; 8] {
    let with_unit = |spread: Option<Spread>| match (spread, judgement.unit) {
        (None, _) => "-".to_owned(),
        (Some(spread), "") => share(spread.median),
        (Some(spread), unit) => format!("{} {unit}", number(spread.median)),
    };
    let ours = match judgement.ours {
        // Where the value itself is judged there is no ratio that shows the spread.
        Some(spread) if judgement.judged != Judged::Ratio && !judgement.unit.is_empty() => {
            format!("{} ({} - {})", with_unit(Some(spread)), number(spread.min), number(spread.max))
        }
        spread => with_unit(spread),
    };
    let ratio = judgement.ratio.map_or_else(
        || "-".to_owned(),
        |r| format!("{:.3} ({:.3} - {:.3})", r.median, r.min, r.max),
    );
    let end = |value: f64| match (judgement.judged, judgement.unit) {
        (Judged::Ratio, _) => format!("{value:.3}"),
        (Judged::Value | Judged::Count, "") => share(value),
        (Judged::Value | Judged::Count, _) => number(value),
    };
    let interval = judgement
        .interval
        .map_or_else(|| "-".to_owned(), |[low, high]| format!("{} - {}", end(low), end(high)));
    let verdict = match judgement.verdict {
        Some(GoalState::Met) => "pass",
        Some(GoalState::NotMet) => "SHORT",
        Some(GoalState::NotDecided) => "not decided",
        None => "",
    };
    [
        judgement.label.to_owned(),
        ours,
        with_unit(judgement.peer),
        ratio,
        interval,
        judgement.pairs.to_string(),
        goal(judgement),
        verdict.to_owned(),
    ]
}

fn goal(judgement: &JudgedGoal) -> String {
    match judgement.judged {
        Judged::Value | Judged::Count
            if judgement.reach != Reach::Shown && !judgement.unit.is_empty() =>
        {
            format!("{} {}", judgement.reach, judgement.unit)
        }
        Judged::Value | Judged::Count | Judged::Ratio => judgement.reach.to_string(),
    }
}

/// A share needs the digits that tell exactly from nearly.
fn share(value: f64) -> String {
    format!("{value:.5}")
}

/// Three digits that mean something, more where the number is large.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_meaning() {
        assert_eq!(number(186_479.4), "186479");
        assert_eq!(number(53.66), "53.7");
        assert_eq!(number(0.0213), "0.02");
        assert_eq!(share(0.999_95), "0.99995");
    }
}
