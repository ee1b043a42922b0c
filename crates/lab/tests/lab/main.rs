//! The lab and what it is made of: links and rates, nodes and pods, proxies, all of them real.

#![allow(clippy::disallowed_methods, reason = "plain threads stand in for agents")]
#![allow(clippy::print_stderr, reason = "times are for who reads the output")]

#[path = "../common/inside.rs"]
mod inside;
mod mesh;
mod netlink;
mod netlink_shape;
mod oracle;
mod pair;
mod plans;
mod testbed;
mod traffic;
// One lock for all measuring tests of the project.
#[allow(dead_code, reason = "a part of it is used here")]
#[path = "../../../hopbench/tests/lab/turn.rs"]
mod turn;
