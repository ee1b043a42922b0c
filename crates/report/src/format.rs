//! The trait of formats of records.

use hopbench_model::Record;

/// The setting of a record that says which address was used, where the target is a name.
pub const ADDRESS_SETTING: &str = "address";

/// The setting of a record that lists the target's addresses that were not used.
pub const OTHERS_SETTING: &str = "addresses_not_used";

/// One way to print records.
pub trait Format: Sync {
    /// Its name in flags; also the file's name.
    fn name(&self) -> &'static str;

    /// One line for `hopbench list formats`.
    fn summary(&self) -> &'static str;

    /// The records as text, in the order given; ends with a line feed, empty without records.
    ///
    /// Metrics of any value are accepted: what is not a finite number is printed as unknown, or
    /// left out.
    fn render(&self, records: &[Record], context: &Context) -> String;
}

/// What a format may use besides the records; formats for programs ignore it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context {
    /// Whether the text goes to a terminal, which can show bold and dim.
    pub terminal: bool,
}
