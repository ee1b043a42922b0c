//! The answers that an end still owes.

/// How many answers of each sort are under way or to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Owed {
    /// Answers to `Clock`.
    pub(super) clocks: u32,
    /// Answers to `Ping`.
    pub(super) pongs: u32,
}

/// Counts one question more.
pub(super) fn ask(count: &mut u32) {
    *count = count.saturating_add(1);
}

/// Counts one question less; whether there was one.
pub(super) fn settle(count: &mut u32) -> bool {
    let asked = *count > 0;
    *count = count.saturating_sub(1);
    asked
}
