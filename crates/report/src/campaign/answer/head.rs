//! The first line of the answer: which run, how large, how long, and what is missing of it.

use hopbench_analysis::text::status;
use hopbench_analysis::{SearchSummary, Summary};
use hopbench_model::RunStatus;

use crate::campaign::page_text;
use crate::number::{counted, long_time};

/// The identity of a run, and its progress.
#[derive(Debug)]
pub(crate) struct Head {
    /// The scenario's name.
    pub(crate) name: String,
    /// Its size, its time and its trials.
    pub(crate) parts: Vec<String>,
    /// The testbed, of a lab with its CPUs.
    pub(crate) place: String,
}

impl Head {
    pub(super) fn of(summary: &Summary) -> Self {
        let run = &summary.run;
        let mut parts = vec![size(summary)];
        if run.status != RunStatus::Complete {
            parts.insert(0, status(run.status).to_uppercase());
        }
        // With fewer than 3 rounds there is no verdict, and with a stop rule nobody knows how many
        // there are.
        if run.rounds < 3 || run.stop.is_some() {
            parts.extend(page_text::rounds(summary));
        }
        parts.extend(run.took_s.map(long_time));
        parts.extend(trials(summary));
        let cpus = summary.environment.get("cpu_count").filter(|_| run.testbed == "lab");
        let cpus = cpus.map_or(String::new(), |count| format!(", {count} CPUs"));
        Self { name: run.name.clone(), parts, place: format!("{}{cpus}", run.testbed) }
    }
}

/// `7 paths x 5 workloads`, `4 paths x 2 workloads and 1 search`.
fn size(summary: &Summary) -> String {
    let paths = summary.paths.iter().filter(|path| !path.is_twin).count() as u64;
    let mut what: Vec<String> = Vec::new();
    if !summary.workloads.is_empty() {
        what.push(counted(summary.workloads.len() as u64, "workload", "workloads"));
    }
    if !summary.searches.is_empty() {
        what.push(counted(summary.searches.len() as u64, "search", "searches"));
    }
    match what.is_empty() {
        true => counted(paths, "path", "paths"),
        false => format!("{} x {}", counted(paths, "path", "paths"), what.join(" and ")),
    }
}

/// The trials, those that are in no figure, and whether all are proved.
fn trials(summary: &Summary) -> Vec<String> {
    let run = &summary.run;
    let mut parts = Vec::new();
    let is_all = run.used_trials == run.planned_trials;
    let searched: usize = summary.searches.iter().map(SearchSummary::trials).sum();
    if run.planned_trials > 0 || searched == 0 {
        parts.push(match is_all {
            true => counted(run.used_trials, "trial", "trials"),
            false => format!("{} of {} trials used", run.used_trials, run.planned_trials),
        });
    }
    if searched > 0 {
        parts.push(format!("{} of searches", counted(searched as u64, "trial", "trials")));
    }
    let unproved = summary.failures.iter().filter(|failure| failure.is_unproved).count();
    let failed = summary.failures.len() - unproved;
    let has_trials = run.used_trials > 0 || searched > 0;
    match unproved {
        // The testbed says that it was imported.
        _ if run.imported => parts.push("not proved".to_owned()),
        0 if failed == 0 && has_trials => parts.push("all proved".to_owned()),
        0 => {}
        count => parts.push(format!("{count} NOT PROVED")),
    }
    if failed > 0 {
        parts.push(format!("{failed} FAILED"));
    }
    parts
}
