//! Formats of whole runs.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "fixtures and helpers of tests fail by panicking, say what they skip, and time \
              themselves"
)]

mod answer;
mod bytes;
mod comparisons;
mod curves;
mod equal;
mod export;
mod figures;
pub(crate) mod fixture;
mod golden;
mod live;
mod maps;
pub(crate) mod mesh;
mod noise;
mod page;
mod peers;
mod profiled;
mod proxies;
mod rows;
mod saturated;
pub(crate) mod searched;
mod searches;
mod size;
mod sizes;
mod subjects;
pub(crate) mod sure;
mod told;
mod wide;

use hopbench_report::campaign::{RunData, Summary, summary_format};

use fixture::Made;

pub(crate) fn campaign(made: &Made) -> RunData {
    let mut campaign = RunData::new(&made.run);
    made.records.iter().for_each(|record| campaign.add(record));
    campaign
}

pub(crate) fn summary(made: &Made) -> Summary {
    campaign(made).into_summary()
}

pub(crate) fn render(made: &Made, format: &str) -> String {
    (summary_format(format).expect("a format that exists").render)(&summary(made))
}
