//! Scenario files, from outside.

mod bad_input;
mod common;
mod comparisons;
mod mesh;
mod only;
mod peers;
mod properties;
mod schema;
mod searches;
mod shipped;
mod subjects;
mod sweeps;
mod testbeds;
mod windows;
