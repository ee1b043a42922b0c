//! The text of tables, of a given width.

use crate::text::wrap::{columns, plain, wrap};

/// A name longer than this is cut in a table.
const LONGEST_NAME: usize = 24;

/// What was written so far.
pub(super) struct Out {
    pub(super) text: String,
    /// Columns of a line.
    pub(super) width: usize,
}

impl Out {
    pub(super) fn new(width: usize) -> Self {
        Self { text: String::new(), width }
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

/// A paragraph that is no wider than the rest.
pub(super) fn paragraph(out: &mut Out, text: &str, indent: &str) {
    // The items of a list hang under their text.
    let item = text.strip_prefix("- ");
    let (mark, rest) = if item.is_some() { ("- ", "  ") } else { ("", "") };
    let width = out.width - indent.len() - mark.len();
    for (index, line) in wrap(&plain(item.unwrap_or(text)), width).iter().enumerate() {
        out.push_str(&format!("{indent}{}{line}\n", if index == 0 { mark } else { rest }));
    }
}

/// A name that fits.
pub(super) fn cut(text: &str) -> String {
    let text = plain(text);
    if columns(&text) <= LONGEST_NAME {
        return text;
    }
    let start: String = text.chars().take(LONGEST_NAME - 1).collect();
    format!("{start}~")
}
