//! The binary as a command: what it takes, what it says and how it ends, with nothing or little
//! measured.

mod bad_input;
mod escapes;
mod exit_codes;
mod flags;
mod image;
mod import;
#[path = "../lab/lab.rs"]
mod lab;
#[path = "../made_up/folder.rs"]
mod made_up;
mod plan;
#[path = "../../../scenario/tests/scenario/shipped/promised.rs"]
mod promised;
mod proxies;
mod registry;
mod report;
mod secrets;
mod testbeds;
