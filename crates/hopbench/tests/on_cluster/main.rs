//! `hopbench run` on a real cluster, through the binary.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "all of this is test")]

mod disturbed;
mod entrances;
#[path = "../cluster/ground.rs"]
mod ground;
mod mesh;
mod peers;
mod searches;
mod subjects;
