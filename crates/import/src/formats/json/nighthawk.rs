//! Nighthawk: its own JSON, of `--output-format json`. It has an entry for each worker, and one for
//! all of them together, which is read. The options are those of each worker.

use std::collections::BTreeMap;

use hopbench_model::{Problem, Warning, WarningKind, moment};
use serde_json::Value;

use crate::kinds::TestKind::{Http, PacedHttp};
use crate::reading::Json;
use crate::reading::units::{TIMES, scaled};
use crate::stated::Stated;

/// The times from the send of a request to the end of its answer.
const SERVICE: &str = "benchmark_http_client.request_to_response";
/// Answers by their status. Those of the last class have an unusual one.
const CLASSES: [&str; 5] = ["2xx", "3xx", "4xx", "5xx", "xxx"];
/// Requests without an answer. Other counters count the same again, by the reason.
const UNANSWERED: [(&str, &str); 2] = [
    ("benchmark.stream_resets", "the stream was reset"),
    ("benchmark.pool_connection_failure", "no connection"),
];
/// Requests that were due and not sent: its connections had no room for them.
const UNSENT: &str = "benchmark.pool_overflow";
/// The percentiles that are looked for.
const PERCENTS: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

pub(super) fn is_it(json: &Json<'_>) -> bool {
    global(json).is_some()
}

/// Where all workers together are.
fn global(json: &Json<'_>) -> Option<String> {
    entry(json, "/results", "name", "global")
}

/// Where the entry of a list is that has this text in this field.
fn entry(json: &Json<'_>, list: &str, field: &str, text: &str) -> Option<String> {
    let index = json.list(list).iter().position(|entry| entry[field] == text)?;
    Some(format!("{list}/{index}"))
}

pub(super) fn read(json: &Json<'_>) -> Result<Stated, Problem> {
    let at = global(json);
    let at = at.ok_or_else(|| json.wrong("/results", "an entry with the name `global`"))?;
    // One worker has no entry of its own.
    let workers = json.list("/results").len().saturating_sub(1).max(1) as f64;
    let asked = json.amount("/options/requests_per_second")?.filter(|per_s| *per_s > 0.0);
    let mut out = Stated::of(if asked.is_some() { PacedHttp } else { Http });
    let length = format!("{at}/execution_duration");
    let ns = match time(json, &length)? {
        // Old versions say only how long it was to take.
        None => time(json, "/options/duration")?,
        found => found,
    };
    let ns = ns.filter(|ns| *ns > 0.0);
    out.window_s = ns.ok_or_else(|| json.wrong(&length, "a time of more than 0"))? / 1e9;
    let answered = answers(json, &mut out, &at)?;
    if answered > 0.0 {
        latency(json, &mut out, &at)?;
    }
    if let Some(per_s) = asked {
        out.number("qps", per_s * workers);
    }
    if workers > 1.0 {
        out.number("workers", workers);
    }
    let connections = json.amount("/options/connections")?;
    out.connections = connections.map(|each| (each * workers) as u32);
    let protocol = json.text("/options/protocol/value");
    for (name, is_on) in [
        ("http2", json.is_on("/options/h2") || protocol == Some("HTTP2")),
        ("http3", protocol == Some("HTTP3")),
        ("open_loop", json.is_on("/options/open_loop")),
    ] {
        if is_on {
            out.param(name, true);
        }
    }
    out.started_s = json.text(&format!("{at}/execution_start")).and_then(moment::parse);
    out.target(json.text("/options/uri"));
    let labels: Vec<&str> = json.list("/options/labels").iter().filter_map(Value::as_str).collect();
    out.setting("labels", Some(&labels.join(" ")));
    out.machine(version(json)?, None);
    Ok(out)
}

