//! A document: the blocks of a page as plain data, and the renderers that lay them out.
//!
//! ```text
//!   topics ─► Document ─► terminal, markdown, HTML
//! ```
//!
//! Texts stand in it as they came. Each renderer makes them harmless in its own way, whichever
//! block they are in.

mod block;
mod chart;
mod html;
mod line;
mod markdown;
mod table;
mod terminal;

pub(crate) use self::block::{Block, Document, Form, Part, Reach};
pub(crate) use self::chart::{Axis, Chart, Point, Series};
pub(crate) use self::html::{body, charts, json};
pub(crate) use self::line::{Line, Tone};
pub(crate) use self::markdown::markdown;
pub(crate) use self::table::{Cell, Column, Kind, Row, Table, grouped};
pub(crate) use self::terminal::terminal;
