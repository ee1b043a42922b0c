//! The session of a run: the cluster as a testbed, from the first question to the removal.

mod balancers;
mod builds;
mod cluster;
mod facts;
mod hops;
mod needs;
mod observers;
mod progress;
mod start;
mod targets;
mod testbed;
mod upkeep;

pub use self::cluster::Cluster;
