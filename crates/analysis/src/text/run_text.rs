//! The state and the start of a run in words.

use hopbench_model::RunStatus;

/// How far a run came.
pub fn status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "not ended: running, or died",
        RunStatus::Complete => "complete",
        RunStatus::Incomplete => "incomplete",
    }
}

/// An RFC 3339 time as people read it, to the second: `2026-03-01 12:00:00 UTC`.
pub fn time(text: &str) -> String {
    match (text.get(..10), text.get(11..19), text.ends_with('Z')) {
        (Some(day), Some(time), true) => format!("{day} {time} UTC"),
        _ => text.to_owned(),
    }
}
