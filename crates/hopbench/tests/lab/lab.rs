//! The parts that the tests of the binary share: running it, and a lab of network namespaces that
//! needs no rights.
//!
//! - [`program`]: the binary under test, run to its end;
//! - [`Agent`]: the binary as a server, killed with its guard;
//! - [`Bench`]: `hopbench run` on a scenario of the test, and its results;
//! - [`envoy`]: the real one of this machine;
//! - [`User`]: who runs the binary;
//! - [`namespace`]: the test once more, inside namespaces of its own;
//! - [`Pair`]: two hosts and a bridge between them;
//! - [`process`]: what `/proc` knows of a process;
//! - [`Relay`]: between a client and an agent, to see, keep and withhold;
//! - [`Turn`]: a test that measures is alone on this machine, others share a turn;
//! - [`wait`]: waiting for something to become true.
#![allow(dead_code, unused_imports, reason = "each test binary uses a part of this")]

pub(crate) mod agent;
pub(crate) mod bench;
pub(crate) mod envoy;
pub(crate) mod namespace;
pub(crate) mod pair;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod records;
pub(crate) mod relay;
pub(crate) mod turn;
pub(crate) mod user;
pub(crate) mod wait;

pub(crate) use agent::Agent;
pub(crate) use bench::Bench;
pub(crate) use pair::Pair;
pub(crate) use program::{Finished, program, words};
pub(crate) use relay::Relay;
pub(crate) use turn::Turn;
pub(crate) use user::User;
