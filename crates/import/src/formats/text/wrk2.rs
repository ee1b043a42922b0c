//! wrk2: the text of a run. Its times count from when a request should have been sent. The rate
//! that was asked for (`-R`) is not among what it prints.

use hopbench_model::Problem;

use super::wrk::{OF_WRK2, percentiles, summary};
use crate::kinds::TestKind;
use crate::reading::Text;
use crate::stated::Stated;

/// A run of more than 10 s says so, and one with `--latency`. Any other looks like one of wrk.
pub(super) fn is_it(text: &Text<'_>) -> bool {
    let is_mark = |line: &str| line.starts_with("Thread calibration:") || line.contains(OF_WRK2);
    text.find(&is_mark).is_some()
}

pub(super) fn read(text: &Text<'_>) -> Result<Stated, Problem> {
    let mut out = summary(text, TestKind::OpenHttp)?;
    let heads = [("Recorded Latency", "response"), ("Uncorrected Latency", "service")];
    for (name, latency) in heads {
        let is_head = |line: &str| line.contains(OF_WRK2) && line.contains(name);
        if let Some(head) = text.find(&is_head) {
            percentiles(text, head, &mut out, latency);
        }
    }
    Ok(out)
}
