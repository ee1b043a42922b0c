//! Several records of one command in one table.

use std::collections::BTreeSet;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use hopbench_model::Record;

use crate::WIDTH;
use crate::job::{Job, spoken};
use crate::number::{UNKNOWN, bit_rate, per_s, percent, time_ns};
use crate::wrap::plain;

/// A row a record: what varies, the main figures, what limited it. `None` for less than two records.
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
        .set_width(WIDTH as u16);
    table.set_header(columns.iter().map(|column| plain(&column.title)));
    for record in records {
        table.add_row(columns.iter().map(|column| {
            (column.cell)(record).map_or_else(|| UNKNOWN.to_owned(), |text| plain(&text))
        }));
    }
    for (index, column) in columns.iter().enumerate() {
        if let (true, Some(column)) = (column.number, table.column_mut(index)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<_> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    Some(format!("{}\n", lines.join("\n")))
}

struct Column {
    title: String,
    number: bool,
    cell: Box<dyn Fn(&Record) -> Option<String>>,
}

fn column(title: &str, number: bool, cell: impl Fn(&Record) -> Option<String> + 'static) -> Column {
    Column {
        title: title.to_owned(),
        number,
        cell: Box::new(cell),
    }
}

fn columns(records: &[Record]) -> Vec<Column> {
    let mut out = Vec::new();
    if differs(records, |record| Some(record.workload.clone())) {
        out.push(column("workload", false, |record| {
            Some(record.workload.clone())
        }));
    }
    if differs(records, |record| Some(record.path.clone())) {
        out.push(column("path", false, |record| Some(record.path.clone())));
    }
    let points: BTreeSet<&str> = records
        .iter()
        .flat_map(|r| r.point.keys().map(String::as_str))
        .collect();
    if !points.contains("engine")
        && differs(records, |record| {
            Job(&record.job).engine().map(str::to_owned)
        })
    {
        out.push(column("engine", false, |record| {
            Job(&record.job).engine().map(str::to_owned)
        }));
    }
    for name in points {
        let key = name.to_owned();
        out.push(column(name, true, move |record| {
            record.point.get(&key).and_then(spoken)
        }));
    }
    if differs(records, |record| Some(record.round.to_string())) {
        out.push(column("round", true, |record| {
            Some(record.round.to_string())
        }));
    }
    // Only what at least one record can fill.
    out.extend(
        figures()
            .into_iter()
            .filter(|column| records.iter().any(|record| (column.cell)(record).is_some())),
    );
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
fn figures() -> Vec<Column> {
    let metric = |name: &'static str, text: fn(f64) -> String| {
        move |record: &Record| record.metrics.get(name).copied().map(text)
    };
    let rate = metric("requests_per_s", per_s);
    let messages = metric("messages_per_s", per_s);
    let packets = metric("received_packets_per_s", per_s);
    let received = metric("received_bits_per_s", bit_rate);
    vec![
        column("requests/s", true, rate),
        column("messages/s", true, messages),
        column("packets/s", true, packets),
        column("received", true, received),
        column("loss", true, metric("loss_ratio", percent)),
        column("errors", true, |record| {
            record
                .metrics
                .get("errors")
                .copied()
                .filter(|n| *n != 0.0)
                .map(crate::number::plain)
        }),
        column("p50", true, |record| {
            percentile(record, |latency| latency.p50)
        }),
        column("p99", true, |record| {
            percentile(record, |latency| latency.p99)
        }),
    ]
}

/// Of the latency that a user feels: the response time where there is one.
fn percentile(record: &Record, of: fn(&hopbench_model::Latency) -> u64) -> Option<String> {
    let latency = ["response_ns", "service_ns", "delay_ns"]
        .iter()
        .find_map(|kind| record.latency.get(*kind))?;
    (latency.count > 0).then(|| time_ns(of(latency) as f64))
}

/// Why a row must not be taken as it stands.
fn caveat(record: &Record) -> Option<String> {
    let violated = record
        .invariants
        .iter()
        .filter(|invariant| !invariant.ok)
        .count();
    let mut out = Vec::new();
    if record.incomplete.is_some() {
        out.push("incomplete".to_owned());
    }
    if violated > 0 {
        out.push("invariant violated".to_owned());
    }
    if !record.warnings.is_empty() {
        out.push(crate::number::counted(
            record.warnings.len() as u64,
            "warning",
            "warnings",
        ));
    }
    (!out.is_empty()).then(|| out.join(", "))
}
