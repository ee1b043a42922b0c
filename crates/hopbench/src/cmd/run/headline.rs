//! A trial's figures in a few words.

use hopbench_model::Record;
use hopbench_report::number;

/// The figures that say most, the first that a record has of each row.
const FIGURES: &[&[&str]] =
    &[&["received_bits_per_s", "sent_bits_per_s"], &["requests_per_s", "messages_per_s", "received_packets_per_s"]];
/// The latencies that say most, the first that a record has.
const LATENCIES: &[&str] = &["response_ns", "service_ns", "delay_ns"];

/// One line: `1.234 Gbit/s, p50 41 us, limited by cpu:client`.
pub(super) fn headline(record: &Record) -> String {
    let mut parts: Vec<String> = FIGURES
        .iter()
        .filter_map(|row| row.iter().find_map(|name| Some((name, *record.metrics.get(*name)?))))
        .map(|(name, value)| match name.strip_suffix("_per_s").filter(|what| !what.ends_with("_bits")) {
            Some(what) => format!("{} {}/s", number::per_s(value), what.trim_start_matches("received_")),
            None => number::by_name(name, value),
        })
        .collect();
    if let Some((kind, latency)) = LATENCIES.iter().find_map(|kind| Some((kind, record.latency.get(*kind)?))) {
        let word = if *kind == "delay_ns" { "one way p50" } else { "p50" };
        parts.push(format!("{word} {}", number::time_ns(latency.p50 as f64)));
    }
    parts.push(format!("limited by {}", record.limited_by));
    if let Some(why) = &record.error {
        parts.push(format!("ERROR: {why}"));
    }
    if let Some(why) = &record.incomplete {
        parts.push(format!("INCOMPLETE: {why}"));
    }
    parts.join(", ")
}
