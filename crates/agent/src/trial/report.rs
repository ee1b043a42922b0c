//! The part of an end's report that its workers wrote down.

use hopbench_load::Recorder;
use hopbench_model::EndReport;

/// Puts the latencies, the answers, the failures and the workload's own figures into `report`.
pub(super) fn add_recorded(report: &mut EndReport, recorder: &Recorder) {
    for (kind, histogram) in recorder.histograms() {
        report.latency.insert(kind, histogram.to_base64());
    }
    let (statuses, errors, extra) = recorder.tallies();
    report.statuses = statuses.iter().map(|(status, n)| (status.to_string(), *n)).collect();
    report.errors = errors.iter().map(|(reason, n)| (reason.to_string(), *n)).collect();
    report.extra = extra
        .iter()
        .filter(|(_, v)| v.is_finite())
        .map(|(name, v)| ((*name).to_owned(), *v))
        .collect();
}
