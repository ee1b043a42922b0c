//! `hopbench run`, `compare` and `lab` through the binary: to their ends, interrupted and killed.

mod compare;
mod crash;
#[path = "../lab/lab.rs"]
mod lab;
mod lab_by_hand;
mod lab_itself;
mod run;
