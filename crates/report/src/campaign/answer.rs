//! The answer of a run: what each path gives beside the baseline, short enough for one screen.
//!
//! ```text
//!   Summary ─► Answer ─► screen (text); the first part of the markdown and of the page
//! ```
//!
//! It repeats the verdicts of the summary in a short form. It makes none of its own.

mod facts;
mod head;
mod notes;
mod screen;
mod tables;
mod text;
mod whole;

pub use self::screen::{LiveScreen, Screen};
pub(crate) use self::tables::{Cell, Row, Table, Value};
pub(crate) use self::whole::Answer;
