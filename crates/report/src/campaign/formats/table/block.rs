//! A block of columns in the width of the page. Columns that do not fit come in a further block.

use super::out::Out;
use crate::text::wrap::columns;

/// A column as texts: two lines of head, then the values.
pub(super) struct Text {
    head: [String; 2],
    values: Vec<String>,
    right: bool,
    /// The widest of all of these, columns.
    width: usize,
}

impl Text {
    pub(super) fn new(head: [&str; 2], right: bool, values: Vec<String>) -> Self {
        let head = head.map(str::to_owned);
        let width = head.iter().chain(&values).map(|text| columns(text)).max().unwrap_or(0);
        Self { head, values, right, width }
    }

    fn padded(&self, text: &str) -> String {
        let width = self.width;
        if self.right { format!("{text:>width$}") } else { format!("{text:<width$}") }
    }
}

/// Writes a table: the first columns stand in every block.
pub(super) fn write(out: &mut Out, keys: &[Text], figures: &[Text]) {
    let taken: usize = 2 + keys.iter().map(|column| column.width + 2).sum::<usize>();
    let mut rest = figures;
    while !rest.is_empty() {
        let mut width = taken;
        let fits = rest
            .iter()
            .take_while(|column| {
                width += column.width + 2;
                width - 2 <= out.width
            })
            .count();
        // A column that is too wide by itself is printed all the same.
        let (now, later) = rest.split_at(fits.max(1));
        out.push_str("\n");
        print(out, keys, now);
        rest = later;
    }
}

fn print(out: &mut Out, keys: &[Text], figures: &[Text]) {
    let all = || keys.iter().chain(figures);
    let mut line = |text: &dyn Fn(&Text) -> String| {
        let texts: Vec<_> = all().map(|column| column.padded(&text(column))).collect();
        let line = format!("  {}", texts.join("  "));
        if !line.trim().is_empty() {
            out.push_str(line.trim_end());
            out.push_str("\n");
        }
    };
    for row in 0..2 {
        line(&|column| column.head[row].clone());
    }
    for row in 0..keys[0].values.len() {
        line(&|column| column.values[row].clone());
    }
}
