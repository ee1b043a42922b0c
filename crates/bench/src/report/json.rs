//! The report as JSON.

use anyhow::{Context, Result};

use super::measured::SessionResults;

/// The report as JSON, every pair included; a metric's name carries its unit.
///
/// # Errors
/// When a figure cannot be written, which would be a fault of this program.
pub(crate) fn json(report: &SessionResults) -> Result<String> {
    serde_json::to_string_pretty(report).context("report as JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn pairs_and_verdicts_are_in_it() {
        let value: serde_json::Value = serde_json::from_str(&json(&sample()).unwrap()).unwrap();
        let row = &value["rows"][0];
        assert_eq!(row["runs"][1]["ours"]["received_packets_per_s"], 222.0);
        let judgement = &row["judgements"][0];
        assert_eq!((&judgement["verdict"], &judgement["pairs"]), (&"met".into(), &3.into()));
        let low = judgement["interval"][0].as_f64().unwrap();
        assert!((low - 1.0877).abs() < 1e-4, "{judgement}");
        assert_eq!(value["rows"][1]["outcome"]["skipped"], "qperf was not found");
        assert_eq!(value["machine"]["cpus"], 2);
    }
}
