//! Observation of the cluster while trials run: its own meters, and watches over its objects.

pub mod meters;
pub mod watch;
