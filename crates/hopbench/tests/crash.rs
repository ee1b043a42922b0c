//! `kill -9` of any process of a run, at any moment: nothing of it stays, and `--resume` measures
//! what is missing.

#[path = "crash/agent.rs"]
mod agent;
#[path = "crash/conductor.rs"]
mod conductor;
#[path = "lab/lab.rs"]
mod lab;
#[path = "crash/tree.rs"]
mod tree;
