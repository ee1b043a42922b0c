//! The sentences and labels of pages, read from a summary.

pub(crate) use hopbench_analysis::text::limit_text::long as limit;
use hopbench_analysis::{
    CellSummary, Limit, PathSummary, Run, SearchSummary, SubjectSummary, Summary, WorkloadSummary,
};
use hopbench_model::number::{counted, percentage};

/// The limits of a cell's trials as records name them: `cpu:client`, `cpu:client 2x, softirq`.
pub(crate) fn limits(cell: &CellSummary) -> String {
    let several = cell.limited_by.len() > 1;
    let text = |limit: &Limit| match (several, limit.trials) {
        (true, n) if n > 1 => format!("{} {n}x", limit.limit),
        _ => limit.limit.clone(),
    };
    cell.limited_by.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// The same with the mark of a cell that has no verdict because the generator was late in half of
/// its trials: `! target_rate`.
pub(crate) fn marked_limits(cell: &CellSummary) -> String {
    format!("{}{}", if cell.generator_limited { "! " } else { "" }, limits(cell))
}

/// What the marks of a workload's cells say: that of [`marked_limits`], and that of a round far
/// from the others.
pub(crate) fn marks(workload: &WorkloadSummary) -> impl Iterator<Item = &'static str> {
    let late = workload.cells.iter().any(|cell| cell.generator_limited);
    let far = workload
        .cells
        .iter()
        .flat_map(|cell| &cell.figures)
        .any(|figure| !figure.outliers.is_empty());
    let late = late.then_some(
        "! The load generator was late in half of the trials or more: no verdict is about this \
         cell.",
    );
    let far = far.then_some("* A round is far from the others of the cell; it is in the figure.");
    late.into_iter().chain(far)
}

/// The reference of all others: the baseline, or the first subject.
pub(crate) fn reference(summary: &Summary) -> &str {
    let first = summary.run.subjects.first().map(|subject| subject.name.as_str());
    summary.run.baseline.as_deref().or(first).unwrap_or_default()
}

/// A subject with its set-up: `old: as the testbed has it, read back as envoy 1.40.0 at ...`.
pub(crate) fn subject(subject: &SubjectSummary) -> String {
    let found = subject.read_back.as_ref();
    let found = found.map_or(String::new(), |found| format!(", read back as {found}"));
    format!("{}: {}{found}", subject.name, subject.changes.set_up())
}

/// A warning's kind in words: `not steady`.
pub(crate) fn spaced(kind: &str) -> String {
    kind.replace('_', " ")
}

/// The meaning of many comparisons for one of them; `None` without any.
pub(crate) fn chance(summary: &Summary) -> Option<String> {
    let Run { comparisons, judged, minimum_effect, .. } = summary.run;
    if comparisons == 0 {
        return None;
    }
    let shown = counted(comparisons, "comparison", "comparisons");
    let further = match judged.saturating_sub(comparisons) {
        0 => String::new(),
        n => format!(", judged together with {n} of further figures"),
    };
    let least = match minimum_effect {
        share if share > 0.0 => {
            format!(" Differences below {} % are of no interest here.", percentage(share))
        }
        _ => String::new(),
    };
    Some(format!(
        "{shown}{further}: of the differences named at most 5 % are false, on average.{least}"
    ))
}

/// How many rounds there were: `3 rounds`, `rounds until p99 is within +-2 %: 3 to 20`.
/// `None` where only searches were asked for, which have none.
pub(crate) fn rounds(summary: &Summary) -> Option<String> {
    let run = &summary.run;
    if !is_measured(summary) {
        return None;
    }
    Some(match &run.stop {
        Some(rule) => format!("rounds {rule}"),
        None => counted(u64::from(run.rounds), "round", "rounds"),
    })
}

/// Whether there is anything that is measured in rounds.
pub(crate) fn is_measured(summary: &Summary) -> bool {
    !summary.workloads.is_empty() || summary.searches.is_empty()
}

