//! The hello by which an agent introduces itself.

use hopbench_sys::clock;
use hopbench_wire::{Hello, PROTOCOL};

/// The commit that this build was made from; `unknown` where nobody said.
pub const COMMIT: &str = match option_env!("HOPBENCH_COMMIT") {
    Some(commit) => commit,
    None => "unknown",
};

/// This build, this machine and this process: `machine` tells its `pid` in its own PID namespace,
/// and with `netns` the network namespace of the calling thread.
pub fn hello() -> Hello {
    let mut machine = hopbench_meter::environment::machine();
    machine.insert("pid".to_owned(), std::process::id().to_string());
    machine.insert("boot_id".to_owned(), clock::boot_id());
    Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: COMMIT.to_owned(),
        boot_id: clock::boot_id(),
        machine,
    }
}
