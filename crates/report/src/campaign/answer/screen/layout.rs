//! The layout of a table in a given room. Columns that do not fit come in a further block. Rows
//! that do not fit are counted.

use std::ops::Range;

use super::super::tables::{Cell, Row, Table, Value};
use super::super::text::shortened;
use crate::number::counted;
use crate::text::names::Names;
use crate::text::wrap::{GAP, blocks, columns, cut, plain, wrap};

/// Names of paths that are longer are cut, unless there is room.
const LONGEST_NAME: usize = 24;
/// Columns that names leave to figures, if names are shown whole to be told apart.
const LEAST_FIGURES: usize = 24;
/// Heads that are longer are cut.
const LONGEST_HEAD: usize = 16;
const SHORT_HEAD: usize = 11;
/// Lines of a title.
const TITLE_LINES: usize = 2;
/// Rows that a block keeps before another block is left out.
const LEAST_ROWS: usize = 4;
/// Styles of a terminal.
const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const PLAIN: &str = "\u{1b}[0m";

/// What is left out of a table that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeftOut {
    /// The rows that are no worse than those that are left. The details have all.
    Mildest,
    /// The last: of a table that is drawn again and again the rows keep their places.
    Last,
}

impl LeftOut {
    /// At most so many rows of a table, and how many are left out.
    fn rows(self, table: &Table, most: usize) -> (Vec<&Row>, usize) {
        match self {
            Self::Mildest => table.worst(most),
            Self::Last => {
                (table.rows.iter().take(most).collect(), table.rows.len().saturating_sub(most))
            }
        }
    }

    /// A line on rows and columns that are left out; `None`: none are.
    fn told(self, rows: usize, columns: usize) -> Option<String> {
        let mut more: Vec<String> = Vec::new();
        if rows > 0 {
            more.push(match self {
                Self::Mildest => format!("{rows} more rows, no worse than these"),
                Self::Last => counted(rows as u64, "more path", "more paths"),
            });
        }
        if columns > 0 {
            more.push(counted(columns as u64, "more column", "more columns"));
        }
        let place = if self == Self::Mildest { ": see the details" } else { "" };
        (!more.is_empty()).then(|| format!("... {}{place}", more.join(", ")))
    }
}

/// A way to print a table.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// Units stand in the heads, and names are short.
    is_narrow: bool,
    /// Differences have no intervals.
    is_brief: bool,
}

/// All ways; those that say more first.
const WAYS: [Way; 4] = [
    Way { is_narrow: false, is_brief: false },
    Way { is_narrow: true, is_brief: false },
    Way { is_narrow: false, is_brief: true },
    Way { is_narrow: true, is_brief: true },
];

/// A table in lines of a given width.
pub(super) struct Layout<'a> {
    table: &'a Table,
    title: Vec<String>,
    names: Names,
    columns: Vec<Printed<'a>>,
    /// The lines of the heads that have a text in some column.
    heads: Vec<usize>,
    /// The columns that stand beside each other.
    blocks: Vec<Range<usize>>,
}

/// A column as it is printed.
struct Printed<'a> {
    /// The workload, the figure, its unit where it does not stand beside the values, the point.
    heads: [String; 4],
    /// The unit that stands in the head; empty: beside the values.
    unit: &'a str,
    way: Way,
    /// The widest of its texts, columns.
    width: usize,
    /// Whether cells have marks: then the others leave room for one.
    is_marked: bool,
}

impl<'a> Layout<'a> {
    /// As it reads best; narrower, or without intervals, where that saves a block.
    pub(super) fn of(table: &'a Table, width: usize) -> Self {
        let mut best = Self::with(table, width, WAYS[0]);
        for way in &WAYS[1..] {
            if best.blocks.len() > 1 {
                let other = Self::with(table, width, *way);
                best = if other.blocks.len() < best.blocks.len() { other } else { best };
            }
        }
        best
    }

    fn with(table: &'a Table, width: usize, way: Way) -> Self {
        let columns: Vec<Printed<'_>> =
            (0..table.columns.len()).map(|index| Printed::of(table, index, way)).collect();
        let figures: usize = columns.iter().map(|column| GAP + column.width).sum();
        let names = table.rows.iter().map(|row| row.name.as_str());
        let most = width.saturating_sub(figures).max(LONGEST_NAME);
        let names = Names::of(names, most, width.saturating_sub(LEAST_FIGURES));
        let says = |line: &usize| columns.iter().any(|column| !column.heads[*line].is_empty());
        Self {
            table,
            title: shortened(wrap(&plain(&table.title), width), TITLE_LINES, width),
            heads: (0..4).filter(says).collect(),
            blocks: blocks(columns.iter().map(|column| column.width), names.width(), width),
            names,
            columns,
        }
    }

    /// Whether there are differences, and they have their intervals.
    pub(super) fn has_intervals(&self) -> bool {
        let cells = || self.table.rows.iter().flat_map(|row| &row.cells);
        self.columns.iter().any(|column| !column.way.is_brief)
            && cells().any(|cell| cell.value.text() != cell.value.brief())
    }

