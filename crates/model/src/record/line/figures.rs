//! Figures as JSON, integers without `.0`.

use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

/// Integers up to this are exact, and have no more digits than as a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Writes what has no numbers but figures: for a reader of these `7` is `7.0`.
pub(super) fn figures(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Figures))?;
    // The serializer writes texts and digits.
    Ok(String::from_utf8_lossy(&text).into_owned())
}

struct Figures;

impl Formatter for Figures {
    fn write_f64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        if value.fract() == 0.0 && value.abs() <= EXACT {
            CompactFormatter.write_i64(writer, value as i64)
        } else {
            CompactFormatter.write_f64(writer, value)
        }
    }
}
