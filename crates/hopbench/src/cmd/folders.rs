//! Commands about results folders.

pub(super) mod compare;
pub(super) mod import;
pub(super) mod report;
