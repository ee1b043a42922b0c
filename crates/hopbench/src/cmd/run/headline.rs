//! A trial's figures in a few words.

use hopbench_model::{Pattern, Record};
use hopbench_report::campaign::main_latency;
use hopbench_report::number;

/// The figures that say most, the first that a record has of each row.
const FIGURES: &[&[&str]] = &[
    &["received_bits_per_s", "sent_bits_per_s"],
    &["requests_per_s", "messages_per_s", "received_packets_per_s"],
];

/// One line: `1.234 Gbit/s, service p50 41 us, limited by cpu:client`.
pub(super) fn headline(record: &Record) -> String {
    let mut parts = figures(record);
    parts.push(format!("limited by {}", record.limited_by));
    if let Some(why) = &record.error {
        parts.push(format!("ERROR: {why}"));
    }
    if let Some(why) = &record.incomplete {
        parts.push(format!("INCOMPLETE: {why}"));
    }
    parts.join(", ")
}

fn figures(record: &Record) -> Vec<String> {
    let mut parts: Vec<String> = FIGURES
        .iter()
        .filter_map(|row| row.iter().find_map(|name| Some((name, *record.metrics.get(*name)?))))
        .map(|(name, value)| {
            match name.strip_suffix("_per_s").filter(|what| !what.ends_with("_bits")) {
                Some("requests") if record.kind().pattern == Pattern::Probes => {
                    format!("{} echoes/s", number::per_s(value))
                }
                Some(what) => {
                    format!("{} {}/s", number::per_s(value), what.trim_start_matches("received_"))
                }
                None => number::by_name(name, value),
            }
        })
        .collect();
    // The same as in the tables.
    parts
        .extend(main_latency(record).map(|(label, ns)| format!("{label} {}", number::time_ns(ns))));
    parts
}
