//! The blocks of a document.

use super::chart::Chart;
use super::line::Line;
use super::table::Table;

/// A page as plain data.
#[derive(Debug)]
pub(crate) struct Document {
    /// What it is about.
    pub(crate) title: String,
    /// Names and values for its head.
    pub(crate) facts: Vec<[String; 2]>,
    /// Everything else, in order.
    pub(crate) blocks: Vec<Block>,
}

/// A piece of a document.
#[derive(Debug)]
pub(crate) enum Block {
    /// A heading with what stands below it.
    Part(Part),
    /// A paragraph.
    Paragraph(Weight, Line),
    /// Lines of one kind.
    List(Vec<Line>),
    /// A table.
    Table(Table),
    /// A plot with its words for those who cannot see it; only pages show it.
    Chart(Box<Chart>, String),
    /// A file as it was written; only pages show it.
    Listing(String),
}

/// How much a paragraph asks of its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// To be read.
    Plain,
    /// It is small, about what stands before it.
    Note,
    /// Not to be missed.
    Alert,
}

/// A heading with what stands below it.
#[derive(Debug)]
pub(crate) struct Part {
    /// Its name in links.
    pub(crate) id: String,
    /// The heading.
    pub(crate) title: Line,
    /// Whether it is folded away.
    pub(crate) form: Form,
    /// Which renderers have it.
    pub(crate) reach: Reach,
    /// What stands below the heading.
    pub(crate) blocks: Vec<Block>,
}

/// Whether a part is folded away, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Nowhere.
    Open,
    /// On pages.
    Folded,
    /// On pages. Elsewhere it has no heading: its blocks belong to the part around it.
    Tables,
    /// On pages and in markdown. A terminal leaves it out.
    Closed,
}

/// The renderers that have a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All.
    Everywhere,
    /// All but terminals.
    Written,
    /// Pages only.
    Page,
}

impl Part {
    /// A part that all renderers have.
    pub(crate) fn new(
        form: Form,
        id: impl Into<String>,
        title: impl Into<Line>,
        blocks: Vec<Block>,
    ) -> Self {
        Self { id: id.into(), title: title.into(), form, reach: Reach::Everywhere, blocks }
    }

    /// An open part.
    pub(crate) fn open(id: impl Into<String>, title: impl Into<Line>, blocks: Vec<Block>) -> Self {
        Self::new(Form::Open, id, title, blocks)
    }

    /// The same part for fewer renderers.
    pub(crate) fn only(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }
}

impl Block {
    /// A paragraph.
    pub(crate) fn paragraph(line: impl Into<Line>) -> Self {
        Self::Paragraph(Weight::Plain, line.into())
    }

    /// A small paragraph about what stands before it.
    pub(crate) fn note(line: impl Into<Line>) -> Self {
        Self::Paragraph(Weight::Note, line.into())
    }

    /// A paragraph that a reader must not miss.
    pub(crate) fn alert(line: impl Into<Line>) -> Self {
        Self::Paragraph(Weight::Alert, line.into())
    }
}

impl From<Part> for Block {
    fn from(part: Part) -> Self {
        Self::Part(part)
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}
