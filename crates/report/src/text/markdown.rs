//! Texts of others in markdown.

use crate::text::wrap::plain;

/// A text that neither ends a table's cell nor is taken for markup.
pub(crate) fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = plain(text);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // Brackets are a link only before one of these.
            ']' if matches!(chars.peek(), Some('(' | '[' | ':')) => out.push_str("\\]"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '`' | '\\' | '#' => out.extend(['\\', c]),
            other => out.push(other),
        }
    }
    out
}
