//! The binary with programs that the project builds from Go: pods in gVisor, what goes through them
//! and that nothing of them stays; and h2spec, which tests the target over HTTP/2.
//!
//! Both are optional tools: without them these tests are skipped, also where namespaces are
//! required; with `HOPBENCH_REQUIRE_GVISOR=1` and `HOPBENCH_REQUIRE_H2SPEC=1` they fail.

mod ends;
mod h2spec;
#[path = "../lab/lab.rs"]
mod lab;
mod sandboxed;
mod traffic;
