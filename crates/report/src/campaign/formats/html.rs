//! One page that needs nothing else: styles, the plotting library, data and all figures as tables.
//!
//! Its parts are the answer, the overview, the workloads and searches, and the evidence. Plots come
//! before tables, and tables are folded away. Every part has an id and a link.
//!
//! Without scripts everything but the plots is there. Nothing is fetched: a content policy in the
//! page forbids it.

use std::io::Read;

use flate2::read::DeflateDecoder;
use hopbench_analysis::Summary;
use hopbench_model::printable;
use maud::{DOCTYPE, PreEscaped, html};

use crate::campaign::format::SummaryFormat;
use crate::campaign::topics;
use crate::document::{body, charts, json};
use crate::format::Format;

const STYLE: &str = include_str!("../../../assets/report.css");
const SCRIPT: &str = include_str!("../../../assets/report.js");
/// The plotting library, and what it needs for intervals, as `build.rs` compressed them.
const LIBRARIES: [&[u8]; 2] = [
    include_bytes!(concat!(env!("OUT_DIR"), "/chart.umd.min.deflate")),
    include_bytes!(concat!(env!("OUT_DIR"), "/chartjs-chart-error-bars.umd.min.deflate")),
];
/// Forbids every fetch. The page's own scripts and styles are inline.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
/// What stands below the page.
const FOOT: &str = "Figures, intervals and comparisons for programs: summary.csv and hopbench \
                    report --format json.";

/// The format; see the [module](self).
pub(super) const FORMAT: SummaryFormat = Format {
    name: "html",
    summary: "one page with the answer, heat maps, plots and tables, for a browser, a phone and \
              paper",
    render,
};

/// The text of a library; empty where it cannot be: the page then has no plots.
fn inflated(library: &[u8]) -> String {
    let mut text = String::new();
    let read = DeflateDecoder::new(library).read_to_string(&mut text);
    if read.is_ok() { text } else { String::new() }
}

fn render(summary: &Summary) -> String {
    let document = topics::document(summary);
    let charts = charts(&document.blocks);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (printable::line(&document.title)) " - hopbench" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body(&document, "hopbench report", FOOT))
                script type="application/json" id="charts" { (json(&charts)) }
                @if !charts.is_empty() {
                    @for library in LIBRARIES { script { (PreEscaped(inflated(library))) } }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string() + "\n"
}
