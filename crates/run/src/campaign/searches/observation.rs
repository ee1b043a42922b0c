//! The observation that a search is told of a trial.

use hopbench_model::number;
use hopbench_model::{
    DISTURBED_SETTING, Job, Record, SCHEDULE_KEPT, SECOND, SearchGoal, SearchSpec, Warning, WarningKind,
};
use hopbench_stats::{Histogram, Seen};

use crate::campaign::trial::CPU_SHARE;
use crate::failed::failed_exchanges;

/// Sends and answers that may lie across an edge of the window.
const EDGES: f64 = 2.0;

/// The figure that a search goes by, as records call it.
pub(super) fn figure(goal: &SearchGoal, job: &Job) -> String {
    match goal {
        SearchGoal::Knee { .. } => throughput(job).to_owned(),
        SearchGoal::Slo { percentile, .. } => format!("response_ns p{percentile}"),
        SearchGoal::Cpu { .. } => CPU_SHARE.to_owned(),
        SearchGoal::Lossless { .. } => "loss".to_owned(),
    }
}

fn throughput(job: &Job) -> &'static str {
    job.kind().unit.metric()
}

/// What a trial showed; a value that it does not have is not finite.
///
/// # Errors
/// Why it shows nothing: the CPU is not known, or the testbed changed meanwhile.
pub(super) fn seen(spec: &SearchSpec, job: &Job, record: &Record) -> Result<Seen, String> {
    if let Some(changes) = record.settings.get(DISTURBED_SETTING) {
        return Err(format!("the testbed changed: {changes}"));
    }
    let metric = |name: &str| record.metrics.get(name).copied();
    let value = match &spec.goal {
        SearchGoal::Knee { .. } => metric(throughput(job)),
        SearchGoal::Slo { percentile, .. } => response(record, *percentile),
        SearchGoal::Cpu { .. } => {
            let why = || record.settings.get(CPU_SHARE).map_or("nobody read it", String::as_str);
            Some(metric(CPU_SHARE).ok_or_else(|| format!("its share of CPU is not known: {}", why()))?)
        }
        // What never left is nobody's loss.
        SearchGoal::Lossless { .. } => metric("lost_ratio").or_else(|| metric("error_ratio")),
    };
    let value = value.unwrap_or(f64::NAN);
    Ok(Seen { value, within: value.is_finite() && beyond(spec, record).is_none() })
}

/// The bound that a trial broke besides the limit of what is searched by, in words; `None`: it kept
/// all.
pub(super) fn beyond(spec: &SearchSpec, record: &Record) -> Option<String> {
    let metric = |name: &str| record.metrics.get(name).copied();
    let short = |kept: f64, what: &str| {
        (kept < SCHEDULE_KEPT).then(|| format!("{} {what}", number::brief_percent((1.0 - kept).clamp(0.0, 1.0))))
    };
    let is_datagrams = metric("sent_packets_per_s").is_some();
    let kept = match &spec.goal {
        SearchGoal::Knee { .. } => None,
        SearchGoal::Slo { .. } => short(answered(record), "of what was due had no answer")
            .or_else(|| short(paced(record), "of the asked rate was not done in the window: a queue grew")),
        SearchGoal::Lossless { .. } | SearchGoal::Cpu { .. } if is_datagrams => {
            let queued = || short(arrived(record), "had not arrived by the end of the window: a queue grew");
            short(sent(record), "never left the sender").or_else(queued)
        }
        SearchGoal::Lossless { .. } | SearchGoal::Cpu { .. } => {
            short(paced(record), "of the asked rate was not done in the window")
        }
    };
    // Of workloads without exchanges the errors are of sends, or there are none.
    let failed = metric("error_ratio").or_else(|| unsendable(record)).unwrap_or(0.0);
    // The loss that is searched by is no other bound.
    let is_bounded = !matches!(spec.goal, SearchGoal::Lossless { .. }) || metric("lost_ratio").is_some();
    let failed =
        (is_bounded && failed > spec.errors_share).then(|| format!("{} failed", number::brief_percent(failed)));
    kept.or(failed)
}

