//! The head of every page: what was measured, where and when.

use hopbench_analysis::Summary;
use hopbench_analysis::text::{status, time};

use crate::campaign::page_text;

/// What the environment tells of the machine and of the tool: its key, and what it is called.
const MACHINE: [(&str, &str); 4] =
    [("cpu_model", "CPU"), ("cpu_count", "CPUs"), ("kernel", "kernel"), ("version", "version")];

/// Names and values.
pub(super) fn facts(summary: &Summary) -> Vec<[String; 2]> {
    let run = &summary.run;
    let mut out: Vec<[String; 2]> = Vec::new();
    let mut fact = |name: &str, value: String| out.push([name.to_owned(), value]);
    fact("status", status(run.status).to_owned());
    fact("trials", page_text::trials(summary));
    if page_text::is_measured(summary) {
        fact("rounds", run.stop.clone().unwrap_or_else(|| run.rounds.to_string()));
    }
    run.baseline.iter().for_each(|name| fact("baseline", name.clone()));
    run.subjects.iter().for_each(|one| fact("subject", page_text::subject(one)));
    fact("testbed", run.testbed.to_owned());
    page_text::receive(summary).into_iter().for_each(|how| fact("receive", how));
    fact("started", time(&run.started_at));
    run.ended_at.iter().for_each(|ended| fact("ended", time(ended)));
    if !run.imported {
        fact("seed", run.seed.to_string());
    }
    for (key, name) in MACHINE {
        summary.environment.get(key).into_iter().for_each(|value| fact(name, value.clone()));
    }
    fact("run", run.run_id.clone());
    out
}
