//! `kill -9` of any process of a run, at any moment: nothing of it stays, and `--resume` measures
//! what is missing.

mod agent;
mod conductor;
mod tree;
