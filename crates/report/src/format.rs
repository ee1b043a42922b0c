//! A format: its name, a line about it, and the function that prints in it.

use hopbench_model::Record;

/// The setting of a record that says which address was used, where the target is a name.
pub const ADDRESS_SETTING: &str = "address";

/// The setting of a record that lists the target's addresses that were not used.
pub const OTHERS_SETTING: &str = "addresses_not_used";

/// One way to print something.
#[derive(Debug, Clone, Copy)]
pub struct Format<F> {
    /// Its name in flags; also the file's name, with `_` for `-`.
    pub name: &'static str,
    /// One line for `hopbench list`.
    pub summary: &'static str,
    /// Prints in it.
    pub render: F,
}

/// Prints records as text, in the order given; ends with a line feed, empty without records.
///
/// Metrics of any value are accepted: what is not a finite number is printed as unknown, or left
/// out.
pub type RecordFormat = Format<fn(&[Record], &Context) -> String>;

/// What a format may use besides the records; formats for programs ignore it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context {
    /// Whether the text goes to a terminal, which can show bold and dim.
    pub terminal: bool,
}

/// The format of this name.
pub(crate) fn named<F>(all: &'static [Format<F>], name: &str) -> Option<&'static Format<F>> {
    all.iter().find(|format| format.name == name)
}
