//! Commands about results folders.

pub(super) mod compare;
pub(super) mod report;
