//! The section of `push`: messages on a schedule.

use super::exchanges::{failures, schedule};
use super::figures::Figures;
use super::page::Page;
use crate::number::plain;

pub(super) fn write(page: &mut Page, figures: &mut Figures<'_>) {
    let total = figures.take("messages").map(|n| format!("{} in the window", plain(n)));
    let least = figures.take("min_messages_per_connection");
    let most = figures.take("max_messages_per_connection");
    let each = least
        .zip(most)
        .map(|(least, most)| format!("{} to {} on each connection", plain(least), plain(most)));
    page.join("messages", [figures.text("messages_per_s"), total, each]);
    page.join("sent", [figures.text("sent_messages_per_s"), figures.text("sent_bits_per_s")]);
    page.join(
        "received",
        [figures.text("received_messages_per_s"), figures.text("received_bits_per_s")],
    );
    schedule(page, figures);
    page.join(
        "retransmitted",
        [figures.text("retransmitted_bytes"), figures.phrase("retransmitted_segments", "segments")],
    );
    failures(page, figures, "errors");
    page.fields("note", &figures.record.explanation);
}
