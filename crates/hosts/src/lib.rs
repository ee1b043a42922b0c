//! The testbed of agents that are already running: `hopbench serve --both-ends` on machines of any
//! sort.
//!
//! Nothing is built or started, and nothing is left. So a path is a way from a machine to another.
//! Each agent must be reached before anything is measured. The conductor keeps the sessions.
//!
//! - [`Hosts`]: the testbed;
//! - `needs`: the needs of a plan that machines do not meet;
//! - `machine`: a machine, as its agent answers;
//! - `proof`: the agents are on their machines, and the servers saw the clients.

mod hosts;
mod machine;
mod needs;
mod proof;

pub use hosts::Hosts;
