//! The figures that several workloads share.

use hopbench_model::{Counter, EndReport, SECOND, TcpTotals, Warning, WarningKind};

use crate::worker::secured;
use crate::workload::{Figures, TrialReports};

/// The metrics of all that asks and is answered, as [`exchanges`] sets them.
pub(crate) const EXCHANGES: &[&str] =
    &["requests_per_s", "requests", "errors", "error_ratio", "completed_per_s"];

/// The names of metrics in these lists, in order.
pub(crate) fn names(lists: &[&[&str]]) -> Vec<String> {
    lists.concat().into_iter().map(str::to_owned).collect()
}

/// A count between the edges of the window as a rate, per second: over the time between the two
/// readings, which can be a little more than the window.
pub(crate) fn per_s(end: &EndReport, counter: Counter) -> f64 {
    rate(end, in_window(end, counter))
}

/// The rate of a total that grew by `amount` between the edges of the window, per second.
pub(crate) fn rate(end: &EndReport, amount: u64) -> f64 {
    let ns = end.end.t_ns.saturating_sub(end.start.t_ns);
    if ns > 0 { amount as f64 * SECOND as f64 / ns as f64 } else { 0.0 }
}

/// Exchanges under way at an edge that a kept rate may have: at low rates more than 1 %.
const AT_THE_EDGES: f64 = 2.0;

/// The rate at which exchanges of the window were completed, per second, where `counted` of them
/// belong to it.
///
/// An exchange belongs to the window by its start, so a server that cannot keep up would look as if
/// it did: what was due is answered too, only later. Then the rate is what was completed between
/// the window's edges. While both agree within 1 %, the count that belongs is taken: it has no
/// edges to be cut at. In an open loop, where `burst` exchanges are due at a time, they may also
/// differ by [`AT_THE_EDGES`], or by a burst. In a closed loop (`None`) that much can be one
/// exchange that fills the window.
pub(crate) fn completed_per_s(end: &EndReport, counted: u64, burst: Option<u32>) -> f64 {
    let due = counted as f64 / seconds(end);
    if end.end.t_ns <= end.start.t_ns {
        // The edges were not read: the trial was cut before there was a second one.
        return due;
    }
    let done = per_s(end, Counter::Completed);
    let at_the_edges = burst.map_or(0.0, |burst| AT_THE_EDGES.max(f64::from(burst)) / seconds(end));
    let near = (0.01 * due).max(at_the_edges);
    if (due - done).abs() <= near { due } else { done }
}

/// The count between the edges of the window.
pub(crate) fn in_window(end: &EndReport, counter: Counter) -> u64 {
    end.end.counts.since(&end.start.counts).of(counter)
}

/// Length of the window, s; never zero.
pub(crate) fn seconds(end: &EndReport) -> f64 {
    end.window_ns.max(1) as f64 / SECOND as f64
}

/// Rates of sent and received payload of one end, under `prefix`.
pub(crate) fn bit_rates(figures: &mut Figures, prefix: &str, end: &EndReport) {
    for (name, counter) in [("sent", Counter::SentBytes), ("received", Counter::ReceivedBytes)] {
        figures.metric(&format!("{prefix}{name}_bits_per_s"), per_s(end, counter) * 8.0);
    }
}

/// Adds the client's figures of TLS.
pub(crate) fn of_tls(figures: &mut Figures, client: &EndReport) {
    for name in secured::FIGURES {
        if let Some(count) = client.extra.get(*name) {
            figures.metric(name, *count);
        }
    }
}

/// The kernels' totals of the trial's TCP connections between the edges of the window.
pub(crate) fn tcp(end: &EndReport) -> Option<TcpTotals> {
    Some(end.end.tcp?.since(&end.start.tcp.unwrap_or_default()))
}

/// Requests, failures and what an open loop has to confess.
pub(crate) fn exchanges(figures: &mut Figures, trial: &TrialReports<'_>) {
    exchanges_at_once(figures, trial, 1);
}

