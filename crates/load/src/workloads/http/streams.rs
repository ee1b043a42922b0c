//! The parameter `--streams`: requests under way at once on a connection of HTTP/2.

use hopbench_model::Problem;

/// Most of them.
pub(super) const MOST_STREAMS: u32 = 10_000;

/// What it is unless somebody says otherwise.
pub(in crate::workloads) fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it")]
pub(in crate::workloads) fn is_one(streams: &u32) -> bool {
    *streams == 1
}

/// What is wrong with it, if anything is.
pub(in crate::workloads) fn wrong_streams(streams: u32) -> Option<Problem> {
    let is_wrong = streams == 0 || streams > MOST_STREAMS;
    is_wrong.then(|| Problem::new("--streams", streams, format!("1 to {MOST_STREAMS}")))
}
