//! `hopbench run` in the lab, through the binary: to its end, in bad circumstances, and
//! interrupted.

#[path = "run/bad.rs"]
mod bad;
#[path = "run/interrupt.rs"]
mod interrupt;
#[path = "lab/lab.rs"]
mod lab;
#[path = "run/whole.rs"]
mod whole;
