//! Pods in gVisor, through the binary: what goes through them, and that nothing of them stays.
//!
//! gVisor is an optional tool: without it these tests are skipped, also where namespaces are
//! required; with `HOPBENCH_REQUIRE_GVISOR=1` they fail.

mod ends;
#[path = "../lab/lab.rs"]
mod lab;
mod sandboxed;
mod traffic;
