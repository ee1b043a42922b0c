//! The table of latencies.

use hopbench_analysis::RecordedJob;
use hopbench_model::{Latency, Pattern, Record, Schedule, Unit};

use super::page::Page;
use crate::number::{TIMES, significant, time_ns};

/// Rows in this order; kinds that are not known follow.
const KINDS: &[&str] = &[
    "response_ns",
    "service_ns",
    "connect_ns",
    "tls_ns",
    "reply_ns",
    "delay_ns",
    "gap_ns",
    "lateness_ns",
];

const COLUMNS: [&str; 8] = ["min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"];

/// Columns of a kind's name, and of a value with the blank before it.
const NAME: usize = 12;
const VALUE: usize = 8;

pub(super) fn write(page: &mut Page, record: &Record) {
    let known = KINDS.iter().filter_map(|kind| record.latency.get_key_value(*kind));
    let others = record.latency.iter().filter(|(kind, _)| !KINDS.contains(&kind.as_str()));
    let rows: Vec<_> = known.chain(others).collect();
    let Some((kind, main)) = rows.first() else {
        return;
    };
    page.heading(&title(record));
    let head: String = COLUMNS.iter().map(|column| format!("{column:>VALUE$}")).collect();
    page.row(&format!("{:NAME$}    {head}", ""));
    for (kind, latency) in &rows {
        if latency.count == 0 {
            page.field(&name(record, kind), "no samples");
        } else {
            row(page, &name(record, kind), latency);
        }
    }
    if main.count > 0 {
        page.field(
            "samples",
            &format!(
                "{} of {}, standard deviation {}",
                main.count,
                name(record, kind),
                time_ns(main.stddev)
            ),
        );
    }
}

/// What the times are measured over, and whether the schedule waited for the answers.
fn title(record: &Record) -> String {
    let kind = record.kind();
    let mut parts = Vec::new();
    match kind.pattern {
        // Bytes in bulk have no latency of their own.
        Pattern::OneWay if kind.unit == Unit::Bits => {}
        Pattern::OneWay => parts.push("one way"),
        // These have more in them than a round trip.
        Pattern::Exchanges if kind.is_http() || kind.connects_for_each() => {}
        Pattern::Exchanges | Pattern::Probes => parts.push("full round trip"),
    }
    if kind.is_of_exchanges() && RecordedJob(&record.job).schedule() == Some(Schedule::Closed) {
        parts.push("closed loop: service time, from the actual send");
    }
    if parts.is_empty() { "latency".to_owned() } else { format!("latency ({})", parts.join("; ")) }
}

fn name(record: &Record, kind: &str) -> String {
    if record.kind().pattern == Pattern::Probes && kind == "service_ns" {
        return "RTT".to_owned();
    }
    kind.strip_suffix("_ns").unwrap_or(kind).replace('_', " ")
}

fn row(page: &mut Page, name: &str, latency: &Latency) {
    let l = latency;
    let values = [
        l.min as f64,
        l.mean,
        l.p50 as f64,
        l.p90 as f64,
        l.p99 as f64,
        l.p999 as f64,
        l.p9999 as f64,
        l.max as f64,
    ];
    // The median has three digits before the point at most: the row is compared from there.
    let typical = [l.p50, l.p90, l.p99, l.max].into_iter().find(|ns| *ns > 0).unwrap_or(1) as f64;
    let (unit, factor) =
        TIMES.iter().find(|(_, factor)| typical >= *factor).unwrap_or(&TIMES[TIMES.len() - 1]);
    let cells: String = values.iter().map(|ns| format!("{:>VALUE$}", cell(*ns, *factor))).collect();
    let width = NAME - 2;
    let short: String = crate::text::wrap::plain(name).chars().take(width).collect();
    page.row(&format!("  {short:width$} {unit:>2} {cells}"));
}

/// A value in the row's unit, or with its own where that has too many digits.
fn cell(ns: f64, factor: f64) -> String {
    if !ns.is_finite() {
        return time_ns(ns);
    }
    let value = ns / factor;
    let text = if value.abs() < 1000.0 {
        significant(value, 3, factor == 1.0)
    } else {
        format!("{value:.0}")
    };
    if text.len() < VALUE {
        return text;
    }
    let text = time_ns(ns).replace(' ', "");
    if text.len() < VALUE {
        return text;
    }
    // Longer than a day: no measurement, but it must not break the table.
    format!("{:.0e}s", ns / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_always_fits() {
        for (ns, factor, expected) in [
            (8_123.0, 1e3, "8.12"),
            (30_012_345.0, 1e3, "30012"),
            (9e9, 1.0, "9.00s"),
            (0.0, 1e3, "0.00"),
            (3.6e12, 1e3, "3600s"),
            (1.8e19, 1e9, "2e10s"),
            (f64::NAN, 1.0, "-"),
        ] {
            assert_eq!(cell(ns, factor), expected);
        }
    }
}