/// Answers and failures; how many were answered.
fn answers(json: &Json<'_>, out: &mut Stated, at: &str) -> Result<f64, Problem> {
    let mut counters = BTreeMap::new();
    for index in 0..json.list(&format!("{at}/counters")).len() {
        let of = |field: &str| format!("{at}/counters/{index}/{field}");
        let name = json.text(&of("name")).unwrap_or_default();
        counters.insert(name, json.needed(&of("value"))?);
    }
    // What never happened has no counter.
    let count = |name: &str| counters.get(name).copied().unwrap_or(0.0);
    let (mut answered, mut bad, mut unanswered) = (0.0, 0.0, 0.0);
    for class in CLASSES {
        let answers = count(&format!("benchmark.http_{class}"));
        answered += answers;
        bad += if ["2xx", "3xx"].contains(&class) { 0.0 } else { answers };
        out.status(class, answers as u64);
    }
    for (name, reason) in UNANSWERED {
        unanswered += count(name);
        out.error(reason, count(name) as u64);
    }
    let per_s = answered / out.window_s;
    out.exchanges(answered, per_s, bad + unanswered, answered + unanswered);
    let unsent = count(UNSENT);
    if unsent > 0.0 {
        out.metric("unsent_requests", unsent);
        out.warnings.push(Warning::new(
            WarningKind::Unsent,
            format!("Nighthawk left out {unsent} requests, for which no connection had room"),
            "the latency leaves out how long they waited; give Nighthawk more connections",
        ));
    }
    Ok(answered)
}

fn latency(json: &Json<'_>, out: &mut Stated, at: &str) -> Result<(), Problem> {
    let list = format!("{at}/statistics");
    let times = entry(json, &list, "id", SERVICE);
    let times = times.ok_or_else(|| json.wrong(&list, &format!("the statistic `{SERVICE}`")))?;
    let list = format!("{times}/percentiles");
    let mut stated = Vec::new();
    for index in 0..json.list(&list).len() {
        let of = |field: &str| format!("{list}/{index}/{field}");
        let percent = json.needed(&of("percentile"))? * 100.0;
        let ns = time(json, &of("duration"))?;
        stated.push((percent, ns.ok_or_else(|| json.wrong(&of("duration"), TIME))?));
    }
    let first = |percent: f64| stated.iter().find(|(found, _)| *found >= percent - 1e-9);
    // Old versions have the ends among the percentiles only.
    for (point, percent) in [("min", Some(0.0)), ("mean", None), ("max", Some(100.0))] {
        let ns = match time(json, &format!("{times}/{point}"))? {
            None => percent.and_then(first).map(|(_, ns)| *ns),
            found => found,
        };
        if let Some(ns) = ns {
            out.latency(point, ns);
        }
    }
    let mut others = Vec::new();
    for percent in PERCENTS {
        // As in its text for people: the first one from there on.
        let Some((found, ns)) = first(percent) else { continue };
        out.percentile(percent, *ns);
        if found - percent > 1e-9 {
            others.push(format!("p{percent} is its {} %", (found * 1e6).round() / 1e6));
        }
    }
    if !others.is_empty() {
        let told = others.join(", ");
        out.explanation.push(format!("Nighthawk states percentiles of its own: {told}"));
    }
    Ok(())
}

/// The form of a time.
const TIME: &str = "a time like `0.000123456s`";

/// A time, ns; `None` where it is absent.
fn time(json: &Json<'_>, at: &str) -> Result<Option<f64>, Problem> {
    let Some(found) = json.at(at) else { return Ok(None) };
    let ns = found.as_str().and_then(|text| scaled(text, TIMES));
    ns.map(Some).ok_or_else(|| json.wrong(at, TIME))
}

fn version(json: &Json<'_>) -> Result<Option<String>, Problem> {
    let part = |name: &str| json.amount(&format!("/version/version/{name}"));
    let parts = (part("major_number")?, part("minor_number")?, part("patch")?);
    Ok(match parts {
        (Some(major), Some(minor), Some(patch)) => {
            Some(format!("Nighthawk {major}.{minor}.{patch}"))
        }
        _ => None,
    })
}
