//! The runs of our own program: how it is started and read.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use hopbench_model::{Latency, Pacing, Record};

use super::context::{Bench, WARMUP};
use super::figures::Figures;
use super::target::{Answered, Kind, OURS_PORT, Target};
use super::text::split;
use crate::lab::{End, SERVER_ADDRESS};
use crate::process::{Completed, RunningProgram, Usage, listening};

/// One run against our own agent.
#[derive(Debug)]
pub(crate) struct AgentRun {
    /// The record of ours.
    pub(crate) record: Record,
    /// CPU of the client's process, from outside.
    pub(crate) client: Usage,
    /// CPU of the agent's process, from outside.
    pub(crate) server: Usage,
    /// Bytes that the server's interface received, headers included.
    pub(crate) bytes: f64,
}

impl AgentRun {
    /// One of the record's metrics.
    ///
    /// # Errors
    /// When the record has none of that name.
    pub(crate) fn metric(&self, name: &str) -> Result<f64> {
        metric(&self.record, name)
    }

    /// CPU per byte of both processes, as it is worked out for the peers.
    pub(crate) fn cpu_per_byte(&self) -> Figures {
        Figures::from([
            ("sender_cpu_s_per_byte", self.client.total_s() / self.bytes),
            ("receiver_cpu_s_per_byte", self.server.total_s() / self.bytes),
        ])
    }
}

/// Starts our agent at the server's end and waits until it listens.
///
/// # Errors
/// When it does not come up.
pub(crate) fn serve(bench: &Bench) -> Result<RunningProgram> {
    let words = split(&format!("serve --insecure --port {OURS_PORT}"));
    bench.serve(&bench.ours(End::Server, &words), OURS_PORT)
}

/// Runs a workload against a fresh agent.
///
/// # Errors
/// When either end fails or the record shows that the trial did not go as asked.
pub(crate) fn against_agent(bench: &Bench, workload: &str, words: &str) -> Result<AgentRun> {
    let server = serve(bench)?;
    let before = listening::interface_bytes(&server)?;
    let target = format!("{SERVER_ADDRESS}:{OURS_PORT}");
    let words = with_common(workload, &target, &bench.time(), words);
    let client = bench.run(&bench.ours(End::Client, &words))?;
    let bytes = listening::interface_bytes(&server)? - before;
    let server = server.stop()?;
    Ok(AgentRun { record: parse(&client.stdout)?, client: client.usage, server, bytes })
}

/// The words of `hopbench http` against a URL, for a window like `3s`.
pub(crate) fn http_words(url: &str, window: &str, words: &str) -> Vec<String> {
    with_common("http", url, window, words)
}

/// The same after this warm-up.
pub(crate) fn http_after(warmup: Duration, url: &str, window: &str, words: &str) -> Vec<String> {
    after(warmup, "http", url, window, words)
}

/// The words of an evenly spaced rate from one thread.
pub(crate) fn rate_words(connections: u32, per_s: u64, pacing: Pacing) -> String {
    format!("-c {connections} --threads 1 --schedule rate --rate {per_s} --pacing {pacing}")
}

/// The words of a closed loop from one thread.
pub(crate) fn closed_words(connections: u32) -> String {
    format!("-c {connections} --threads 1 --schedule closed")
}

/// Runs `hopbench http` against a URL, for a window like `3s`.
///
/// # Errors
/// When it fails.
pub(crate) fn http(bench: &Bench, url: &str, window: &str, words: &str) -> Result<Completed> {
    against_url(bench, "http", url, window, words)
}

/// Runs a workload against a URL, for a window like `3s`.
///
/// # Errors
/// When it fails.
pub(crate) fn against_url(
    bench: &Bench,
    workload: &str,
    url: &str,
    window: &str,
    words: &str,
) -> Result<Completed> {
    bench.run(&bench.ours(End::Client, &with_common(workload, url, window, words)))
}

/// Runs a workload against a target of its own, for a window like `3s`; figures as
/// [`Target::account`].
///
/// # Errors
/// When either program fails or a request did.
pub(crate) fn against_target(
    bench: &Bench,
    workload: &str,
    kind: Kind,
    window: &str,
    words: &str,
) -> Result<Figures> {
    let target = Target::start(bench, kind)?;
    let client = against_url(bench, workload, &target.url(), window, words)?;
    let record = parse(&client.stdout)?;
    let per_s = metric(&record, "requests_per_s")?;
    // The warm-up is not in the record. Its rate is taken to be that of the window.
    let requests = per_s * (record.window_s + WARMUP.as_secs_f64());
    target.account(Answered { per_s, requests, client: client.usage })
}

/// The last record that ours printed, whatever it says.
///
/// # Errors
/// When there is none.
pub(crate) fn record(stdout: &str) -> Result<Record> {
    let line = stdout
        .lines()
        .rev()
        .find(|line| line.starts_with('{'))
        .context("hopbench printed no record")?;
    serde_json::from_str(line).context("record of hopbench")
}

