//! Records as text, for people and for programs. Nothing here measures, reads a clock or does I/O.
//!
//! - [`FORMATS`]: every format that records can be printed in; a [`Format`] is data and a function;
//! - [`sweep_table`] and [`wakeup_cost`]: what several records of one command say together;
//! - [`live_line`]: the current rate while a trial runs;
//! - [`campaign`]: the summary of a run (`hopbench_analysis`) in its formats;
//! - [`comparison`]: the comparison of two runs in its formats;
//! - [`profile`]: flame graphs of profiles, and what paths differ by in them;
//! - [`export`]: the trials of a run in formats of other tools;
//! - [`number`]: numbers for people.
//!
//! To add a format of records: one file in `formats/` and one line in [`FORMATS`].

pub mod campaign;
pub mod comparison;
mod document;
pub mod export;
mod format;
mod formats;
mod interval;
pub mod profile;
mod sweep;
mod text;
mod wakeup;

pub use hopbench_model::number;

pub use format::{ADDRESS_SETTING, Context, Format, OTHERS_SETTING, RecordFormat};
pub use formats::{FORMATS, format};
pub use interval::{Step, live_line};
pub use sweep::sweep_table;
pub use text::wrap::wrap;
pub use wakeup::{wakeup_cost, wakeup_costs};

/// The widest line of any output for people, columns.
pub const WIDTH: usize = 80;

/// A sentence in lines of at most [`WIDTH`] columns.
pub fn lines(sentence: &str) -> String {
    wrap(&text::wrap::plain(sentence), WIDTH).join("\n")
}
