//! `udp`: packets one way, as the receiver counted them.

use super::exchanges::failures;
use super::figures::Figures;
use super::page::Page;
use crate::number::{percent, plain};

pub(super) fn write(page: &mut Page, figures: &mut Figures<'_>, notes: &[String]) {
    for end in ["received", "sent"] {
        Figures::join(
            page,
            end,
            [
                figures
                    .text(&format!("{end}_packets_per_s"))
                    .map(|text| text.replace("/s", " packets/s")),
                figures.text(&format!("{end}_bits_per_s")),
                figures.phrase(&format!("{end}_packets"), "packets"),
            ],
        );
    }
    let ratio = figures.take("loss_ratio");
    Figures::join(
        page,
        "lost",
        [figures.take("lost").map(|n| match ratio {
            Some(ratio) => format!("{} packets ({})", plain(n), percent(ratio)),
            None => format!("{} packets", plain(n)),
        })],
    );
    figures.field(page, "reordered", "reordered");
    figures.field(page, "duplicates", "duplicates");
    let jitter = figures
        .text("jitter_ns")
        .map(|text| format!("{text} (RFC 3550)"));
    Figures::join(page, "jitter", [jitter]);
    failures(page, figures, "errors");
    page.fields("note", notes);
}
