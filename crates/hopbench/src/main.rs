//! `hopbench`: measures what each hop of a network path costs.

mod cmd;
mod ctrl_c;
mod exit;
mod invocation;
mod output;
mod testbeds;

fn main() -> std::process::ExitCode {
    exit::code(cmd::run())
}
