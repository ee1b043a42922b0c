//! fortio: the JSON of `load -json`, of HTTP, gRPC, TCP and UDP. Nighthawk and hopbench write it,
//! too.

use hopbench_model::{Problem, moment};
use serde_json::Value;

use crate::kinds::TestKind::{Exchanges, Http, PacedHttp};
use crate::reading::Json;
use crate::stated::Stated;

/// One second, ns.
const SECOND: f64 = 1e9;
/// Settings of a run that are `true` or `false`.
const SWITCHES: [(&str, &str); 5] = [
    ("/H2", "http2"),
    ("/HTTP10", "http10"),
    ("/Uniform", "uniform"),
    ("/NoCatchUp", "nocatchup"),
    ("/Jitter", "jitter"),
];

pub(super) fn is_it(json: &Json<'_>) -> bool {
    json.has("/RunType") && json.has("/DurationHistogram")
}

pub(super) fn read(json: &Json<'_>) -> Result<Stated, Problem> {
    let run_type = json.text("/RunType").unwrap_or_default();
    let is_max = json.text("/RequestedQPS") == Some("max");
    let asked = if is_max { None } else { json.amount("/RequestedQPS")? };
    let asked = asked.filter(|per_s| *per_s > 0.0);
    let is_http = ["HTTP", "GRPC"].iter().any(|known| run_type.starts_with(known));
    let mut out = Stated::of(match (is_http, asked) {
        (true, Some(_)) => PacedHttp,
        (true, None) => Http,
        (false, _) => Exchanges,
    });
    let count = json.needed("/DurationHistogram/Count")?;
    out.window_s = json.seconds("/ActualDuration", 1.0 / SECOND)?;
    if count > 0.0 {
        latency(json, &mut out)?;
    }
    answers(json, &mut out, count)?;
    out.word("run", run_type);
    if let Some(per_s) = asked {
        out.number("qps", per_s);
    }
    for (at, name) in SWITCHES {
        if json.is_on(at) {
            out.param(name, true);
        }
    }
    let threads = json.amount("/NumThreads")?;
    // In files of hopbench both are all connections.
    let each = if json.has("/Hopbench") { None } else { json.amount("/NumConnections")? };
    let each = each.unwrap_or(1.0).max(1.0);
    // Calls of gRPC that are made at once on one connection count as threads.
    let streams = json.amount("/Streams")?.unwrap_or(1.0).max(1.0);
    if streams > 1.0 {
        out.number("streams", streams);
    }
    out.connections = threads.map(|threads| (threads * each / streams) as u32);
    out.started_s = json.text("/StartTime").and_then(moment::parse);
    out.target(json.text("/URL").or_else(|| json.text("/Destination")));
    out.setting("labels", json.text("/Labels"));
    out.machine(json.text("/Version").map(|version| format!("fortio {version}")), None);
    Ok(out)
}

fn latency(json: &Json<'_>, out: &mut Stated) -> Result<(), Problem> {
    for (field, point) in [("Min", "min"), ("Avg", "mean"), ("Max", "max")] {
        if let Some(seconds) = json.amount(&format!("/DurationHistogram/{field}"))? {
            out.latency(point, seconds * SECOND);
        }
    }
    for index in 0..json.list("/DurationHistogram/Percentiles").len() {
        let at = |field: &str| format!("/DurationHistogram/Percentiles/{index}/{field}");
        let (percent, seconds) = (json.needed(&at("Percentile"))?, json.needed(&at("Value"))?);
        out.percentile(percent, seconds * SECOND);
    }
    Ok(())
}

/// Answers and failures. A code of `-1` is a call without an answer.
fn answers(json: &Json<'_>, out: &mut Stated, count: f64) -> Result<(), Problem> {
    let (mut answered, mut bad, mut all) = (0.0, 0.0, 0.0);
    let codes = json.amounts("/RetCodes");
    let has_codes = json.at("/RetCodes").is_some_and(Value::is_object);
    for (code, calls) in codes {
        all += calls;
        let number: Option<u32> = code.parse().ok();
        let is_good = number.is_some_and(|code| (200..300).contains(&code))
            || ["OK", "SERVING"].contains(&code);
        if is_good || number.is_some_and(|code| code >= 100) {
            answered += calls;
            out.status(code, calls as u64);
        } else {
            out.error(if code == "-1" { "no answer" } else { code }, calls as u64);
        }
        bad += if is_good { 0.0 } else { calls };
    }
    // Without codes the times are all that was counted.
    let (answered, all) = if has_codes { (answered, all) } else { (count, count) };
    // Its own count of failures is the better one: codes that count as good can be chosen.
    let failed = json.amount("/ErrorsDurationHistogram/Count")?.unwrap_or(bad);
    out.exchanges(answered, answered / out.window_s, failed, all);
    Ok(())
}
