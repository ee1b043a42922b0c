//! The figures of a trial over HTTP.

use hopbench_model::{Counter, EndReport, LatencyKind, Schedule, Warning, WarningKind};
use hopbench_stats::Histogram;

use super::workers::TARGET;
use super::{reason, sums};
use crate::workload::figures;
use crate::workload::{Figures, TrialReports};

/// The metrics that records can have besides those of all exchanges.
pub(in crate::workloads) const METRICS: &[&str] = &[
    "sent_bits_per_s",
    "received_bits_per_s",
    "connects",
    "reconnects",
    "response_body_bytes",
    "response_header_bytes",
    "unexpected_sizes",
];

/// Messages of gRPC in an answer, on average.
pub(in crate::workloads) const RESPONSE_MESSAGES: &str = "response_messages";

/// The figures of exchanges, of which each connection has so many at once.
pub(in crate::workloads) fn figures(trial: &TrialReports<'_>, streams: u32) -> Figures {
    let mut out = Figures::default();
    figures::exchanges_at_once(&mut out, trial, streams);
    figures::bit_rates(&mut out, "", trial.client);
    let connects = figures::in_window(trial.client, Counter::Connects);
    out.metric("connects", connects as f64);
    answers(&mut out, trial.client);
    figures::of_tls(&mut out, trial.client);
    if trial.job.schedule == Schedule::Closed {
        littles_law(&mut out, trial, streams);
    }
    if let Some(server) = trial.server.filter(|server| server.settings.contains_key(TARGET)) {
        let (answered, served) =
            (trial.client.drained.of(Counter::Completed), server.drained.of(Counter::Completed));
        out.invariant("answered_le_served", answered <= served, || {
            format!("{answered} answered, {served} served")
        });
    }
    if let Some(n) = trial.client.errors.get(reason::NO_LOCAL_PORT) {
        out.warnings.push(Warning::new(
            WarningKind::PortExhaustion,
            format!("{n} connections found no free local port"),
            "keep connections alive, widen net.ipv4.ip_local_port_range, or lower the rate",
        ));
    }
    out
}

/// Adds the flows' sums over the answers that were counted.
fn answers(out: &mut Figures, client: &EndReport) {
    let sum = |name: &str| client.extra.get(name).copied().unwrap_or(0.0);
    out.metric("reconnects", sum(sums::RECONNECTS));
    let counted = client.drained.of(Counter::Counted);
    if counted > 0 {
        out.metric("response_body_bytes", sum(sums::BODY_BYTES) / counted as f64);
        out.metric("response_header_bytes", sum(sums::HEADER_BYTES) / counted as f64);
        if let Some(messages) = client.extra.get(sums::MESSAGES) {
            out.metric(RESPONSE_MESSAGES, messages / counted as f64);
        }
    }
    let unexpected = sum(sums::UNEXPECTED_SIZES);
    if unexpected > 0.0 {
        out.metric("unexpected_sizes", unexpected);
        out.warnings.push(Warning::new(
            WarningKind::ReadBack,
            format!("{unexpected} of {counted} bodies were not as long as --expect-size says"),
            "compare `response_body_bytes` with what the server should send",
        ));
    }
    let limited = sum(sums::LIMITED);
    if limited > 0.0 {
        out.warnings.push(Warning::new(
            WarningKind::ReadBack,
            format!(
                "on {limited} connections the server takes fewer requests at once than --streams \
                 says"
            ),
            "raise the server's limit, or take fewer streams and more connections",
        ));
    }
    let surplus = sum(sums::SURPLUS);
    if surplus > 0.0 {
        out.warnings.push(Warning::new(
            WarningKind::Errors,
            format!(
                "{surplus} answers were followed by bytes that nobody asked for; their connections \
                 were closed"
            ),
            "look at the server's Content-Length, and at bodies in answers that must not have one",
        ));
    }
}

/// Exchanges under way at one time, on average, are rate times service time; in a closed loop there
/// is at most one a connection. The last exchange of each connection may end after the window, and
/// not more than the longest exchange after it.
fn littles_law(out: &mut Figures, trial: &TrialReports<'_>, at_once: u32) {
    let text = trial.client.latency.get(&LatencyKind::Service);
    let Some(service) = text.and_then(|text| Histogram::from_base64(text).ok()) else {
        return;
    };
    let spent_ns = service.mean() * service.count() as f64;
    let places = f64::from(trial.job.connections) * f64::from(at_once);
    let had_ns = places * (trial.client.window_ns + service.max()) as f64;
    // The mean of a histogram is right to 0.05 %, its maximum to 0.1 %.
    out.invariant("littles_law", spent_ns <= had_ns * 1.01, || {
        format!(
            "{spent_ns} ns of service on {} connections that had {had_ns} ns",
            trial.job.connections
        )
    });
}
