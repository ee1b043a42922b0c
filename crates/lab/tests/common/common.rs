//! The parts that the tests of the lab share.
#![allow(dead_code, reason = "each test binary uses a part of this")]

// One lock for all measuring tests of the project.
#[path = "../../../hopbench/tests/lab/alone.rs"]
pub(crate) mod alone;
pub(crate) mod inside;
pub(crate) mod oracle;
pub(crate) mod pair;