/// How many trials there are: `12 of 12 trials used`, `12 of 12 trials used, 96 of searches`, `96
/// trials of searches`.
pub(crate) fn trials(summary: &Summary) -> String {
    let run = &summary.run;
    let used = format!("{} of {} trials used", run.used_trials, run.planned_trials);
    let searched: usize = summary.searches.iter().map(SearchSummary::trials).sum();
    match searched {
        0 => used,
        n if run.planned_trials == 0 => {
            format!("{} of searches", counted(n as u64, "trial", "trials"))
        }
        n => format!("{used}, {n} of searches"),
    }
}

/// How figures and intervals are to be read.
pub(crate) fn how_to_read(summary: &Summary) -> String {
    let run = &summary.run;
    if !is_measured(summary) {
        return "Each load stands with the loads between which it lies; figures there are medians \
                over its trials."
            .to_owned();
    }
    if run.rounds < 2 {
        return "One round: no intervals, no verdicts.".to_owned();
    }
    let looks = if run.stop.is_some() { ", all looks of the stop rule accounted for" } else { "" };
    format!(
        "Figures are medians over rounds (of losses and errors: means) with 95 % \
         intervals{looks}; ratios are paired, round by round."
    )
}

/// When a difference is named; `None` where none can be.
pub(crate) fn named(summary: &Summary) -> Option<String> {
    let run = &summary.run;
    if !is_measured(summary) || run.comparisons == 0 {
        return None;
    }
    Some(
        "One interval decides, which takes the number of comparisons into account: different where \
         it leaves out 1, the same where it and all rounds together lie within what is of \
         interest, else not decided."
            .to_owned(),
    )
}

/// Why trials are in no figure, as far as they did not fail; empty where all others are there.
pub(crate) fn missing(run: &Run, failed: usize) -> String {
    let missing = run.planned_trials.saturating_sub(run.used_trials);
    let rest = missing.saturating_sub(run.disturbed_trials).saturating_sub(failed as u64);
    let mut whys = Vec::new();
    if run.disturbed_trials > 0 {
        let trials = counted(run.disturbed_trials, "trial", "trials");
        whys.push(format!("In the time of {trials} the testbed changed."));
    }
    if rest > 0 && rest == missing {
        whys.push("They were not measured.".to_owned());
    } else if rest > 0 {
        whys.push(format!("{} not measured.", counted(rest, "trial was", "trials were")));
    }
    whys.join(" ")
}

/// Whether receive steering spread the nodes' packet processing; `None` where the testbed does not
/// say.
pub(crate) fn receive(summary: &Summary) -> Option<String> {
    let fact = summary.testbed.get("receive")?;
    if fact.starts_with("steered") {
        return Some("steered".to_owned());
    }
    let why = fact.split_once(": ").map_or("", |(_, why)| why);
    let why = if why.contains("needs root") { "needs root" } else { sentence(why) };
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    Some(format!("not steered{why}"))
}

/// A text without its full stop, which the caller adds.
pub(crate) fn sentence(text: &str) -> &str {
    text.trim_end().trim_end_matches('.')
}

/// Where a path begins and where it ends, with how many are there: `pod@a x 3`, `pod@b x 2`.
fn ends(path: &PathSummary) -> [String; 2] {
    let end = |place: &str, count: u32| {
        if count > 1 { format!("{place} x {count}") } else { place.to_owned() }
    };
    [end(&path.from, path.clients), end(&path.to, path.backends)]
}

/// From where to where: `host@a to bridge@b via node-port@c`, `bridge@a x 3 to bridge@b, mesh
/// both`. Empty where another tool measured, which does not say it.
pub(crate) fn way(path: &PathSummary) -> String {
    if path.way.is_empty() {
        return String::new();
    }
    let way = ends(path).join(" to ");
    match path.way.strip_prefix("direct") {
        Some(rest) => format!("{way}{rest}"),
        None => format!("{way} via {}", path.way),
    }
}
