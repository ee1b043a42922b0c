//! Removal of what runs made: of one's own run, and of runs that gave no sign of life for a while.

pub mod garbage_collect;
pub(crate) mod heartbeat;
pub(crate) mod teardown;
