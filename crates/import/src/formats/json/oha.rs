//! oha: the JSON of `--output-format json`. It states neither its connections nor its rate.

use hopbench_model::Problem;

use crate::kinds::TestKind;
use crate::reading::Json;
use crate::stated::Stated;

/// One second, ns.
const SECOND: f64 = 1e9;
/// The word for requests under way at the end. They did not fail.
const ABORTED: &str = "aborted due to deadline";

pub(super) fn is_it(json: &Json<'_>) -> bool {
    json.has("/summary/requestsPerSec") && json.has("/latencyPercentiles")
}

pub(super) fn read(json: &Json<'_>) -> Result<Stated, Problem> {
    let mut out = Stated::of(TestKind::Http);
    out.window_s = json.seconds("/summary/total", 1.0)?;
    // Every output has it: a file without it is cut off, or something else.
    json.needed("/summary/requestsPerSec")?;
    if !json.has("/statusCodeDistribution") {
        return Err(json.wrong("/statusCodeDistribution", "answers by status, as oha has them"));
    }
    let (mut answered, mut failed, mut unanswered) = (0.0, 0.0, 0.0);
    for (status, count) in json.amounts("/statusCodeDistribution") {
        answered += count;
        if status.parse::<u32>().is_ok_and(|status| status >= 400) {
            failed += count;
        }
        out.status(status, count as u64);
    }
    for (reason, count) in json.amounts("/errorDistribution") {
        if reason == ABORTED {
            out.setting(ABORTED, Some(&count.to_string()));
        } else {
            unanswered += count;
            out.error(reason, count as u64);
        }
    }
    // Its own rate counts requests without an answer.
    let per_s = answered / out.window_s;
    out.exchanges(answered, per_s, failed + unanswered, answered + unanswered);
    if answered > 0.0 {
        for (field, point) in [("fastest", "min"), ("average", "mean"), ("slowest", "max")] {
            if let Some(seconds) = json.amount(&format!("/summary/{field}"))? {
                out.latency(point, seconds * SECOND);
            }
        }
        for (name, seconds) in json.amounts("/latencyPercentiles") {
            if let Some(percent) = name.strip_prefix('p').and_then(|name| name.parse().ok()) {
                out.percentile(percent, seconds * SECOND);
            }
        }
    }
    Ok(out)
}