    /// Lines that the whole table takes.
    pub(super) fn wanted(&self) -> usize {
        let block = self.heads.len() + self.table.rows.len() + 1;
        self.title.len() + self.blocks.len() * block - 1
    }

    /// Lines without which the table says nothing: its heads, two rows, and what is left out.
    pub(super) fn least(&self) -> usize {
        let rows = self.table.rows.len().min(2);
        self.wanted().min(self.title.len() + self.heads.len() + rows + 1)
    }

    /// The table in at most so many lines, but for what no table can do without.
    pub(super) fn lines(&self, room: usize, is_styled: bool, left_out: LeftOut) -> Vec<String> {
        let mut out = self.title.clone();
        let rows = self.table.rows.len();
        let most_rows = |blocks: usize, room: usize| {
            (room + 1).checked_div(blocks).unwrap_or(0).saturating_sub(self.heads.len() + 1)
        };
        let mut blocks = self.blocks.as_slice();
        let mut room = room.saturating_sub(out.len());
        if most_rows(blocks.len(), room) < rows {
            // A line says what is left out.
            room = room.saturating_sub(1);
            while let [fewer @ .., _] = blocks
                && !fewer.is_empty()
                && most_rows(blocks.len(), room) < LEAST_ROWS.min(rows)
            {
                blocks = fewer;
            }
        }
        let (rows, rows_left) = left_out.rows(self.table, most_rows(blocks.len(), room).max(2));
        for (index, block) in blocks.iter().enumerate() {
            if index > 0 {
                out.push(String::new());
            }
            out.extend(self.block(&rows, block, is_styled));
        }
        let shown = blocks.last().map_or(0, |block| block.end);
        out.extend(left_out.told(rows_left, self.columns.len() - shown));
        out
    }

    fn block(&self, rows: &[&Row], block: &Range<usize>, is_styled: bool) -> Vec<String> {
        let columns = &self.columns[block.clone()];
        let head = |line: &usize| {
            let texts = columns.iter().map(|column| {
                format!("{:GAP$}{:>width$}", "", column.heads[*line], width = column.width)
            });
            " ".repeat(self.names.width()) + &texts.collect::<String>()
        };
        let row = |row: &&Row| {
            let name = self.names.shown(&row.name);
            let cells = columns.iter().zip(&row.cells[block.clone()]);
            let cells = cells.map(|(column, cell)| column.padded(cell, is_styled));
            format!("{name:<width$}{}", cells.collect::<String>(), width = self.names.width())
        };
        self.heads.iter().map(head).chain(rows.iter().map(row)).collect()
    }
}

impl<'a> Printed<'a> {
    fn of(table: &'a Table, index: usize, way: Way) -> Self {
        let cells = || table.rows.iter().map(|row| &row.cells[index]);
        let [workload, figure, point] = &table.columns[index].heads;
        let (longest, unit, figure) = if way.is_narrow {
            let figure = figure.trim_start_matches("service ").trim_start_matches("response ");
            (SHORT_HEAD, unit(cells()), figure)
        } else {
            (LONGEST_HEAD, "", figure.as_str())
        };
        let [workload, figure, unit_head] = [workload, figure, unit].map(|text| cut(text, longest));
        let heads = [workload, figure, unit_head, short_point(point, longest)];
        let is_marked = cells().any(|cell| cell.is_doubtful);
        let texts = cells().map(|cell| columns(text(cell, unit, way)) + usize::from(is_marked));
        let width = texts.chain(heads.iter().map(|head| columns(head))).max().unwrap_or(0);
        Self { heads, unit, way, width, is_marked }
    }

    /// A cell with the blanks before it.
    fn padded(&self, cell: &Cell, is_styled: bool) -> String {
        let told = format!("{}{}", text(cell, self.unit, self.way), cell.mark());
        // Beside marks, numbers stay below each other.
        let pad = if self.is_marked && !cell.is_doubtful { " " } else { "" };
        let blanks = GAP + self.width.saturating_sub(columns(&told) + pad.len());
        format!("{:blanks$}{}{pad}", "", styled(&told, &cell.value, is_styled))
    }
}

/// A point in so many columns: of a long one the value matters more than the name.
fn short_point(label: &str, most: usize) -> String {
    let whole = cut(label, usize::MAX);
    match whole.split_once('=') {
        Some((name, value)) if columns(&whole) > most && columns(value) + 3 <= most => {
            let start: String = name.chars().take(most - columns(value) - 2).collect();
            format!("{start}~={value}")
        }
        _ => cut(&whole, most),
    }
}

/// The unit that all figures of a column have; empty where they have several, or none.
fn unit<'a>(cells: impl Iterator<Item = &'a Cell>) -> &'a str {
    let mut common = "";
    for cell in cells {
        let Value::Figure(text) = &cell.value else { continue };
        let Some((_, unit)) = text.split_once(' ') else { return "" };
        if !common.is_empty() && common != unit {
            return "";
        }
        common = unit;
    }
    common
}

