//! Several records of one command in one table.

use std::collections::BTreeSet;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use hopbench_analysis::{RecordedJob, spoken};
use hopbench_model::{Latency, Record, Unit};

use crate::WIDTH;
use crate::number::{self, UNKNOWN, bit_rate, by_name, counted, per_s, percent, time_ns};
use crate::text::wrap::plain;

/// A row a record: what varies, the main figures, what limited it. `None` for less than two
/// records.
///
/// At most 80 columns wide.
pub fn sweep_table(records: &[Record]) -> Option<String> {
    if records.len() < 2 {
        return None;
    }
    let columns = columns(records);
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH as u16)
        .set_header(columns.iter().map(|column| plain(&column.title)));
    for record in records {
        table.add_row(columns.iter().map(|column| {
            (column.cell)(record).map_or_else(|| UNKNOWN.to_owned(), |text| plain(&text))
        }));
    }
    let fits = figures_fit(&columns, &table.column_max_content_widths());
    for (index, column) in columns.iter().enumerate() {
        let Some(shown) = table.column_mut(index) else {
            continue;
        };
        shown.set_padding((GAP, 0));
        if column.number {
            shown.set_cell_alignment(CellAlignment::Right);
        }
        if fits && column.whole() {
            shown.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    let mut out = String::new();
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    Some(out)
}

/// Blanks before each column.
const GAP: u16 = 2;
/// What a column of words gets at least, where figures are kept on one line.
const WORDS: u16 = 8;

/// Whether every figure fits on one line and leaves something for the words.
fn figures_fit(columns: &[Column], widths: &[u16]) -> bool {
    let needed: usize = columns
        .iter()
        .zip(widths)
        .map(|(column, width)| if column.whole() { *width } else { WORDS.min(*width) })
        .map(|width| usize::from(width) + usize::from(GAP))
        .sum();
    needed <= WIDTH
}

/// The text of a record's cell in a column; `None` where it has none.
type CellText = Box<dyn Fn(&Record) -> Option<String>>;

struct Column {
    title: String,
    /// Aligned to the right and kept on one line; words may be wrapped.
    number: bool,
    cell: CellText,
}

impl Column {
    /// Whether its cells must not be wrapped, if at all possible: figures, and single words.
    fn whole(&self) -> bool {
        self.number || !matches!(self.title.as_str(), "path" | "note")
    }
}

fn column(title: &str, number: bool, cell: impl Fn(&Record) -> Option<String> + 'static) -> Column {
    Column { title: title.to_owned(), number, cell: Box::new(cell) }
}

fn columns(records: &[Record]) -> Vec<Column> {
    let points: BTreeSet<&str> =
        records.iter().flat_map(|record| record.point.keys().map(String::as_str)).collect();
    let mut out = vec![
        column("workload", false, |record| Some(record.workload.clone())),
        column("path", false, |record| Some(record.path.clone())),
    ];
    if !points.contains("engine") && !differs(records, |record| record.workload.clone()) {
        out.push(column("engine", false, |record| {
            RecordedJob(&record.job).engine().map(str::to_owned)
        }));
    }
    // What is the same everywhere needs no column.
    out.retain(|column| differs(records, |record| (column.cell)(record)));
    for name in points {
        let key = name.to_owned();
        out.push(column(name, true, move |record| record.point.get(&key).and_then(spoken)));
    }
    if differs(records, |record| record.round) {
        out.push(column("round", true, |record| Some(record.round.to_string())));
    }
    out.extend(figures(records));
    out.push(column("limited by", false, |record| {
        Some(record.limited_by.clone()).filter(|by| !by.is_empty())
    }));
    if records.iter().any(|record| caveat(record).is_some()) {
        out.push(column("note", false, caveat));
    }
    out
}

fn differs<T: PartialEq>(records: &[Record], of: impl Fn(&Record) -> T) -> bool {
    records.windows(2).any(|pair| of(&pair[0]) != of(&pair[1]))
}

/// The figures that a line has room for.
fn figures(records: &[Record]) -> Vec<Column> {
    let mixed = differs(records, |record| record.workload.clone());
    let Some(unit) = records.first().map(|record| record.kind().unit) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    match unit {
        // A column for each sort of rate would not fit.
        _ if mixed => out.push(column("rate", true, main_rate)),
        Unit::Bits => out.extend([
            metric("received", "received_bits_per_s", bit_rate),
            metric("sent", "sent_bits_per_s", bit_rate),
        ]),
        Unit::Messages => out.extend([
            metric("messages/s", "messages_per_s", per_s),
            metric("received", "received_bits_per_s", bit_rate),
        ]),
        Unit::Packets => out.extend([
            metric("packets/s", "received_packets_per_s", per_s),
            metric("received", "received_bits_per_s", bit_rate),
        ]),
        Unit::Echoes => out.push(metric("received", "received", number::plain)),
        Unit::Requests | Unit::Connections => {
            out.push(metric("requests/s", "requests_per_s", per_s));
        }
    }
    if !mixed {
        out.extend([column("lost", true, lost), column("errors", true, errors)]);
    }
    out.extend([
        column("p50", true, |record| percentile(record, |latency| latency.p50)),
        column("p99", true, |record| percentile(record, |latency| latency.p99)),
    ]);
    // Only what at least one record can fill.
    out.retain(|column| records.iter().any(|record| (column.cell)(record).is_some()));
    out
}

fn metric(title: &str, name: &'static str, text: fn(f64) -> String) -> Column {
    column(title, true, move |record| record.metrics.get(name).copied().map(text))
}

/// The rate that a workload is measured for, with its unit.
fn main_rate(record: &Record) -> Option<String> {
    let names =
        ["requests_per_s", "messages_per_s", "received_packets_per_s", "received_bits_per_s"];
    names.iter().find_map(|name| record.metrics.get(*name).map(|value| by_name(name, *value)))
}

fn lost(record: &Record) -> Option<String> {
    record.metrics.get("lost_ratio").copied().map(percent)
}

/// Failures, where there are any.
fn errors(record: &Record) -> Option<String> {
    let errors = record.metrics.get("errors").copied()?;
    (errors != 0.0).then(|| number::plain(errors))
}

/// Of the latency that a user feels: the response time where there is one.
fn percentile(record: &Record, of: fn(&Latency) -> u64) -> Option<String> {
    let latency = ["response_ns", "service_ns", "delay_ns"]
        .iter()
        .find_map(|kind| record.latency.get(*kind))?;
    (latency.count > 0).then(|| time_ns(of(latency) as f64))
}

/// Why a row must not be taken as it stands.
fn caveat(record: &Record) -> Option<String> {
    let mut out = Vec::new();
    if record.incomplete.is_some() {
        out.push("incomplete".to_owned());
    }
    if record.invariants.iter().any(|invariant| !invariant.ok) {
        out.push("violated".to_owned());
    }
    if !record.warnings.is_empty() {
        out.push(counted(record.warnings.len() as u64, "warning", "warnings"));
    }
    (!out.is_empty()).then(|| out.join(", "))
}