/// A percentile of the response times, ns.
fn response(record: &Record, percentile: f64) -> Option<f64> {
    let histogram = Histogram::from_base64(&record.latency.get("response_ns")?.hdr).ok()?;
    (histogram.count() > 0).then(|| histogram.percentile(percentile) as f64)
}

/// The share of the exchanges that were due in the window that came to an end, well or not.
fn answered(record: &Record) -> f64 {
    let metric = |name: &str| record.metrics.get(name).copied().unwrap_or(0.0);
    let due = metric("intended_per_s") * record.window_s;
    // Rates are not counts: half an exchange is none.
    if due > 0.5 { (metric("requests") + metric("errors")) / due } else { 0.0 }
}

/// The share of the asked rate that was done while the window lasted: what is done later is of a
/// load that was not carried. What came due so late that an answer as fast as most came after the
/// window does not count, where nothing of before the window came in its place.
fn paced(record: &Record) -> f64 {
    let metric = |name: &str| record.metrics.get(name).copied();
    let due = metric("intended_per_s").unwrap_or(0.0) * record.window_s;
    let rate = metric("requests_per_s").or_else(|| metric("messages_per_s")).unwrap_or(0.0);
    let done = rate * record.window_s / (1.0 - metric("error_ratio").unwrap_or(0.0)).max(1e-9);
    // Not the response time: in it is the waiting of a load that is too high.
    let service_s = record.latency.get("service_ns").map_or(0.0, |service| service.p50 as f64 / SECOND as f64);
    let slack = EDGES + due / record.window_s * service_s;
    let in_time = if done + slack >= SCHEDULE_KEPT * due { 1.0 } else { done / due };
    if due > 0.0 { in_time.min(answered(record)) } else { 0.0 }
}

/// The share of the datagrams that were due and not lost for good which arrived while the window
/// lasted. Where less comes out than goes in, what is between them grows, be it the queue of a link
/// or the socket of a sender that it holds up: that is a rate which the path does not carry, even
/// if all of it arrives in the end.
fn arrived(record: &Record) -> f64 {
    let metric = |name: &str| record.metrics.get(name).copied();
    let Some(received) = metric("received_packets_per_s") else { return 1.0 };
    let due = metric("intended_per_s").unwrap_or(0.0) * (1.0 - metric("lost_ratio").unwrap_or(0.0)) * record.window_s;
    // At the window's edges some are on their way, and a burst of them is one call.
    let slack = EDGES * metric("gso_segments").unwrap_or(1.0);
    if due > 0.0 { (received * record.window_s + slack) / due } else { 1.0 }
}

/// The share of the datagrams that were due and left.
fn sent(record: &Record) -> f64 {
    let metric = |name: &str| record.metrics.get(name).copied().unwrap_or(0.0);
    let asked = metric("intended_per_s");
    let unsent = metric("unsent") / (asked * record.window_s);
    if asked > 0.0 { (metric("sent_packets_per_s") / asked).min(1.0 - unsent) } else { 0.0 }
}

/// The share of the datagrams that the sender's kernel refused.
fn unsendable(record: &Record) -> Option<f64> {
    let (errors, sent) = (record.metrics.get("errors")?, record.metrics.get("sent_packets_per_s")?);
    let all = errors + sent * record.window_s;
    (all > 0.0).then(|| errors / all)
}

/// A load under which most exchanges fail is too high: that is what a search looks for, and no
/// error of the record.
pub(super) fn forgive(record: &mut Record) {
    if record.incomplete.is_some() || record.error.is_none() || record.error != failed_exchanges(record) {
        return;
    }
    record.warnings.extend(record.error.take().map(|what| {
        Warning::new(
            WarningKind::Errors,
            what,
            "the search takes the load as too high; where it is not, look at the server",
        )
    }));
}

#[cfg(test)]
mod tests;
