//! Scenario files, from outside.

mod bad_input;
mod bad_testbeds;
mod common;
mod comparisons;
mod mesh;
mod only;
mod properties;
mod scale;
mod schema;
mod search_forms;
mod searches;
mod shipped;
mod sweeps;
mod testbeds;
