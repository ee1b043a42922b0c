//! The head of a page: the lines that are needed to repeat the trial.

use hopbench_analysis::{RecordedJob, spoken};
use hopbench_model::{Pattern, Record, Schedule, WorkloadKind};

use super::page::Page;
use crate::number::{counted, plain, time_ns};
use crate::{ADDRESS_SETTING, OTHERS_SETTING};

pub(super) fn write(page: &mut Page, record: &Record) {
    let job = RecordedJob(&record.job);
    page.title(&record.workload, &target(record));
    page.title("", &load(job, record.kind()));
    page.title("", &job.params().join(", "));
    page.title("", &placement(job));
    page.title("", &window(record, job));
}

fn target(record: &Record) -> String {
    let mut text = match record.settings.get(ADDRESS_SETTING) {
        Some(address) if *address != record.path => format!("{} at {address}", record.path),
        _ => record.path.clone(),
    };
    if let Some(others) = record.settings.get(OTHERS_SETTING) {
        text.push_str(&format!(" (not used: {others})"));
    }
    text
}

/// Engine, connections, threads, schedule.
fn load(job: RecordedJob<'_>, kind: WorkloadKind) -> String {
    let mut parts = Vec::new();
    parts.extend(job.engine().map(|engine| format!("engine {engine}")));
    // What keeps several probes under way is nobody's connection.
    if kind.pattern != Pattern::Probes {
        parts.extend(job.connections().map(|n| counted(n, "connection", "connections")));
    }
    parts.extend(match (job.engine(), job.threads()) {
        (Some("threads"), _) => Some("a thread each".to_owned()),
        (_, threads) => threads.map(|n| counted(n, "thread", "threads")),
    });
    let bursts = job.burst().map_or_else(String::new, |burst| format!(" in bursts of {burst}"));
    match job.schedule() {
        None => {}
        // Only an exchange waits for an answer before the next starts.
        Some(Schedule::Closed) if !kind.is_of_exchanges() => {}
        Some(Schedule::Closed) => parts.push("closed loop".to_owned()),
        Some(Schedule::Rate(rate)) => {
            parts.push(format!("constant rate {}/s{bursts}", plain(rate)));
        }
        Some(Schedule::Poisson(rate)) => {
            parts.push(format!("Poisson arrivals {}/s{bursts}", plain(rate)));
        }
    }
    if job.schedule().is_some_and(|schedule| schedule.per_s().is_some()) {
        parts.extend(job.pacing().map(|pacing| format!("pacing {pacing}")));
    }
    parts.join(", ")
}

fn placement(job: RecordedJob<'_>) -> String {
    let on = |end: &str, key| job.cpus(key).map(|cpus| format!("{end} on CPU {cpus}"));
    let parts: Vec<_> =
        [on("client", "client_cpus"), on("server", "server_cpus")].into_iter().flatten().collect();
    parts.join(", ")
}

fn window(record: &Record, job: RecordedJob<'_>) -> String {
    let mut text = format!("window {}", time_ns(record.window_s * 1e9));
    if let (Some(_), Some(asked)) = (&record.incomplete, job.window_ns()) {
        text.push_str(&format!(" of {} asked for", time_ns(asked as f64)));
    }
    if let Some(warmup) = job.warmup_ns().filter(|ns| *ns > 0) {
        text.push_str(&format!(" after {} warm-up", time_ns(warmup as f64)));
    }
    if record.round > 1 {
        text.push_str(&format!(", round {}", record.round));
    }
    let point: Vec<_> = record
        .point
        .iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", spoken(value)?)))
        .collect();
    if !point.is_empty() {
        text.push_str(&format!(", point {}", point.join(", ")));
    }
    if !record.started_at.is_empty() {
        text.push_str(&format!(", at {}", record.started_at));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_connections_shows_them() {
        let job = serde_json::json!({"engine": "epoll", "connections": 1000, "threads": 1});
        assert_eq!(
            load(RecordedJob(&job), WorkloadKind::of("stream")),
            "engine epoll, 1000 connections, 1 thread"
        );
        assert_eq!(load(RecordedJob(&job), WorkloadKind::of("ping")), "engine epoll, 1 thread");
    }

    #[test]
    fn a_schedule_says_its_bursts() {
        let of = |job| load(RecordedJob(&job), WorkloadKind::of("rr"));
        let rate = serde_json::json!({"schedule": {"rate": 4000.0}, "burst": 16});
        assert_eq!(of(rate), "constant rate 4000/s in bursts of 16");
        let single = serde_json::json!({"schedule": {"poisson": 4000.0}});
        assert_eq!(of(single), "Poisson arrivals 4000/s");
    }
}
