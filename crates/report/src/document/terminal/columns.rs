//! The columns of a table in the width of a terminal. Those that do not fit come in a further
//! block, behind the names of the rows.

use crate::document::table::{Align, Cell, Column, Table};
use crate::text::wrap::{GAP, blocks, columns, cut, plain};

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
    let rest = names.split_off(count);
    let widest = rest.iter().map(|column| column.width).max().unwrap_or(0);
    let taken = |names: &[Printed<'_>]| names.iter().map(|name| GAP + name.width).sum::<usize>();
    for longest in (SHORTEST_NAME..LONGEST_NAME).rev() {
        if taken(&names) + GAP + widest > width {
            names
                .iter_mut()
                .for_each(|name| (name.longest, name.width) = (longest, name.width.min(longest)));
        }
    }
    for block in blocks(rest.iter().map(|column| column.width), taken(&names), width) {
        give("");
        for row in 0..HEAD + table.rows.len() {
            let texts = names.iter().chain(&rest[block.clone()]).map(|column| column.padded(row));
            let line: String = texts.map(|text| format!("{:GAP$}{text}", "")).collect();
            // Of a head without units nothing is left.
            if !line.trim().is_empty() {
                give(line.trim_end());
            }
        }
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
            0 => cut(&self.column.label, self.longest),
            1 => cut(&self.column.unit, self.longest),
            _ => self.value(&self.table.rows[row - HEAD].cells[self.at]),
        }
    }

    fn value(&self, cell: &Cell) -> String {
        let is_short = self.column.is_short;
        match self.column.align {
            Align::Name => cut(&cell.text, self.longest),
            Align::Words if is_short => cut(&cell.text, self.longest),
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
}
