//! A line with its name.

/// A line with its name.
#[derive(Debug)]
pub(crate) struct Fact {
    /// What it is about.
    pub(crate) label: &'static str,
    /// What it says.
    pub(crate) text: String,
}
