//! The layout of a table in a given room. Columns that do not fit come in a further block. Rows
//! that do not fit are counted.

use std::ops::Range;

use super::super::tables::{Cell, Row, Table, Value};
use super::super::text::{cut, shortened};
use crate::number::counted;
use crate::text::wrap::{columns, plain, wrap};

/// Names of paths, and heads, that are longer are cut.
const LONGEST_NAME: usize = 24;
const LONGEST_HEAD: usize = 16;
const SHORT_HEAD: usize = 11;
/// Blanks between columns.
const GAP: usize = 2;
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

/// A table with its heads and the widths of its columns.
struct Measured {
    /// Width of the names.
    name: usize,
    /// Of each column: the workload, the figure, its unit where it does not stand beside the
    /// values, the point.
    heads: Vec<[String; 4]>,
    /// The units that stand in the heads; empty: beside the values.
    units: Vec<String>,
    /// The lines of the heads that have a text in some column.
    lines: Vec<usize>,
    /// Width of each column.
    widths: Vec<usize>,
    /// Whether cells of the column have marks: then the others leave room for one.
    marked: Vec<bool>,
}

/// Lines that the whole table takes.
pub(super) fn wanted(table: &Table, width: usize) -> usize {
    let measured = Measured::of(table, width);
    let blocks = measured.blocks(width).len();
    title(table, width).len() + blocks * (measured.lines.len() + table.rows.len() + 1) - 1
}

/// Lines without which the table says nothing: its heads, two rows, and what is left out.
pub(super) fn least(table: &Table, width: usize) -> usize {
    let rows = table.rows.len().min(2);
    let whole = wanted(table, width);
    whole.min(title(table, width).len() + Measured::of(table, width).lines.len() + rows + 1)
}

/// The table in at most so many lines, but for what no table can do without.
pub(super) fn lines(
    table: &Table,
    (width, room): (usize, usize),
    is_styled: bool,
    left_out: LeftOut,
) -> Vec<String> {
    let measured = Measured::of(table, width);
    let mut blocks = measured.blocks(width);
    let mut out = title(table, width);
    let heads = measured.lines.len();
    let most_rows = |blocks: usize, room: usize| {
        (room + 1).checked_div(blocks).unwrap_or(0).saturating_sub(heads + 1)
    };
    let all = blocks.len();
    let whole = room.saturating_sub(out.len());
    if most_rows(all, whole) < table.rows.len() {
        // A line says what is left out.
        let room = whole.saturating_sub(1);
        let least = LEAST_ROWS.min(table.rows.len());
        while blocks.len() > 1 && most_rows(blocks.len(), room) < least {
            blocks.pop();
        }
    }
    let is_cut = blocks.len() < all || most_rows(all, whole) < table.rows.len();
    let room = if is_cut { whole.saturating_sub(1) } else { whole };
    let (rows, rows_left) = left_out.rows(table, most_rows(blocks.len(), room).max(2));
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            out.push(String::new());
        }
        out.extend(measured.block(&rows, block, is_styled));
    }
    let shown = blocks.last().map_or(0, |block| block.end);
    out.extend(left_out.told(rows_left, table.columns.len() - shown));
    out
}

fn title(table: &Table, width: usize) -> Vec<String> {
    shortened(wrap(&plain(&table.title), width), TITLE_LINES, width)
}

impl Measured {
    /// As it reads best; narrower where that saves a block.
    fn of(table: &Table, width: usize) -> Self {
        let wide = Self::with(table, false);
        let blocks = wide.blocks(width).len();
        if blocks <= 1 {
            return wide;
        }
        let narrow = Self::with(table, true);
        if narrow.blocks(width).len() < blocks { narrow } else { wide }
    }

