//! A scenario's text as a tree of nodes with positions, and readers of its fields.

pub(crate) mod fields;
pub(crate) mod json;
pub(crate) mod node;
pub(crate) mod problem;
pub(crate) mod share;
pub(crate) mod values;
pub(crate) mod yaml;
