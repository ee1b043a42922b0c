//! The columns of a table in the width of a terminal. Those that do not fit come in a further
//! block, behind the names of the rows.

use std::ops::Range;

use crate::document::table::{Align, Cell, Column, Table};
use crate::text::names::Names;
use crate::text::wrap::{GAP, blocks, columns, cut, cut_middle, plain};

/// A name or a head longer than this is cut, unless its column gets the room that there is.
const LONGEST_NAME: usize = 24;
/// Names that could not be told apart are cut to this.
const LONGEST_WHOLE: usize = 56;
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
    /// How its names are shown, unless it is wide.
    names: Option<Names>,
    /// Whether any value has a mark.
    is_marked: bool,
    /// Names and heads longer than this are cut.
    longest: usize,
    /// The widest of its texts, columns.
    width: usize,
}

/// Gives the table line by line, an empty line before each block. Columns that have a head in
/// common stay together, below it.
pub(super) fn lines(table: &Table, width: usize, mut give: impl FnMut(&str)) {
    let mut names: Vec<Printed<'_>> =
        (0..table.columns.len()).map(|at| Printed::of(table, at)).collect();
    let count = table.columns.iter().take_while(|column| column.align == Align::Name).count();
    let mut rest = names.split_off(count);
    let groups = groups(&mut rest);
    let widths: Vec<usize> = groups.iter().map(|group| taken(&rest[group.clone()]) - GAP).collect();
    let widest = widths.iter().copied().max().unwrap_or(0);
    widen(&mut names, &widths, width);
    let first = names.iter().map(|name| name.width).max().unwrap_or(0);
    for longest in (SHORTEST_NAME..first.max(LONGEST_NAME)).rev() {
        if taken(&names) + GAP + widest > width {
            names.iter_mut().for_each(|name| name.shorten(longest));
        }
    }
    for block in blocks(widths.iter().copied(), taken(&names), width) {
        give("");
        let heads = groups[block.clone()].iter().zip(widths[block.clone()].iter().copied());
        let heads: String = heads
            .map(|(group, width)| format!("{:GAP$}{:>width$}", "", rest[group.start].group()))
            .collect();
        if !heads.trim().is_empty() {
            give(format!("{:1$}{heads}", "", taken(&names)).trim_end());
        }
        let shown = groups[block.start].start..groups[block.end - 1].end;
        for row in 0..HEAD + table.rows.len() {
            let texts = names.iter().chain(&rest[shown.clone()]).map(|column| column.padded(row));
            let line: String = texts.map(|text| format!("{:GAP$}{text}", "")).collect();
            // Of a head without units nothing is left.
            if !line.trim().is_empty() {
                give(line.trim_end());
            }
        }
    }
}

/// Gives names that may be long the room that the other columns leave. That is the room beside all
/// of them if it is enough. Else it is that beside the widest, as the others come in further
/// blocks.
fn widen(names: &mut [Printed<'_>], widths: &[usize], width: usize) {
    let Some(at) = names.iter().position(|name| name.column.is_wide) else { return };
    let others = taken(names) - names[at].width;
    let beside = |columns: usize| width.saturating_sub(others + columns);
    let beside_all = beside(widths.iter().map(|own| GAP + own).sum());
    let beside_widest = beside(widths.iter().map(|own| GAP + own).max().unwrap_or(0));
    let room = if beside_all >= LONGEST_NAME { beside_all } else { beside_widest };
    let name = &mut names[at];
    name.longest = room.max(LONGEST_NAME);
    name.width = name.width.min(name.longest);
}

/// The width of columns, with the blanks before each.
fn taken(columns: &[Printed<'_>]) -> usize {
    columns.iter().map(|column| GAP + column.width).sum()
}

/// The columns that have a head in common, each other one by itself. The last of several is as wide
/// as the head needs.
fn groups(columns: &mut [Printed<'_>]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for at in 0..columns.len() {
        let group = &columns[at].column.group;
        match out.last_mut() {
            Some(last) if !group.is_empty() && columns[last.start].column.group == *group => {
                last.end = at + 1;
            }
            _ => out.push(at..at + 1),
        }
    }
    for group in &out {
        let head = self::columns(&columns[group.start].group());
        let missing = (head + GAP).saturating_sub(taken(&columns[group.clone()]));
        columns[group.end - 1].width += missing;
    }
    out
}

impl<'a> Printed<'a> {
    fn of(table: &'a Table, at: usize) -> Self {
        let is_marked = table.rows.iter().any(|row| !row.cells[at].mark.is_empty());
        let column = &table.columns[at];
        let names = (column.align == Align::Name && !column.is_wide).then(|| {
            let texts = table.rows.iter().map(|row| &*row.cells[at].text);
            Names::of(texts, LONGEST_NAME, LONGEST_WHOLE)
        });
        let longest = match &names {
            None if column.is_wide => usize::MAX,
            None => LONGEST_NAME,
            Some(names) => names.width().max(LONGEST_NAME),
        };
        let one = Self { table, column, at, names, is_marked, longest, width: 0 };
        let width =
            (0..HEAD + table.rows.len()).map(|row| columns(&one.text(row))).max().unwrap_or(0);
        Self { width, ..one }
    }

    /// Cuts its names to so many columns, so that they stay distinct as far as they can.
    fn shorten(&mut self, longest: usize) {
        if self.width <= longest {
            return;
        }
        if self.names.is_some() {
            let texts = self.table.rows.iter().map(|row| &*row.cells[self.at].text);
            self.names = Some(Names::of(texts, longest, longest));
        }
        (self.longest, self.width) = (longest.min(self.longest), longest);
    }

    /// The head that it shares with its neighbours.
    fn group(&self) -> String {
        cut(&self.column.group, LONGEST_NAME)
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
            Align::Name => match &self.names {
                Some(names) => names.shown(&cell.text),
                None => cut_middle(&cell.text, self.longest),
            },
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
