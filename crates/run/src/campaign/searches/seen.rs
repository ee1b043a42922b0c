//! What a search is told of a trial.

use hopbench_model::{Job, Record, SCHEDULE_KEPT, SearchGoal, SearchSpec, Warning, WarningKind};
use hopbench_stats::{Histogram, Seen};

use crate::campaign::trial::CPU_SHARE;
use crate::failed::failed_exchanges;

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
    hopbench_load::workload(&job.workload).map_or("requests_per_s", |workload| workload.throughput())
}

/// What a trial showed; a value that it does not have is not finite.
///
/// # Errors
/// Why it shows nothing: the CPU is not known.
pub(super) fn seen(spec: &SearchSpec, job: &Job, record: &Record) -> Result<Seen, String> {
    let metric = |name: &str| record.metrics.get(name).copied();
    let (value, kept) = match &spec.goal {
        SearchGoal::Knee { .. } => (metric(throughput(job)), true),
        SearchGoal::Slo { percentile, .. } => (response(record, *percentile), answered(record) >= SCHEDULE_KEPT),
        SearchGoal::Cpu { .. } => {
            let why = || record.settings.get(CPU_SHARE).map_or("nobody read it", String::as_str);
            let share = metric(CPU_SHARE).ok_or_else(|| format!("its share of CPU is not known: {}", why()))?;
            (Some(share), paced(record) >= SCHEDULE_KEPT)
        }
        SearchGoal::Lossless { .. } => {
            // What never left is nobody's loss.
            (metric("lost_ratio").or_else(|| metric("error_ratio")), paced(record) >= SCHEDULE_KEPT)
        }
    };
    let value = value.unwrap_or(f64::NAN);
    // Of workloads without exchanges the errors are of sends, or there are none.
    let failed = metric("error_ratio").or_else(|| unsendable(record)).unwrap_or(0.0);
    // The loss that is searched by is no other bound.
    let is_bounded = !matches!(spec.goal, SearchGoal::Lossless { .. }) || metric("lost_ratio").is_some();
    Ok(Seen { value, within: kept && value.is_finite() && (failed <= spec.errors_share || !is_bounded) })
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

/// The share of the asked rate that was done while the window lasted: what is done later is of a load that was not carried.
fn paced(record: &Record) -> f64 {
    let metric = |name: &str| record.metrics.get(name).copied();
    if metric("sent_packets_per_s").is_some() {
        return sent(record);
    }
    let asked = metric("intended_per_s").unwrap_or(0.0);
    let done = metric("requests_per_s").unwrap_or(0.0) / (1.0 - metric("error_ratio").unwrap_or(0.0)).max(1e-9);
    if asked > 0.0 { (done / asked).min(answered(record)) } else { 0.0 }
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

/// A load under which most exchanges fail is too high: that is what a search looks for, and no error of the record.
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
