//! Commands about the program itself: its lists, its schema, its version, and tips.

pub(super) mod completions;
pub(super) mod habits;
pub(super) mod list;
pub(super) mod schema;
pub(super) mod version;
