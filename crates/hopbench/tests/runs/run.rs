//! `hopbench run` in the lab, through the binary: to its end, in bad circumstances, and
//! interrupted.

mod bad;
mod interrupt;
mod whole;
