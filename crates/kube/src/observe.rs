//! Observation of the cluster while trials run: its own meters, where agents read in their place,
//! and watches over its objects.

pub mod meters;
pub(crate) mod sight;
pub mod watch;