    /// `is_narrow`: units stand in the heads, and names are short.
    fn with(table: &Table, is_narrow: bool) -> Self {
        let name =
            table.rows.iter().map(|row| columns(&cut(&row.name, LONGEST_NAME))).max().unwrap_or(0);
        let longest = if is_narrow { SHORT_HEAD } else { LONGEST_HEAD };
        let mut heads: Vec<[String; 4]> = Vec::new();
        let mut units = Vec::new();
        let mut widths = Vec::new();
        let mut marked = Vec::new();
        for (index, column) in table.columns.iter().enumerate() {
            let cells = || table.rows.iter().map(|row| &row.cells[index]);
            let unit = if is_narrow { unit(cells()) } else { "" };
            let [workload, figure, point] = &column.heads;
            let figure = match is_narrow {
                true => figure.trim_start_matches("service ").trim_start_matches("response "),
                false => figure.as_str(),
            };
            let [workload, figure, unit_head] =
                [workload.as_str(), figure, unit].map(|text| cut(text, longest));
            let head = [workload, figure, unit_head, short_point(point, longest)];
            let is_marked = cells().any(|cell| cell.is_doubtful);
            let texts = cells().map(|cell| columns(text(cell, unit)) + usize::from(is_marked));
            widths.push(texts.chain(head.iter().map(|head| columns(head))).max().unwrap_or(0));
            marked.push(is_marked);
            heads.push(head);
            units.push(unit.to_owned());
        }
        let says = |line: &usize| heads.iter().any(|head| !head[*line].is_empty());
        let lines = (0..4).filter(says).collect();
        Self { name, heads, units, lines, widths, marked }
    }

    /// The columns that stand beside each other.
    fn blocks(&self, width: usize) -> Vec<Range<usize>> {
        let mut out: Vec<Range<usize>> = Vec::new();
        let mut used = 0;
        for (index, own) in self.widths.iter().enumerate() {
            let fits = used + GAP + own <= width;
            match out.last_mut() {
                Some(block) if fits => block.end = index + 1,
                _ => {
                    out.push(index..index + 1);
                    used = self.name;
                }
            }
            used += GAP + own;
        }
        out
    }

    fn block(&self, rows: &[&Row], block: &Range<usize>, is_styled: bool) -> Vec<String> {
        let mut out = Vec::new();
        for line in &self.lines {
            let mut text = " ".repeat(self.name);
            for index in block.clone() {
                text.push_str(&format!(
                    "  {:>width$}",
                    self.heads[index][*line],
                    width = self.widths[index]
                ));
            }
            out.push(text);
        }
        for row in rows {
            let mut line = format!("{:<width$}", cut(&row.name, LONGEST_NAME), width = self.name);
            for index in block.clone() {
                let cell = &row.cells[index];
                let told = format!("{}{}", text(cell, &self.units[index]), cell.mark());
                // Beside marks, numbers stay below each other.
                let pad = if self.marked[index] && !cell.is_doubtful { " " } else { "" };
                let blanks =
                    " ".repeat(self.widths[index].saturating_sub(columns(&told) + pad.len()));
                line.push_str(&format!("  {blanks}{}{pad}", styled(&told, &cell.value, is_styled)));
            }
            out.push(line);
        }
        out
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
fn text<'a>(cell: &'a Cell, unit: &str) -> &'a str {
    match &cell.value {
        Value::Figure(text) if !unit.is_empty() => {
            text.strip_suffix(unit).map_or(text.as_str(), str::trim_end)
        }
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
        Value::NotDecided | Value::Absent | Value::Same => DIM,
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
                let value = Value::Effect { text: format!("+{row} %"), is_better: false };
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

    #[test]
    fn what_fits_stands_in_one_block() {
        let shown: Vec<String> = lines(&table(1, 3), (80, 40), false, LeftOut::Mildest)
            .iter()
            .map(|line| line.trim_end().to_owned())
            .collect();
        let agreed = [
            "         workload0",
            "       service p50",
            "path0     62.0 us",
            "path1        +1 %",
            "path2        +2 %!",
        ];
        assert_eq!(shown, agreed);
        assert_eq!(wanted(&table(1, 3), 80), 5);
    }

    #[test]
    fn of_too_many_rows_the_worst_are_left_and_the_rest_is_counted() {
        let shown = lines(&table(1, 9), (80, 6), false, LeftOut::Mildest);
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
        let all = lines(&table, (80, 40), false, LeftOut::Mildest);
        assert_eq!((all.len(), wanted(&table, 80)), (17, 17));
        let some = lines(&table, (80, 10), false, LeftOut::Mildest);
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
        let shown = lines(&table(6, 3), (80, 40), false, LeftOut::Mildest);
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
        let (plain, styled) = (
            lines(&table(1, 3), (80, 40), false, LeftOut::Mildest),
            lines(&table(1, 3), (80, 40), true, LeftOut::Mildest),
        );
        let bare: Vec<String> =
            styled.iter().map(|line| line.replace(BOLD, "").replace(PLAIN, "")).collect();
        assert_eq!(bare, plain);
        assert_ne!(styled, plain);
    }
}
