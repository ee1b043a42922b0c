//! wrk: the text of a run, with or without `--latency`.

use hopbench_model::Problem;

use crate::kinds::TestKind;
use crate::reading::units::{behind, count, number, scaled, split};
use crate::reading::{Line, Text};
use crate::stated::Stated;

/// Times, ns. Of all tools only these have minutes.
const TIMES: &[(&str, f64)] = &[("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 6e10), ("h", 3.6e12)];
/// The mark of wrk2 in the heads of its percentiles.
pub(super) const OF_WRK2: &str = "HdrHistogram";

pub(super) fn is_it(text: &Text<'_>) -> bool {
    text.find(&is_head).is_some()
}

pub(super) fn read(text: &Text<'_>) -> Result<Stated, Problem> {
    if let Some(line) = text.find(&|line| line.contains(OF_WRK2)) {
        return Err(text.wrong(line, "the output of wrk; take --tool wrk2"));
    }
    let mut out = summary(text, TestKind::Http)?;
    if let Some(head) = text.find(&|line| line == "Latency Distribution") {
        percentiles(text, head, &mut out, TestKind::Http.latency());
    }
    if let Some(late) = out.settings.get("timeouts") {
        out.explanation.push(format!("wrk leaves {late} late answers out of its latencies"));
    }
    Ok(out)
}

fn is_head(line: &str) -> bool {
    line.starts_with("Running ") && line.contains(" test @ ")
}

/// All that wrk and wrk2 have in common.
pub(super) fn summary(text: &Text<'_>, kind: TestKind) -> Result<Stated, Problem> {
    let mut out = Stated::of(kind);
    let head = text.only(&is_head, "a line `Running 10s test @ URL`")?;
    out.target(head.text.split_once(" test @ ").map(|(_, url)| url));

    let setup = text.needed(&|line| line.contains(" threads and "), "threads and connections")?;
    let both = setup.text.split_once(" threads and ").and_then(|(threads, rest)| {
        Some((count(threads)?, count(rest.strip_suffix("connections")?)?))
    });
    let (threads, connections) = text.value(setup, both, "`2 threads and 10 connections`")?;
    out.param("threads", threads);
    out.connections = u32::try_from(connections).ok();

    let done =
        text.needed(&|line| line.contains(" requests in "), "a line `N requests in TIME`")?;
    let parts = done.text.split_once(" requests in ").and_then(|(requests, rest)| {
        Some((number(requests)?, scaled(rest.split(", ").next()?, TIMES)?))
    });
    let (requests, ns) = text.value(done, parts, "`56981 requests in 1.00s, 8.91MB read`")?;
    out.window_s = ns / 1e9;
    let rate = text.needed_field("Requests/sec:")?;
    let per_s = text.value(rate, number(rate.text), "requests a second")?;

    let failed = failures(text, &mut out)?;
    out.exchanges(
        requests,
        per_s,
        failed.of_answers + failed.of_others,
        requests + failed.of_others,
    );
    // Without an answer the latency is 0, and says nothing.
    let is_latency = |line: &str| line.starts_with("Latency ") && !line.contains("Distribution");
    let latency = text.needed(&is_latency, "a line `Latency` with mean and maximum")?;
    if requests > 0.0 {
        let times: Option<Vec<f64>> = latency
            .text
            .split_whitespace()
            .skip(1)
            .take(3)
            .map(|time| scaled(time, TIMES))
            .collect();
        let times = times.filter(|times| times.len() == 3);
        let times = text.value(latency, times, "`Latency 1.19ms 2.01ms 16.04ms 86.93%`")?;
        out.latency("mean", times[0]);
        out.latency("max", times[2]);
    }
    Ok(out)
}

/// Failures: answers that are bad, and requests without one.
struct Failed {
    of_answers: f64,
    of_others: f64,
}

fn failures(text: &Text<'_>, out: &mut Stated) -> Result<Failed, Problem> {
    let mut failed = Failed { of_answers: 0.0, of_others: 0.0 };
    if let Some(line) = text.field("Socket errors:") {
        for reason in ["connect", "read", "write"] {
            let value = behind(line.text, &format!("{reason} "));
            let value = text.value(line, value, "`connect 0, read 3, write 0, timeout 0`")?;
            failed.of_others += value;
            out.error(reason, value as u64);
        }
        // wrk has answers here that came too late, which are among the requests. wrk2 counts a
        // connection that waits again and again. Neither is a further failure.
        let late = behind(line.text, "timeout ").filter(|late| *late > 0.0);
        out.setting("timeouts", late.map(|late| late.to_string()).as_deref());
    }
    if let Some(line) = text.field("Non-2xx or 3xx responses:") {
        failed.of_answers = text.value(line, number(line.text), "a number of answers")?;
        out.error("status from 400 on", failed.of_answers as u64);
    }
    Ok(failed)
}

/// The percentiles in the lines below a head, up to a line that has none.
pub(super) fn percentiles(text: &Text<'_>, head: Line<'_>, out: &mut Stated, latency: &str) {
    let requests = out.metrics.get("requests").copied().unwrap_or(0.0);
    let percentile = |line: Line<'_>| {
        let (percent, rest) = split(line.text)?;
        Some((percent, scaled(rest.strip_prefix('%')?, TIMES)?))
    };
    for (percent, ns) in text.behind(head).map_while(percentile) {
        if requests > 0.0 {
            out.percentile_of(latency, percent, ns);
        }
    }
}
