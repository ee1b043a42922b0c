//! Several records of one command in one table.

use std::collections::BTreeSet;

use hopbench_analysis::{RecordedJob, spoken};
use hopbench_model::{Latency, Record, Unit};

use crate::WIDTH;
use crate::document::{Cell, Column as Head, Document, Kind, Row, Table, terminal};
use crate::number::{self, UNKNOWN, bit_rate, by_name, counted, per_s, percent, time_ns};

/// A row a record: what varies, the main figures, what limited it. `None` for less than two
/// records.
///
/// What does not fit in 80 columns comes in a further block.
pub fn sweep_table(records: &[Record]) -> Option<String> {
    if records.len() < 2 {
        return None;
    }
    let (heads, cells): (Vec<Head>, Vec<CellText>) =
        columns(records).into_iter().map(|column| (column.head, column.cell)).unzip();
    let text =
        |record: &Record, cell: &CellText| cell(record).unwrap_or_else(|| UNKNOWN.to_owned());
    let row = |record| Row::of(cells.iter().map(|cell| Cell::from(text(record, cell))));
    let table = Table {
        caption: String::new(),
        is_titled: false,
        kind: Kind::Figures,
        columns: heads,
        rows: records.iter().map(row).collect(),
    };
    let page = Document { title: String::new(), facts: Vec::new(), blocks: vec![table.into()] };
    Some(terminal(&page, WIDTH).trim_start_matches('\n').to_owned())
}

/// The text of a record's cell in a column; `None` where it has none.
type CellText = Box<dyn Fn(&Record) -> Option<String>>;

struct Column {
    head: Head,
    cell: CellText,
}

fn column(head: Head, cell: impl Fn(&Record) -> Option<String> + 'static) -> Column {
    Column { head, cell: Box::new(cell) }
}

/// A column that names the rows.
fn name(title: &str, cell: impl Fn(&Record) -> Option<String> + 'static) -> Column {
    column(Head::name(title), cell)
}

/// A column of figures.
fn figure(title: &str, cell: impl Fn(&Record) -> Option<String> + 'static) -> Column {
    column(Head::number(title, ""), cell)
}

fn columns(records: &[Record]) -> Vec<Column> {
    let points: BTreeSet<&str> =
        records.iter().flat_map(|record| record.point.keys().map(String::as_str)).collect();
    let mut out = vec![
        name("workload", |record| Some(record.workload.clone())),
        name("path", |record| Some(record.path.clone())),
    ];
    if !points.contains("engine") && !differs(records, |record| record.workload.clone()) {
        out.push(name("engine", |record| RecordedJob(&record.job).engine().map(str::to_owned)));
    }
    // What is the same everywhere needs no column.
    out.retain(|column| differs(records, |record| (column.cell)(record)));
    for point in points {
        let key = point.to_owned();
        out.push(name(point, move |record| record.point.get(&key).and_then(spoken)));
    }
    if differs(records, |record| record.round) {
        out.push(name("round", |record| Some(record.round.to_string())));
    }
    out.extend(figures(records));
    out.push(column(Head::words("limited by").short(), |record| {
        Some(record.limited_by.clone()).filter(|by| !by.is_empty())
    }));
    if records.iter().any(|record| caveat(record).is_some()) {
        out.push(column(Head::words("note"), caveat));
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
        _ if mixed => out.push(figure("rate", main_rate)),
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
        out.extend([figure("lost", lost), figure("errors", errors)]);
    }
    out.extend([
        figure("p50", |record| percentile(record, |latency| latency.p50)),
        figure("p99", |record| percentile(record, |latency| latency.p99)),
    ]);
    // Only what at least one record can fill.
    out.retain(|column| records.iter().any(|record| (column.cell)(record).is_some()));
    out
}

fn metric(title: &str, name: &'static str, text: fn(f64) -> String) -> Column {
    figure(title, move |record| record.metrics.get(name).copied().map(text))
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
