//! The observation that a search is told of a trial.

use hopbench_model::{
    BrokenBound, Job, Record, SCHEDULE_KEPT, SECOND, SearchBound, SearchGoal, SearchSpec,
    TrialOutcome,
};
use hopbench_stats::{Histogram, Measurement};

use crate::campaign::trial::CPU_SHARE;

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

/// What a trial showed, and the bounds that it broke besides the limit of what is searched by. A
/// value that it does not have is not finite. A trial during which the testbed changed shows
/// nothing.
pub(super) fn seen(
    spec: &SearchSpec,
    job: &Job,
    record: &Record,
) -> Result<(Measurement, Vec<BrokenBound>), String> {
    if let TrialOutcome::Disturbed(changes) = record.outcome() {
        return Err(format!("the testbed changed: {changes}"));
    }
    let metric = |name: &str| record.metrics.get(name).copied();
    let value = match &spec.goal {
        SearchGoal::Knee { .. } => metric(throughput(job)),
        SearchGoal::Slo { percentile, .. } => response(record, *percentile),
        SearchGoal::Cpu { .. } => metric(CPU_SHARE),
        // What never left is nobody's loss.
        SearchGoal::Lossless { .. } => metric("lost_ratio").or_else(|| metric("error_ratio")),
    };
    let value = value.unwrap_or(f64::NAN);
    let broken = broken(spec, record);
    Ok((Measurement { value, within: value.is_finite() && broken.is_empty() }, broken))
}

/// The bounds that a trial broke besides the limit of what is searched by.
fn broken(spec: &SearchSpec, record: &Record) -> Vec<BrokenBound> {
    let metric = |name: &str| record.metrics.get(name).copied();
    let is_datagrams = metric("sent_packets_per_s").is_some();
    // The share that was kept of what was asked; the first that is too small counts.
    let kept = match &spec.goal {
        SearchGoal::Knee { .. } => Vec::new(),
        SearchGoal::Slo { .. } => {
            vec![(SearchBound::Unanswered, answered(record)), (SearchBound::Queued, paced(record))]
        }
        SearchGoal::Lossless { .. } | SearchGoal::Cpu { .. } if is_datagrams => {
            vec![(SearchBound::NotSent, sent(record)), (SearchBound::NotArrived, arrived(record))]
        }
        SearchGoal::Lossless { .. } | SearchGoal::Cpu { .. } => {
            vec![(SearchBound::NotDone, paced(record))]
        }
    };
    let short = kept.into_iter().find(|(_, share)| *share < SCHEDULE_KEPT);
    let short =
        short.map(|(bound, kept)| BrokenBound { bound, share: (1.0 - kept).clamp(0.0, 1.0) });
    // The loss that is searched by is no other bound.
    let is_bounded =
        !matches!(spec.goal, SearchGoal::Lossless { .. }) || metric("lost_ratio").is_some();
    // Of workloads without exchanges the errors are of sends, or there are none.
    let failed = metric("error_ratio").or_else(|| unsendable(record)).filter(|_| is_bounded);
    let failed = failed.filter(|share| *share > spec.errors_share);
    short
        .into_iter()
        .chain(failed.map(|share| BrokenBound { bound: SearchBound::Failed, share }))
        .collect()
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
/// load that was not carried. What came due very late does not count: an answer as fast as most
/// came after the window. That holds where nothing of before the window came in its place.
fn paced(record: &Record) -> f64 {
    let metric = |name: &str| record.metrics.get(name).copied();
    let due = metric("intended_per_s").unwrap_or(0.0) * record.window_s;
    let rate = metric("requests_per_s").or_else(|| metric("messages_per_s")).unwrap_or(0.0);
    let done = rate * record.window_s / (1.0 - metric("error_ratio").unwrap_or(0.0)).max(1e-9);
    // Not the response time: in it is the waiting of a load that is too high.
    let service_s =
        record.latency.get("service_ns").map_or(0.0, |service| service.p50 as f64 / SECOND as f64);
    let slack = EDGES + due / record.window_s * service_s;
    let in_time = if done + slack >= SCHEDULE_KEPT * due { 1.0 } else { done / due };
    if due > 0.0 { in_time.min(answered(record)) } else { 0.0 }
}

/// The share of the datagrams that were due and not lost for good which arrived while the window
/// lasted. Where less comes out than goes in, what is between them grows, be it the queue of a link
/// or the socket of a sender that it holds up. That is a rate which the path does not carry, even
/// if all of it arrives in the end.
fn arrived(record: &Record) -> f64 {
    let metric = |name: &str| record.metrics.get(name).copied();
    let Some(received) = metric("received_packets_per_s") else { return 1.0 };
    let due = metric("intended_per_s").unwrap_or(0.0)
        * (1.0 - metric("lost_ratio").unwrap_or(0.0))
        * record.window_s;
    // At the window's edges some are on their way, and a burst of them is one call.
    let a_call = metric("gso_segments").unwrap_or(1.0) * metric("batch_sends").unwrap_or(1.0);
    let slack = EDGES * a_call;
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

#[cfg(test)]
mod tests;
