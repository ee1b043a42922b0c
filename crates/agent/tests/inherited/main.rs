//! Agents as testbeds start them: a session over a socket pair, and a port.

#![allow(clippy::unwrap_used, reason = "all of this file is test")]

mod load;
mod onlookers;
mod overhead;
mod rig;
mod session;
mod visits;
