//! The section of `rr`, `crr`, `http` and of workloads that are not known here: requests and
//! answers.

use hopbench_analysis::RecordedJob;

use super::figures::Figures;
use super::page::Page;
use crate::number::{counted, percent, plain};

pub(super) fn write(page: &mut Page, figures: &mut Figures<'_>) {
    let total = figures.take("requests").map(|n| format!("{} in the window", plain(n)));
    page.join("requests", [figures.text("requests_per_s"), total]);
    schedule(page, figures);
    page.join(
        "connections",
        [
            figures.phrase("connections_per_s", "opened and closed"),
            figures.phrase("connects", "opened in the window"),
            figures.phrase("reconnects", "again"),
            figures.phrase("no_local_port", "found no local port"),
            figures.phrase("left_open_by_server", "left open by the server"),
        ],
    );
    page.join(
        "mean answer",
        [
            figures.phrase("response_body_bytes", "of body"),
            figures.phrase("response_header_bytes", "of header"),
            figures.phrase("unexpected_sizes", "of another size than expected"),
        ],
    );
    page.join(
        "received",
        [figures.text("received_bits_per_s"), figures.text("received_bytes_per_s")],
    );
    page.join("sent", [figures.text("sent_bits_per_s"), figures.text("sent_bytes_per_s")]);
    page.join(
        "lost",
        [
            figures.phrase("lost", "datagrams"),
            figures.text("lost_ratio"),
            figures.phrase("stale", "answers came after the timeout"),
        ],
    );
    page.join("retransmitted", [figures.phrase("retransmitted_segments", "segments")]);
    statuses(page, figures);
    failures(page, figures, "errors");
    page.fields("note", &figures.record.explanation);
}

/// Writes what an open loop was asked for and what became of it.
pub(super) fn schedule(page: &mut Page, figures: &mut Figures<'_>) {
    let asked =
        RecordedJob(&figures.record.job).schedule().and_then(hopbench_model::Schedule::per_s);
    let intended = figures.text("intended_per_s");
    page.join(
        "schedule",
        [
            intended.map(|text| match asked {
                Some(asked) => format!("{text} intended of {}/s asked for", plain(asked)),
                None => format!("{text} intended"),
            }),
            figures.phrase("completed_per_s", "completed in the window"),
            figures.phrase("queued", "had to wait"),
            figures.phrase("behind_stall", "late behind a stall of the answers"),
            figures.phrase("late", "sent late"),
            figures.phrase("unsent", "never sent"),
        ],
    );
}

fn statuses(page: &mut Page, figures: &Figures<'_>) {
    let texts: Vec<_> =
        figures.record.statuses.iter().map(|(status, n)| format!("{status}: {n}")).collect();
    page.field("statuses", &texts.join(", "));
}

/// The number of failed exchanges, by reason.
pub(super) fn failures(page: &mut Page, figures: &mut Figures<'_>, metric: &str) {
    let failed = figures.take(metric);
    let ratio = figures.take("error_ratio");
    let reasons: Vec<_> =
        figures.record.errors.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    if failed.is_none() && reasons.is_empty() {
        return;
    }
    let known: u64 = figures.record.errors.values().fold(0, |sum, n| sum.saturating_add(*n));
    let mut text = failed.map_or_else(|| counted(known, "failure", "failures"), plain);
    if let Some(ratio) = ratio.filter(|r| *r != 0.0) {
        text.push_str(&format!(" ({})", percent(ratio)));
    }
    if !reasons.is_empty() {
        text.push_str(&format!(": {}", reasons.join(", ")));
    }
    page.field("errors", &text);
}
