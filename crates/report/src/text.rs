//! The rules of text formats: what CSV, JSON and Markdown escape, and where lines wrap.

pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod names;
pub(crate) mod wrap;
