//! The findings of a workload, in a sentence or a short list.

use hopbench_model::References;

use crate::summary::{CellSummary, Finding, Outcome, RatioSummary, Verdict, WorkloadSummary};
use crate::text::Scale;
use crate::verdict::{more, same_within};

/// Paths that are named; the table has the others.
const MOST_NAMED: usize = 5;

/// Reference and findings as one text.
pub(crate) fn of(workload: &WorkloadSummary, rounds: u32) -> String {
    let mut parts: Vec<String> = Vec::new();
    // With one round that is all there is to say of every path, and it is said once.
    for finding in workload
        .findings
        .iter()
        .filter(|finding| rounds > 1 || finding.outcome != Outcome::TooFewRounds)
    {
        let colon = if finding.outcome.is_called() { "" } else { ":" };
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

/// The figure of what others are compared with, where that is one path, or what was seen at all.
pub(crate) fn reference(workload: &WorkloadSummary, references: &References) -> String {
    let Some(figure) = workload.main_figure() else {
        return "No trial left a figure.".to_owned();
    };
    let name = figure.name;
    let measured: Vec<&CellSummary> =
        workload.cells.iter().filter(|cell| !cell.is_twin && cell.figure(name).is_some()).collect();
    let value =
        |cell: &CellSummary| cell.figure(name).map_or(f64::NAN, |figure| figure.spread.median);
    let spoken = |cell: &CellSummary| {
        let own = Scale::one(name, value(cell));
        let saturated = cell.saturated().map(|text| format!(" ({text})"));
        format!("{own}{}", saturated.unwrap_or_default())
    };
    let at = |cell: &CellSummary| match cell.point_label.as_str() {
        "" => String::new(),
        label => format!(" at {label}"),
    };
    let base: Vec<&CellSummary> = measured
        .iter()
        .copied()
        .filter(|cell| Some(cell.path_index) == references.only())
        .collect();
    if let (Some(first), Some(last)) = (base.first(), base.last()) {
        let more =
            if base.len() > 1 { format!(", {}{}", spoken(last), at(last)) } else { String::new() };
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
    verdicts: Vec<(&'a CellSummary, &'a RatioSummary, &'a Verdict)>,
}

impl Compared<'_> {
    /// The point at which the path is furthest from the baseline, among the real differences.
    fn furthest(&self) -> Option<(&CellSummary, f64, &Verdict)> {
        let real = self.verdicts.iter().filter(|(.., verdict)| verdict.outcome.is_called());
        let far = real.filter_map(|(cell, ratio, verdict)| {
            Some((*cell, ratio.spread?.median.ln().abs(), *verdict))
        });
        far.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The finding on this path, at its furthest point.
    fn finding(&self, (cell, _, verdict): (&CellSummary, f64, &Verdict)) -> Finding {
        let text = if self.verdicts.len() == 1 {
            verdict.text.clone()
        } else {
            let alike = self.of(verdict.outcome).count();
            let word = verdict.word;
            format!(
                "{} at {} ({word} at {alike} of {} points)",
                verdict.text,
                cell.point_label,
                self.verdicts.len()
            )
        };
        Finding { paths: self.path.to_owned(), outcome: verdict.outcome, text }
    }

    /// The finding that at some points nothing is compared, with the text of the first.
    fn withheld(&self, outcome: Outcome) -> Option<Finding> {
        let (_, verdict) = self.of(outcome).next()?;
        let (count, all) = (self.of(outcome).count(), self.verdicts.len());
        let at = if count == all { String::new() } else { format!(" at {count} of {all} points") };
        let text = format!("{}{at}", verdict.text);
        Some(Finding { paths: self.path.to_owned(), outcome, text })
    }

    fn of(&self, outcome: Outcome) -> impl Iterator<Item = (&RatioSummary, &Verdict)> {
        let verdicts = self.verdicts.iter().filter(move |(.., verdict)| verdict.outcome == outcome);
        verdicts.map(|(_, ratio, verdict)| (*ratio, *verdict))
    }
}

/// The outcomes of a path without a real difference, the most telling first.
const QUIET: [Outcome; 3] = [Outcome::NotDecided, Outcome::Same, Outcome::TooFewRounds];

/// The findings on the main figure: real differences, furthest first, then paths that show none.
pub(crate) fn findings(workload: &WorkloadSummary) -> Vec<Finding> {
    let Some(figure) = workload.main_figure() else {
        return Vec::new();
    };
    let paths = compared(workload, figure.name);
    let mut differ: Vec<_> =
        paths.iter().filter_map(|path| Some((path, path.furthest()?))).collect();
    differ.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
    let mut out: Vec<Finding> =
        differ.iter().take(MOST_NAMED).map(|(path, furthest)| path.finding(*furthest)).collect();
    if let Some(last) = differ.get(MOST_NAMED) {
        let (paths, outcome) = (format!("{} more", differ.len() - MOST_NAMED), last.1.2.outcome);
        out.push(Finding { paths, outcome, text: "differ by less".to_owned() });
    }
    out.extend(paths.iter().filter_map(|path| path.withheld(Outcome::Saturated)));
    // Where a real difference was seen at another point, that is the finding.
    let mut quiet: Vec<&Compared<'_>> =
        paths.iter().filter(|path| path.furthest().is_none()).collect();
    quiet.retain(|path| {
        let late = path.withheld(Outcome::Generator);
        let is_quiet = late.is_none() && path.of(Outcome::Saturated).next().is_none();
        out.extend(late);
        is_quiet
    });
    let strongest =
        |path: &Compared<'_>| QUIET.into_iter().find(|outcome| path.of(*outcome).next().is_some());
    out.extend(QUIET.into_iter().filter_map(|outcome| {
        let own: Vec<_> =
            quiet.iter().copied().filter(|path| strongest(path) == Some(outcome)).collect();
        together(outcome, &own)
    }));
    out
}

/// One finding on paths that all show this and nothing more; `None` without any.
fn together(outcome: Outcome, paths: &[&Compared<'_>]) -> Option<Finding> {
    let verdicts = || paths.iter().flat_map(|path| path.of(outcome));
    let first = verdicts().next()?;
    let text = match outcome {
        _ if verdicts().count() == 1 => first.1.text.clone(),
        // Of several, what holds of each: the largest.
        Outcome::Same => {
            same_within(verdicts().filter_map(|(_, verdict)| verdict.within).fold(0.0, f64::max))
        }
        Outcome::NotDecided => {
            let rounds = most(verdicts().map(|(_, verdict)| verdict.more_rounds));
            let seconds = most(verdicts().map(|(_, verdict)| verdict.more_s));
            format!("{}{}", first.1.word, more(rounds, seconds))
        }
        _ => first.1.text.clone(),
    };
    let names: Vec<&str> = paths.iter().map(|path| path.path).collect();
    let paths =
        if names.len() <= MOST_NAMED { names.join(", ") } else { format!("{} paths", names.len()) };
    Some(Finding { paths, outcome, text })
}

/// The largest of them, if all are known.
fn most<T: PartialOrd>(values: impl Iterator<Item = Option<T>>) -> Option<T> {
    let larger = |a: T, b: T| if b > a { b } else { a };
    let all: Option<Vec<T>> = values.collect();
    all?.into_iter().reduce(larger)
}

/// The verdicts on a figure by path, in the order of the paths.
fn compared<'a>(workload: &'a WorkloadSummary, name: &str) -> Vec<Compared<'a>> {
    let mut places = std::collections::HashMap::new();
    let mut paths: Vec<Compared<'_>> = Vec::new();
    for cell in &workload.cells {
        let ratio = cell.figure(name).and_then(|figure| figure.ratio.as_ref());
        let Some((ratio, verdict)) = ratio.and_then(|ratio| Some((ratio, ratio.verdict.as_ref()?)))
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
