//! The section of `stream`: the account of every byte.

use super::figures::Figures;
use super::page::Page;
use crate::number::{bytes, percent};

pub(super) fn write(page: &mut Page, figures: &mut Figures<'_>) {
    let split = ["to_server_", "from_server_"]
        .iter()
        .any(|prefix| figures.record.metrics.keys().any(|name| name.starts_with(prefix)));
    let mut derived = Vec::new();
    if split {
        // The sums of both directions first, then each direction.
        figures.field(page, "received", "received_bits_per_s");
        figures.field(page, "sent", "sent_bits_per_s");
        for (prefix, title) in
            [("to_server_", "  to the server"), ("from_server_", "  from the server")]
        {
            page.row(title);
            derived.extend(direction(page, figures, prefix));
        }
    } else {
        derived.extend(direction(page, figures, ""));
    }
    let told = &figures.record.explanation;
    // Old records of runs have none.
    page.fields("difference", if told.is_empty() { &derived } else { told });
}

/// The figures of one direction; answers with the sentence that they make.
fn direction(page: &mut Page, figures: &mut Figures<'_>, prefix: &str) -> Option<String> {
    let name = |metric: &str| format!("{prefix}{metric}");
    let label = |label: &str| {
        if prefix.is_empty() { label.to_owned() } else { format!("  {label}") }
    };
    figures.field(page, &label("received"), &name("received_bits_per_s"));
    figures.field(page, &label("sent"), &name("sent_bits_per_s"));
    figures.field(page, &label("acknowledged"), &name("acknowledged_bits_per_s"));
    let again = figures.take(&name("retransmitted_bytes"));
    page.join(
        &label("retransmitted"),
        [again.map(bytes), figures.phrase(&name("retransmitted_segments"), "segments")],
    );
    let queued = figures.take(&name("queued_bytes"));
    let unread = figures.take(&name("receive_queue_bytes"));
    page.join(
        &label("queued"),
        [
            queued.map(|n| format!("{} at the sender", bytes(n))),
            unread.map(|n| format!("{} at the receiver", bytes(n))),
        ],
    );
    figures.field(page, &label("smoothed RTT"), &name("smoothed_rtt_ns"));
    let window = figures.take(&name("receive_window_limited_ratio"));
    let buffer = figures.take(&name("send_buffer_limited_ratio"));
    page.join(
        &label("sender waited"),
        [
            window.map(|r| format!("{} of its busy time for the receive window", percent(r))),
            buffer.map(|r| format!("{} for its send buffer", percent(r))),
        ],
    );
    let missing = figures.take(&name("written_minus_received_bytes"))?;
    let whose = match prefix {
        "" => String::new(),
        prefix => format!("{}: ", prefix.trim_end_matches('_').replace('_', " ")),
    };
    let mut parts = Vec::new();
    parts.extend(queued.map(|n| format!("{} in the sender's queue", bytes(n))));
    parts.extend(unread.map(|n| format!("{} received and not yet read", bytes(n))));
    parts.extend(
        again.map(|n| format!("{} sent again, which no rate above counts twice", bytes(n))),
    );
    let end = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    Some(format!("{whose}{} written and not received when the window ended{end}", bytes(missing)))
}
