//! The testbed of agents that somebody started: `hopbench serve --both-ends` on machines of any sort.
//!
//! Nothing is built and nothing is started, so that all there can be is a way from a machine to another, and nothing is
//! left when it is over. Each agent must be reached before anything is measured; how sessions are kept is the
//! conductor's affair.
//!
//! - [`Hosts`]: the testbed;
//! - `needs`: what a plan asks for that machines are not;
//! - `machine`: an agent, as it answers;
//! - `proof`: that the agents are where they should be, and that the servers saw the clients.

mod hosts;
mod machine;
mod needs;
mod proof;

pub use hosts::Hosts;
