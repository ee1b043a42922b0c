//! JSON lines: one record a line, as it is kept in `records.jsonl`.

use std::collections::BTreeMap;

use hopbench_model::Record;

use crate::format::{Context, Format, RecordFormat};
use crate::text::json;

/// The format; see the [module](self).
pub(super) const FORMAT: RecordFormat = Format {
    name: "json",
    summary: "one record a line, with everything that is known of the trial",
    render,
};

fn render(records: &[Record], _context: &Context) -> String {
    records.iter().map(|record| json::line(&finite(record))).collect()
}

/// The record without figures that JSON has no number for. They would come back as `null`, which is
/// no metric, and a metric that is unknown is absent.
fn finite(record: &Record) -> Record {
    let mut record = record.clone();
    let keep = |figures: &mut BTreeMap<String, f64>| figures.retain(|_, value| value.is_finite());
    keep(&mut record.metrics);
    record.intervals.iter_mut().for_each(keep);
    keep(&mut record.cost.client);
    keep(&mut record.cost.server);
    for node in &mut record.cost.nodes {
        node.meters.values_mut().for_each(keep);
    }
    record
}
