//! The section of `udp`: packets one way, as the receiver counted them.

use super::exchanges::{failures, schedule};
use super::figures::Figures;
use super::page::Page;
use crate::number::{percent, plain};

pub(super) fn write(page: &mut Page, figures: &mut Figures<'_>) {
    for end in ["received", "sent"] {
        let packets = figures.text(&format!("{end}_packets_per_s"));
        let parts = [
            packets.map(|text| text.replace("/s", " packets/s")),
            figures.text(&format!("{end}_bits_per_s")),
        ];
        page.join(end, parts);
    }
    let ratio = figures.take("lost_ratio");
    let lost = figures.take("lost_packets").map(|count| {
        // The rates above are of the window: more may have arrived in it than left in it.
        let share = ratio.map(|ratio| format!(" ({})", percent(ratio))).unwrap_or_default();
        format!("{} packets{share} over the whole trial", plain(count))
    });
    page.join("lost", [lost]);
    figures.field(page, "reordered", "reordered");
    figures.field(page, "duplicates", "duplicates");
    let jitter = figures.text("jitter_ns").map(|text| format!("{text} (RFC 3550)"));
    page.join("jitter", [jitter]);
    schedule(page, figures);
    let mut many = |name: &str| figures.take(name).filter(|n| *n != 1.0);
    let segments = many("gso_segments").map(|n| format!("{} packets a send (GSO)", plain(n)));
    let sends = many("batch_sends").map(|n| format!("{} sends a call", plain(n)));
    page.join("offload", [segments, sends]);
    failures(page, figures, "errors");
    page.fields("note", &figures.record.explanation);
}
