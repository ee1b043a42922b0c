//! `ping`: ICMP echoes.

use super::exchanges::failures;
use super::figures::Figures;
use super::page::Page;

pub(super) fn write(page: &mut Page, figures: &mut Figures<'_>, notes: &[String]) {
    let sent = figures.phrase("transmitted", "transmitted").or_else(|| figures.phrase("sent", "transmitted"));
    Figures::join(
        page,
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
    Figures::join(page, "requests", [figures.text("requests_per_s")]);
    failures(page, figures, "errors");
    page.fields("note", notes);
}