/// The same where each connection carries up to so many at once.
pub(crate) fn exchanges_at_once(figures: &mut Figures, trial: &TrialReports<'_>, at_once: u32) {
    let client = trial.client;
    let window = seconds(client);
    let drained = |counter| client.drained.of(counter);
    let is_open = trial.job.schedule.per_s().is_some();
    let burst = is_open.then_some(trial.job.burst);
    let per_s = completed_per_s(client, drained(Counter::Counted), burst);
    figures.metric("requests_per_s", per_s);
    figures.metric("requests", drained(Counter::Counted) as f64);
    let errors = drained(Counter::CountedErrors);
    figures.metric("errors", errors as f64);
    let all = drained(Counter::Counted) + errors;
    if all > 0 {
        figures.metric("error_ratio", errors as f64 / all as f64);
    }
    if errors > 0 {
        let reasons: Vec<_> =
            client.errors.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
        figures.warnings.push(Warning::new(
            WarningKind::Errors,
            format!("{errors} of {all} exchanges failed: {}", reasons.join(", ")),
            "look at the server first; failed exchanges are in no latency",
        ));
    }
    if is_open {
        let intended = drained(Counter::Intended);
        figures.metric("intended_per_s", intended as f64 / window);
        if client.end.t_ns > client.start.t_ns {
            figures.metric("completed_per_s", self::per_s(client, Counter::Completed));
        }
        figures.metric("queued", drained(Counter::Queued) as f64);
        let behind_stall = drained(Counter::BehindStall);
        if behind_stall > 0 {
            figures.metric("behind_stall", behind_stall as f64);
        }
        let unsent = drained(Counter::Unsent);
        figures.metric("unsent", unsent as f64);
        if unsent > 0 {
            figures.warnings.push(Warning::new(
                WarningKind::Unsent,
                format!("{unsent} requests were due and never sent: every connection was busy"),
                "raise --connections or lower --rate; the latencies shown leave these requests out",
            ));
        }
        let done = drained(Counter::Counted) + errors;
        let under_way = intended.saturating_sub(done);
        figures.invariant(
            "intended_are_accounted_for",
            done <= intended
                && under_way <= unsent + u64::from(trial.job.connections) * u64::from(at_once),
            || format!("{intended} intended, {done} done, {unsent} unsent"),
        );
    }
    histogram_holds_all(figures, client);
}

/// States that the histogram of service times holds every exchange that was counted.
pub(crate) fn histogram_holds_all(figures: &mut Figures, client: &EndReport) {
    let counted = client.drained.of(Counter::Counted);
    let in_histogram = client
        .latency
        .get(&hopbench_model::LatencyKind::Service)
        .and_then(|text| hopbench_stats::Histogram::from_base64(text).ok())
        .map_or(0, |histogram| histogram.count());
    figures.invariant("histogram_holds_every_request", counted == in_histogram, || {
        format!("{counted} requests, {in_histogram} in the histogram")
    });
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Counts, Tick};

    use super::*;

    #[test]
    fn the_rate_is_what_was_completed_in_the_window() {
        // A window of 100 ms, in which `done` were completed, and to which `counted` belong.
        let rate = |done, counted, burst: Option<u32>| {
            let mut counts = Counts::default();
            counts.set(Counter::Completed, done);
            let window_ns = SECOND / 10;
            let end = Tick { t_ns: window_ns.cast_signed(), counts, ..Tick::default() };
            completed_per_s(&EndReport { end, window_ns, ..EndReport::default() }, counted, burst)
        };
        for burst in [None, Some(1)] {
            assert_eq!(rate(1000, 1005, burst), 10_050.0, "near");
            assert_eq!(rate(900, 1000, burst), 9000.0, "behind");
        }
        // At a low rate one may lie across an edge. One that fills a window was not completed in
        // it.
        assert_eq!(rate(9, 10, Some(1)), 100.0);
        assert_eq!(rate(0, 1, None), 0.0);
        assert_eq!(rate(10, 11, None), 100.0);
        // The last burst is due shortly before the end, and done after it.
        assert_eq!(rate(144, 160, Some(16)), 1600.0);
        assert_eq!(rate(144, 160, Some(1)), 1440.0);
    }
}