/// The last record that ours printed.
///
/// # Errors
/// When there is none, or the trial was cut short, had errors or broke an invariant.
pub(crate) fn parse(stdout: &str) -> Result<Record> {
    let record = record(stdout)?;
    if let Some(why) = &record.incomplete {
        bail!("hopbench was cut short: {why}");
    }
    if let Some((reason, count)) = record.errors.iter().next() {
        bail!("{count} exchanges of hopbench failed: {reason}");
    }
    if let Some(broken) = record.invariants.iter().find(|invariant| !invariant.ok) {
        bail!("hopbench's record breaks the invariant {}: {}", broken.name, broken.detail);
    }
    Ok(record)
}

/// One of the record's metrics.
///
/// # Errors
/// When the record has none of that name.
pub(crate) fn metric(record: &Record, name: &str) -> Result<f64> {
    record
        .metrics
        .get(name)
        .copied()
        .with_context(|| format!("the record of `{}` has no `{name}`", record.workload))
}

/// One of the record's latencies.
///
/// # Errors
/// When the record has none of that name.
pub(crate) fn latency<'a>(record: &'a Record, name: &str) -> Result<&'a Latency> {
    record
        .latency
        .get(name)
        .with_context(|| format!("the record of `{}` has no `{name}`", record.workload))
}

fn with_common(workload: &str, target: &str, window: &str, words: &str) -> Vec<String> {
    after(WARMUP, workload, target, window, words)
}

fn after(warmup: Duration, workload: &str, target: &str, window: &str, words: &str) -> Vec<String> {
    let warmup = warmup.as_millis();
    // What answers a URL here is no agent, and has no session.
    let session = if target.contains("://") { "" } else { "--insecure" };
    split(&format!(
        "{workload} {target} -t {window} --warmup {warmup}ms --format json {session} {words}"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample() -> serde_json::Value {
        json!({
            "schema": hopbench_model::RECORD_SCHEMA, "run_id": "r", "path": "10.71.0.2:7474",
            "workload": "rr", "point": {"size": "1B"},
            "round": 1, "started_at": "2026-01-01T00:00:00Z", "window_s": 3.0,
            "limited_by": "unknown",
            "metrics": {"requests_per_s": 20000.0, "unsent": 0.0},
            "latency": {"service_ns": {
                "count": 60000, "mean": 45000.5, "stddev": 1.0, "min": 1, "p50": 44000, "p90": 2,
                "p99": 3, "p999": 4, "p9999": 5, "max": 6, "hdr": "",
            }},
            "cost": {"client": {"user_s": 0.5, "system_s": 1.0}, "server": {}, "nodes": []},
            "proof": [], "invariants": [{"name": "received_le_sent", "ok": true}], "warnings": [],
            "job": {}, "environment": {}
        })
    }

    #[test]
    fn the_last_record_is_read() {
        let printed = format!("a line for people\n{}\n", sample());
        let record = parse(&printed).unwrap();
        assert_eq!(metric(&record, "requests_per_s").unwrap(), 20_000.0);
        assert_eq!(latency(&record, "service_ns").unwrap().p50, 44_000);
        assert!(
            metric(&record, "received_bits_per_s")
                .unwrap_err()
                .to_string()
                .contains("received_bits_per_s")
        );
        assert!(latency(&record, "lateness_ns").is_err());
    }

    #[test]
    fn a_trial_that_did_not_go_as_asked_is_not_a_result() {
        let with = |field: &str, value: serde_json::Value| {
            let mut record = sample();
            record[field] = value;
            parse(&record.to_string())
        };
        assert!(
            with("incomplete", json!("connection lost"))
                .unwrap_err()
                .to_string()
                .contains("connection lost")
        );
        assert!(with("errors", json!({"timeout": 3})).unwrap_err().to_string().contains("timeout"));
        let broken = json!([{"name": "received_le_sent", "ok": false, "detail": "2 > 1"}]);
        assert!(with("invariants", broken).unwrap_err().to_string().contains("2 > 1"));
        assert!(parse("no record").is_err());
    }

    #[test]
    fn every_client_gets_the_common_words() {
        let words = with_common("rr", "10.71.0.2:7474", "3s", "--size 1").join(" ");
        assert_eq!(
            words,
            "rr 10.71.0.2:7474 -t 3s --warmup 500ms --format json --insecure --size 1"
        );
    }

    #[test]
    fn a_url_is_asked_without_a_session() {
        let words = with_common("http", "http://10.71.0.2/", "3s", "-c 32").join(" ");
        assert_eq!(words, "http http://10.71.0.2/ -t 3s --warmup 500ms --format json -c 32");
    }
}
