//! Outputs of real tools, and what records have of them. Figures are compared with others of the
//! same file, by relations that hold whatever was measured. `fixtures/make.sh` makes the files.

mod bulk;
mod cells;
mod echoes;
mod http;
mod netperf;
mod nighthawk;
mod refused;
mod summaries;

use std::path::Path;

use hopbench_import::{Given, Imported, import};
use hopbench_model::Record;

/// The content of a file that a tool wrote.
fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("{}: {error}; tests/fixtures/make.sh makes it", path.display())
    })
}

/// Files, each with its path and its content.
fn files(given: &[(&str, &str)], tool: Option<&str>) -> Result<Imported, String> {
    let given: Vec<Given<'_>> = given
        .iter()
        .map(|(path, content)| Given {
            path: (*path).to_owned(),
            file: format!("{path}.file"),
            content,
        })
        .collect();
    import(&given, tool, None)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// The record of one text.
fn record_of(content: &str) -> Record {
    files(&[("a", content)], None).expect("an output that is known").records.remove(0)
}

/// The record of a fixture.
fn record(name: &str) -> Record {
    record_of(&fixture(name))
}

/// Why a text is refused.
fn refusal(content: &str) -> String {
    files(&[("a", content)], None).map(|imported| imported.records).expect_err("it is refused")
}

/// A figure that must be there.
fn metric(record: &Record, name: &str) -> f64 {
    *record.metrics.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", record.metrics))
}

/// The number behind a marker in a text.
fn number(text: &str, marker: &str) -> f64 {
    let (_, rest) = text.split_once(marker).unwrap_or_else(|| panic!("no `{marker}`"));
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].parse().unwrap_or_else(|error| panic!("`{marker}`: {error}"))
}

/// Whether two figures are the same but for their rounding.
fn is_near(one: f64, other: f64, share: f64) -> bool {
    (one - other).abs() <= share * one.abs().max(other.abs())
}

/// The points of a latency rise, as far as they are there.
fn rises(record: &Record, latency: &str) {
    let points = ["min", "p50", "p75", "p90", "p95", "p99", "p999", "p9999", "p99999", "max"];
    let values: Vec<f64> = points
        .iter()
        .filter_map(|point| record.metrics.get(&format!("{latency}_{point}_ns")).copied())
        .collect();
    assert!(values.len() >= 2, "{:?}", record.metrics);
    assert!(values.is_sorted(), "{values:?}");
}
