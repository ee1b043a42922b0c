//! The reading of files of others: JSON by its fields, text by its lines, numbers with their units.
//! Any bytes end in a value or in a problem with its place.

mod json;
mod text;
pub(crate) mod units;

pub(crate) use json::Json;
pub(crate) use text::{Line, Text, plain};

/// Characters of a file that a problem shows.
const MOST_SHOWN: usize = 80;
