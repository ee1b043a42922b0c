//! The parameter `--streams`: requests under way at once on a connection of HTTP/2.

use hopbench_model::Problem;

/// Most of them.
pub(super) const MOST_STREAMS: u32 = 10_000;

/// The usual value.
pub(in crate::workloads) fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it")]
pub(in crate::workloads) fn is_one(streams: &u32) -> bool {
    *streams == 1
}

/// The problem of a value, if it has one.
pub(in crate::workloads) fn wrong_streams(streams: u32) -> Option<Problem> {
    let is_wrong = streams == 0 || streams > MOST_STREAMS;
    is_wrong.then(|| Problem::new("--streams", streams, format!("1 to {MOST_STREAMS}")))
}
