//! What a workload found, in a sentence or a short list.

use super::scale::Scale;
use super::summary::{CellSummary, Finding, WorkloadSummary};
use super::verdict::{Outcome, SAME, Verdict};

/// Paths that are named; the table has the others.
const MOST_NAMED: usize = 5;

/// Reference and findings as one text.
pub(crate) fn of(workload: &WorkloadSummary, rounds: u32) -> String {
    let mut parts: Vec<String> = Vec::new();
    for finding in &workload.findings {
        let said = matches!(finding.outcome, Outcome::Better | Outcome::Worse);
        let colon = if said { "" } else { ":" };
        parts.push(format!("{}{colon} {}", finding.paths, finding.text));
    }
    match (parts.is_empty(), rounds) {
        (true, 0 | 1) if workload.main_figure().is_some() => {
            format!("{} One round shows no verdict.", workload.reference)
        }
        (true, _) => workload.reference.clone(),
        _ => format!("{} {}.", workload.reference, parts.join("; ")),
    }
}

/// The baseline's figure, or what was seen at all.
pub(crate) fn reference(workload: &WorkloadSummary, baseline: Option<&str>) -> String {
    let Some(figure) = workload.main_figure() else {
        return "No trial left a figure.".to_owned();
    };
    let name = figure.name;
    let measured: Vec<&CellSummary> = workload.cells.iter().filter(|cell| cell.figure(name).is_some()).collect();
    let value = |cell: &CellSummary| cell.figure(name).map_or(f64::NAN, |figure| figure.spread.median);
    let spoken = |cell: &CellSummary| Scale::one(name, value(cell));
    let at = |cell: &CellSummary| match cell.point_label.as_str() {
        "" => String::new(),
        label => format!(" at {label}"),
    };
    let base: Vec<&CellSummary> =
        measured.iter().copied().filter(|cell| Some(cell.path.as_str()) == baseline).collect();
    if let (Some(first), Some(last)) = (base.first(), base.last()) {
        let more = if base.len() > 1 { format!(", {}{}", spoken(last), at(last)) } else { String::new() };
        return format!("{}: {} {}{}{more}.", first.path, figure.label, spoken(first), at(first));
    }
    // Nothing to compare with: the ends of what was seen.
    let low = measured.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
    let high = measured.iter().max_by(|a, b| value(a).total_cmp(&value(b)));
    low.zip(high).map_or_else(String::new, |(low, high)| {
        if measured.len() == 1 {
            return format!("{} {}{}.", capital(figure.label), spoken(low), at(low));
        }
        let end = |cell: &CellSummary| format!("{} ({}{})", spoken(cell), cell.path, at(cell));
        format!("{} from {} to {}.", capital(figure.label), end(low), end(high))
    })
}

/// The verdicts of one path over its points.
struct Compared<'a> {
    path: &'a str,
    verdicts: Vec<(&'a CellSummary, f64, &'a Verdict)>,
}

impl Compared<'_> {
    /// Where the path is furthest from the baseline, among the real differences.
    fn furthest(&self) -> Option<(&CellSummary, f64, &Verdict)> {
        let real = self.verdicts.iter().filter(|(.., v)| matches!(v.outcome, Outcome::Better | Outcome::Worse));
        real.max_by(|a, b| a.1.ln().abs().total_cmp(&b.1.ln().abs())).copied()
    }

    /// The finding on this path, at its furthest point.
    fn finding(&self, (cell, _, verdict): (&CellSummary, f64, &Verdict)) -> Finding {
        let text = if self.verdicts.len() == 1 {
            verdict.text.clone()
        } else {
            let alike = self.verdicts.iter().filter(|(.., other)| other.outcome == verdict.outcome).count();
            let word = verdict.text.split(' ').next().unwrap_or_default();
            format!("{} at {} ({word} at {alike} of {} points)", verdict.text, cell.point_label, self.verdicts.len())
        };
        Finding { paths: self.path.to_owned(), outcome: verdict.outcome, text }
    }
}

/// What the comparisons of the main figure say: real differences, furthest first, then who shows none.
pub(crate) fn findings(workload: &WorkloadSummary) -> Vec<Finding> {
    let Some(figure) = workload.main_figure() else {
        return Vec::new();
    };
    let paths = compared(workload, figure.name);
    let mut differ: Vec<_> = paths.iter().filter_map(|path| Some((path, path.furthest()?))).collect();
    differ.sort_by(|a, b| b.1.1.ln().abs().total_cmp(&a.1.1.ln().abs()));
    let mut out: Vec<Finding> =
        differ.iter().take(MOST_NAMED).map(|(path, furthest)| path.finding(*furthest)).collect();
    let same = |path: &&Compared<'_>| path.verdicts.iter().all(|(.., verdict)| verdict.outcome == Outcome::Same);
    let same: Vec<&str> = paths.iter().filter(same).map(|path| path.path).collect();
    if let Some(last) = differ.get(MOST_NAMED) {
        let (paths, outcome) = (format!("{} more", differ.len() - MOST_NAMED), last.1.2.outcome);
        out.push(Finding { paths, outcome, text: "differ by less".to_owned() });
    }
    for path in &paths {
        let doubted = path.verdicts.iter().filter(|(.., verdict)| verdict.outcome == Outcome::Generator);
        // Where a real difference was seen at another point, that is the finding.
        if let Some((.., verdict)) = doubted.clone().next().filter(|_| path.furthest().is_none()) {
            let (count, all) = (doubted.count(), path.verdicts.len());
            let at = if count == all { String::new() } else { format!(" at {count} of {all} points") };
            let text = format!("{}{at}", verdict.text);
            out.push(Finding { paths: path.path.to_owned(), outcome: Outcome::Generator, text });
        }
    }
    if !same.is_empty() {
        let paths = if same.len() <= MOST_NAMED { same.join(", ") } else { format!("{} paths", same.len()) };
        out.push(Finding { paths, outcome: Outcome::Same, text: SAME.to_owned() });
    }
    out
}

/// The verdicts on a figure by path, in the order of the paths.
fn compared<'a>(workload: &'a WorkloadSummary, name: &str) -> Vec<Compared<'a>> {
    let mut places = std::collections::HashMap::new();
    let mut paths: Vec<Compared<'_>> = Vec::new();
    for cell in &workload.cells {
        let ratio = cell.figure(name).and_then(|figure| figure.ratio.as_ref());
        let Some((ratio, verdict)) = ratio.and_then(|ratio| Some((ratio.spread.median, ratio.verdict.as_ref()?)))
        else {
            continue;
        };
        let place = *places.entry(cell.path_index).or_insert_with(|| {
            paths.push(Compared { path: &cell.path, verdicts: Vec::new() });
            paths.len() - 1
        });
        paths[place].verdicts.push((cell, ratio, verdict));
    }
    paths
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
