//! The section of `ping`: ICMP echoes.

use super::exchanges::failures;
use super::figures::Figures;
use super::page::Page;

pub(super) fn write(page: &mut Page, figures: &mut Figures<'_>) {
    let sent = figures
        .phrase("transmitted", "transmitted")
        .or_else(|| figures.phrase("sent", "transmitted"));
    page.join(
        "echoes",
        [
            sent,
            figures.phrase("received", "received"),
            figures.phrase("lost", "lost"),
            figures.phrase("lost_ratio", "loss"),
            figures.phrase("duplicates", "duplicates"),
            figures.phrase("stale", "after the timeout"),
        ],
    );
    let rate = figures.text("requests_per_s");
    page.join("rate", [rate.map(|text| text.replace("/s", " echoes/s"))]);
    failures(page, figures, "errors");
    page.fields("note", &figures.record.explanation);
}
