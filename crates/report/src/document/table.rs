//! A table as plain data.

use super::line::Tone;

/// More rows than this are counted, not named.
const MOST_NAMED: usize = 5;

/// A table.
#[derive(Debug)]
pub(crate) struct Table {
    /// What it shows.
    pub(crate) caption: String,
    /// Whether the caption stands above it everywhere. Pages have every caption.
    pub(crate) is_titled: bool,
    /// How pages look at it.
    pub(crate) kind: Kind,
    /// Its columns; the first names the rows.
    pub(crate) columns: Vec<Column>,
    /// Its rows.
    pub(crate) rows: Vec<Row>,
}

/// What a table is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Figures.
    Figures,
    /// Sentences.
    Words,
    /// Figures on colours; only pages show it.
    Map,
}

/// A column.
#[derive(Debug, Default)]
pub(crate) struct Column {
    /// What it is called.
    pub(crate) label: String,
    /// The unit of its values, or what else stands below the label; empty for nothing.
    pub(crate) unit: String,
    /// What it and its neighbours have in common; empty for nothing.
    pub(crate) group: String,
    /// What it holds.
    pub(crate) align: Align,
    /// Whether a terminal shows it short: figures without their interval, words cut.
    pub(crate) is_short: bool,
    /// Whether a terminal gives its names the room that the other columns leave. A name that is
    /// longer is cut in its middle.
    pub(crate) is_wide: bool,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Align {
    /// A part of the row's name.
    #[default]
    Name,
    /// Figures.
    Number,
    /// Words.
    Words,
}

/// A row.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// In the order of the columns.
    pub(crate) cells: Vec<Cell>,
    /// What a reader must know of it; empty for nothing.
    pub(crate) remark: String,
    /// Whether it is what the others are compared with.
    pub(crate) is_base: bool,
    /// Whether a group of rows begins here.
    pub(crate) begins: bool,
}

/// A value. A large run has many: it takes no more room than it needs.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    /// `4979`; empty where there is none.
    pub(crate) text: Box<str>,
    /// What stands smaller beside it: its interval, `[4979, 5078]`; empty for nothing.
    pub(crate) small: Box<str>,
    /// A mark behind both; empty for none.
    pub(crate) mark: &'static str,
    /// What the mark means here.
    pub(crate) hint: Box<str>,
    /// How it is to be taken.
    pub(crate) tone: Tone,
    /// How strong the colour of a map is: 1 to 4.
    pub(crate) strength: u8,
}

impl Table {
    /// The remarks on its rows, a line a text: `bypasses proxy (server, both)`.
    pub(crate) fn remarks(&self) -> Vec<String> {
        grouped(self.rows.iter().map(|row| (row.remark.clone(), self.name(row))))
    }

    /// The name of a row.
    fn name(&self, row: &Row) -> String {
        let names =
            self.columns.iter().zip(&row.cells).filter(|(column, _)| column.align == Align::Name);
        let names: Vec<&str> = names.map(|(_, cell)| &*cell.text).collect();
        names.join(" ").trim_end().to_owned()
    }
}

impl Column {
    /// Names of rows.
    pub(crate) fn name(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// Figures of a unit.
    pub(crate) fn number(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { label: label.into(), unit: unit.into(), align: Align::Number, ..Self::default() }
    }

    /// Words.
    pub(crate) fn words(label: impl Into<String>) -> Self {
        Self { label: label.into(), align: Align::Words, ..Self::default() }
    }

    /// The same, which a terminal shows short.
    pub(crate) fn short(self) -> Self {
        Self { is_short: true, ..self }
    }

    /// The same, to whose names a terminal gives the room that the other columns leave.
    pub(crate) fn wide(self) -> Self {
        Self { is_wide: true, ..self }
    }
}

impl Row {
    /// A row of these values.
    pub(crate) fn of(cells: impl IntoIterator<Item = Cell>) -> Self {
        Self { cells: cells.into_iter().collect(), ..Self::default() }
    }
}

impl Cell {
    /// A value with its interval.
    pub(crate) fn with_ends(text: impl Into<String>, ends: Option<[String; 2]>) -> Self {
        let small = ends.map(|ends| format!("[{}]", ends.join(", "))).unwrap_or_default();
        Self { small: small.into(), ..Self::from(text) }
    }

    /// A text that is to be taken so.
    pub(crate) fn toned(tone: Tone, text: impl Into<String>) -> Self {
        Self { tone, ..Self::from(text) }
    }

    /// Everything it says: `9.084 [8.719, 9.224]*`.
    pub(crate) fn full(&self) -> String {
        let gap = if self.small.is_empty() { "" } else { " " };
        format!("{}{gap}{}{}", self.text, self.small, self.mark)
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into().into(), ..Self::default() }
    }
}

/// A line a text, with the names of those that have it: `bypasses proxy (server, both)`.
pub(crate) fn grouped(all: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut out: Vec<(String, Vec<String>)> = Vec::new();
    for (text, name) in all {
        match out.iter_mut().find(|(known, _)| *known == text) {
            _ if text.is_empty() => {}
            Some((_, names)) => names.push(name),
            None => out.push((text, vec![name])),
        }
    }
    let line = |(text, names): &(String, Vec<String>)| {
        let more = names.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{text} ({}{more})", names[..names.len().min(MOST_NAMED)].join(", "))
    };
    out.iter().map(line).collect()
}
