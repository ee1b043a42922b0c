//! Cells of CSV files, for spreadsheets that take texts for formulas.

use std::borrow::Cow;

use hopbench_model::printable::line;

/// A text as a cell: one line without characters that steer. What a spreadsheet would take for a
/// formula, also behind white space, gets a `'` before it, which marks text. Numbers, also negative
/// ones, and a lone `-` stay as they are.
pub(crate) fn cell(text: &str) -> Cow<'_, str> {
    let text = line(text);
    // Also the wide forms of the four signs, which some spreadsheets take as well.
    let judged = text.trim_start();
    let is_formula =
        judged.starts_with(['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}']);
    if is_formula && judged != "-" && !is_number(judged) {
        Cow::Owned(format!("'{text}"))
    } else {
        text
    }
}

/// Whether a text is a number in digits: `-1.5`, `+3e-7`.
fn is_number(text: &str) -> bool {
    let has_digits_only =
        text.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E'));
    has_digits_only && text.parse::<f64>().is_ok()
}

/// Rows of cells, quoted as RFC 4180 says where they must be.
pub(crate) struct Csv(csv::Writer<Vec<u8>>);

impl Default for Csv {
    fn default() -> Self {
        Self(csv::WriterBuilder::new().flexible(true).from_writer(Vec::new()))
    }
}

impl Csv {
    /// One more row.
    pub(crate) fn row(&mut self, values: impl IntoIterator<Item = String>) {
        let cells = values.into_iter().map(|value| cell(&value).into_owned().into_bytes());
        // Nothing that is written into memory fails.
        let _ = self.0.write_record(cells);
    }

    /// All rows; each ends with a line feed.
    pub(crate) fn finish(self) -> String {
        // Cells are texts, so all of it is one: a second copy would double what a large run takes.
        String::from_utf8(self.0.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_stay_numbers() {
        for (text, expected) in [
            ("=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-2+3", "'-2+3"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-inf", "'-inf"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            (" =1", "' =1"),
            ("\u{a0}=1", "'\u{a0}=1"),
            ("\u{3000} @A1", "'\u{3000} @A1"),
            (" -1.5", " -1.5"),
            ("-1.5", "-1.5"),
            ("+3e-7", "+3e-7"),
            ("-", "-"),
            ("", ""),
            ("a=b", "a=b"),
            ("\t=1", "\\t=1"),
            ("\r=1", "\\r=1"),
            ("a\u{1b}\nb", "a\\u001b\\nb"),
        ] {
            assert_eq!(cell(text), expected);
        }
        let mut out = Csv::default();
        out.row(["=a,b", "-1.5", "say \"x\"", ""].map(str::to_owned));
        assert_eq!(out.finish(), "\"'=a,b\",-1.5,\"say \"\"x\"\"\",\n");
    }
}
