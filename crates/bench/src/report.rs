//! The report of a session, for people and for programs.

mod cell;
mod json;
mod markdown;
mod measured;
mod section;
mod terminal;

pub(crate) use json::json;
pub(crate) use markdown::{markdown, summary};
#[cfg(test)]
pub(crate) use measured::sample;
pub(crate) use measured::{RowReport, RowStatus, SessionResults};
pub(crate) use section::Section;
pub(crate) use terminal::terminal;