/// What stands in a cell; of a figure without this unit, which stands in the head.
fn text<'a>(cell: &'a Cell, unit: &str, way: Way) -> &'a str {
    match &cell.value {
        Value::Figure(text) if !unit.is_empty() => {
            text.strip_suffix(unit).map_or(text.as_str(), str::trim_end)
        }
        value if way.is_brief => value.brief(),
        value => value.text(),
    }
}

/// Differences are bold, and what says nothing is dim.
fn styled(text: &str, value: &Value, is_styled: bool) -> String {
    let style = match value {
        Value::Effect { is_better: false, .. }
        | Value::Failed
        | Value::Unproved
        | Value::Saturated(_) => BOLD,
        Value::NotDecided | Value::Late | Value::NoRatio | Value::Absent | Value::Same(_) => DIM,
        Value::Effect { .. } | Value::Figure(_) => "",
    };
    if is_styled && !style.is_empty() { format!("{style}{text}{PLAIN}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use hopbench_analysis::Better;

    use super::super::super::tables::table::Column;
    use super::*;

    fn table(columns: usize, rows: usize) -> Table {
        let column = |index: usize| Column {
            heads: [format!("workload{index}"), "service p50".to_owned(), String::new()],
            better: Better::Lower,
        };
        let cell = |row: usize| match row {
            0 => Cell { value: Value::Figure("62.0 us".to_owned()), is_doubtful: false },
            row => {
                let brief = format!("+{row} %");
                let value =
                    Value::Effect { text: format!("+{row} ±9 %"), brief, is_better: false };
                Cell { value, is_doubtful: row == 2 }
            }
        };
        let row = |index: usize| Row {
            name: format!("path{index}"),
            cells: vec![cell(index); columns],
            rank: if index == 0 { f64::INFINITY } else { index as f64 },
        };
        Table {
            title: String::new(),
            columns: (0..columns).map(column).collect(),
            rows: (0..rows).map(row).collect(),
        }
    }

    fn drawn(table: &Table, room: usize, is_styled: bool) -> Vec<String> {
        Layout::of(table, 80).lines(room, is_styled, LeftOut::Mildest)
    }

    #[test]
    fn what_fits_stands_in_one_block() {
        let shown: Vec<String> =
            drawn(&table(1, 3), 40, false).iter().map(|line| line.trim_end().to_owned()).collect();
        let agreed = [
            "         workload0",
            "       service p50",
            "path0     62.0 us",
            "path1     +1 ±9 %",
            "path2     +2 ±9 %!",
        ];
        assert_eq!(shown, agreed);
        assert_eq!(Layout::of(&table(1, 3), 80).wanted(), 5);
    }

    #[test]
    fn of_too_many_rows_the_worst_are_left_and_the_rest_is_counted() {
        let shown = drawn(&table(1, 9), 6, false);
        assert_eq!(shown.len(), 6);
        assert!(
            shown[2].starts_with("path0")
                && shown[3].starts_with("path7")
                && shown[4].starts_with("path8")
        );
        assert_eq!(shown[5], "... 6 more rows, no worse than these: see the details");
    }

    #[test]
    fn columns_go_on_in_a_further_block_as_long_as_there_is_room() {
        let table = table(8, 6);
        let all = drawn(&table, 40, false);
        assert_eq!((all.len(), Layout::of(&table, 80).wanted()), (17, 17));
        let some = drawn(&table, 10, false);
        assert_eq!(some.len(), 9);
        assert!(some[8].starts_with("... ") && some[8].contains("more columns"), "{}", some[8]);
        for line in all.iter().chain(&some) {
            assert!(columns(line) <= 80, "{line}");
        }
    }

    #[test]
    fn where_it_saves_a_block_units_stand_in_the_heads() {
        // Six columns of 11 are too wide beside the names; without `service` and units they are
        // not.
        let shown = drawn(&table(6, 3), 40, false);
        assert_eq!(shown.len(), 6, "{}", shown.join("\n"));
        assert!(
            shown[1].trim_start().starts_with("p50") && shown[2].trim_start().starts_with("us")
        );
        assert_eq!(
            shown[3].split_whitespace().collect::<Vec<_>>(),
            ["path0", "62.0", "62.0", "62.0", "62.0", "62.0", "62.0"]
        );
        assert!(shown.iter().all(|line| columns(line) <= 80));
    }

    #[test]
    fn of_a_long_point_the_value_is_left() {
        let told = ["size=1B", "connections=128", "", "a=1 b=2 c=3 d=4"]
            .map(|label| short_point(label, 11));
        assert_eq!(told, ["size=1B", "connec~=128", "", "a=1 b=2 c=~"]);
    }

    #[test]
    fn styles_take_no_room() {
        let (plain, styled) = (drawn(&table(1, 3), 40, false), drawn(&table(1, 3), 40, true));
        let bare: Vec<String> =
            styled.iter().map(|line| line.replace(BOLD, "").replace(PLAIN, "")).collect();
        assert_eq!(bare, plain);
        assert_ne!(styled, plain);
    }
}
