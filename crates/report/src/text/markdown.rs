//! Markdown: rows of tables, and texts of others in them.

use crate::text::wrap::plain;

/// A row of a table.
pub(crate) fn row(out: &mut String, texts: &[String]) {
    out.push_str(&format!("| {} |\n", texts.join(" | ")));
}

/// A text that neither ends a table's cell nor is taken for markup.
pub(crate) fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '`' | '[' | ']' | '\\' | '#' => out.extend(['\\', c]),
            other => out.push(other),
        }
    }
    out
}
