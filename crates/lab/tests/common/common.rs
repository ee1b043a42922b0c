//! The parts that the tests of the lab share.
#![allow(dead_code, reason = "each test binary uses a part of this")]

pub(crate) mod inside;
pub(crate) mod oracle;
pub(crate) mod pair;
// One lock for all measuring tests of the project.
#[path = "../../../hopbench/tests/lab/turn.rs"]
pub(crate) mod turn;
