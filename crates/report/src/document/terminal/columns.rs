//! The columns of a table in the width of a terminal. Those that do not fit come in a further
//! block, behind the names of the rows.

use crate::document::table::{Align, Cell, Column, Table};
use crate::text::wrap::{columns, plain};

/// A name or a head longer than this is cut.
const LONGEST_NAME: usize = 24;
/// Beside a column that needs the room, names are cut to no less than this.
const SHORTEST_NAME: usize = 8;

/// Lines of a head: the label and the unit.
const HEAD: usize = 2;

/// A column as it is printed. Its texts are made line by line: a large table has many.
struct Printed<'a> {
    table: &'a Table,
    column: &'a Column,
    /// Its place in the table.
    at: usize,
    /// Whether any value has a mark.
    is_marked: bool,
    /// Names and heads longer than this are cut.
    longest: usize,
    /// The widest of its texts, columns.
    width: usize,
}

/// Gives the table line by line, an empty line before each block.
pub(super) fn lines(table: &Table, width: usize, mut give: impl FnMut(&str)) {
    let mut names: Vec<Printed<'_>> =
        (0..table.columns.len()).map(|at| Printed::of(table, at)).collect();
    let count = table.columns.iter().take_while(|column| column.align == Align::Name).count();
    let all = names.split_off(count);
    let widest = all.iter().map(|column| column.width).max().unwrap_or(0);
    let taken =
        |names: &[Printed<'_>]| 2 + names.iter().map(|column| column.width + 2).sum::<usize>();
    for longest in (SHORTEST_NAME..LONGEST_NAME).rev() {
        if taken(&names) + widest > width {
            names
                .iter_mut()
                .for_each(|name| (name.longest, name.width) = (longest, name.width.min(longest)));
        }
    }
    let start = taken(&names);
    let mut rest = all.as_slice();
    while !rest.is_empty() {
        let mut used = start;
        let fits = |column: &&Printed<'_>| {
            used += column.width + 2;
            used - 2 <= width
        };
        // A column that is too wide by itself is printed all the same.
        let (now, later) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        give("");
        for row in 0..HEAD + table.rows.len() {
            let texts: Vec<String> =
                names.iter().chain(now).map(|column| column.padded(row)).collect();
            let line = format!("  {}", texts.join("  "));
            // Of a head without units nothing is left.
            if !line.trim().is_empty() {
                give(line.trim_end());
            }
        }
        rest = later;
    }
}

impl<'a> Printed<'a> {
    fn of(table: &'a Table, at: usize) -> Self {
        let is_marked = table.rows.iter().any(|row| !row.cells[at].mark.is_empty());
        let one = Self {
            table,
            column: &table.columns[at],
            at,
            is_marked,
            longest: LONGEST_NAME,
            width: 0,
        };
        let width =
            (0..HEAD + table.rows.len()).map(|row| columns(&one.text(row))).max().unwrap_or(0);
        Self { width, ..one }
    }

    fn text(&self, row: usize) -> String {
        match row {
            0 => self.cut(&self.column.label),
            1 => self.cut(&self.column.unit),
            _ => self.value(&self.table.rows[row - HEAD].cells[self.at]),
        }
    }

    fn value(&self, cell: &Cell) -> String {
        let is_short = self.column.is_short;
        match self.column.align {
            Align::Name => self.cut(&cell.text),
            Align::Words if is_short => self.cut(&cell.text),
            Align::Words => plain(&cell.full()),
            // Beside marks, numbers stay below each other.
            Align::Number => {
                let mark = if self.is_marked && cell.mark.is_empty() { " " } else { cell.mark };
                let ends = if is_short || cell.small.is_empty() {
                    ""
                } else {
                    &format!(" {}", cell.small)
                };
                plain(&format!("{}{ends}{mark}", cell.text))
            }
        }
    }

    fn padded(&self, row: usize) -> String {
        let (text, width) = (self.text(row), self.width);
        if self.column.align == Align::Number {
            format!("{text:>width$}")
        } else {
            format!("{text:<width$}")
        }
    }

    /// A name that fits.
    fn cut(&self, text: &str) -> String {
        let text = plain(text);
        if columns(&text) <= self.longest {
            return text;
        }
        let start: String = text.chars().take(self.longest - 1).collect();
        format!("{start}~")
    }
}
