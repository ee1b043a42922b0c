//! k6: the JSON of `--summary-export`, or the data that `handleSummary` gets, whole or its metrics.
//! It states no executor, so a run with arrivals at a rate looks like a closed loop.

use hopbench_model::{Problem, Warning, WarningKind};

use crate::kinds::TestKind;
use crate::reading::Json;
use crate::stated::Stated;

/// One millisecond, ns.
const MILLISECOND: f64 = 1e6;

pub(super) fn is_it(json: &Json<'_>) -> bool {
    ["/metrics/iterations", "/metrics/http_reqs", "/http_reqs"].iter().any(|at| json.has(at))
}

pub(super) fn read(json: &Json<'_>) -> Result<Stated, Problem> {
    let metrics = if json.has("/metrics") { "/metrics" } else { "" };
    // Only `handleSummary` has its values one level deeper.
    let at = |metric: &str, field: &str| {
        let deep = format!("{metrics}/{metric}/values");
        let place = if json.has(&deep) { deep } else { format!("{metrics}/{metric}") };
        format!("{place}/{field}").trim_end_matches('/').to_owned()
    };
    let mut out = Stated::of(TestKind::Http);
    let count = json.needed(&at("http_reqs", "count"))?;
    let per_s = json.needed(&at("http_reqs", "rate"))?;
    let seconds = match json.amount("/state/testRunDurationMs")? {
        Some(ms) => ms / 1e3,
        None => count / per_s,
    };
    out.window_s = if seconds.is_finite() { seconds } else { 0.0 };
    let failed = match json.amount(&at("http_req_failed", "rate"))? {
        None => json.amount(&at("http_req_failed", "value"))?,
        share => share,
    };
    out.metric("requests", count);
    out.metric("requests_per_s", per_s);
    // A run can leave the failures uncounted.
    if let Some(share) = failed {
        let failed = (share.min(1.0) * count).round();
        out.exchanges(count, per_s, failed, count);
        out.error("failed, as k6 counts it", failed as u64);
    }
    if count > 0.0 {
        for (name, ms) in json.amounts(&at("http_req_duration", "")) {
            latency(&mut out, name, ms * MILLISECOND);
        }
    }
    let users = match json.amount(&at("vus_max", "max"))? {
        None => json.amount(&at("vus_max", "value"))?,
        users => users,
    };
    if let Some(users) = users {
        out.number("vus", users);
    }
    let dropped = json.amount(&at("dropped_iterations", "count"))?;
    if let Some(dropped) = dropped.filter(|dropped| *dropped > 0.0) {
        out.metric("dropped_iterations", dropped);
        out.warnings.push(Warning::new(
            WarningKind::Unsent,
            format!("k6 dropped {dropped} iterations, so its executor has a rate"),
            "the latency leaves out how long requests waited; give k6 more VUs",
        ));
    }
    Ok(out)
}

fn latency(out: &mut Stated, name: &str, ns: f64) {
    match name {
        "avg" => out.latency("mean", ns),
        "min" | "max" => out.latency(name, ns),
        "med" => out.percentile(50.0, ns),
        _ => {
            let percent = name.strip_prefix("p(").and_then(|name| name.strip_suffix(')'));
            if let Some(percent) = percent.and_then(|percent| percent.parse().ok()) {
                out.percentile(percent, ns);
            }
        }
    }
}
