//! How an agent introduces itself.

use hopbench_sys::clock;
use hopbench_wire::{Hello, PROTOCOL};

/// This build, this machine and this process: `machine` tells its `pid` in its own PID namespace, and with `netns` the
/// network namespace of the calling thread.
pub fn hello() -> Hello {
    let mut machine = hopbench_meter::environment::machine();
    machine.insert("pid".to_owned(), std::process::id().to_string());
    machine.insert("boot_id".to_owned(), clock::boot_id());
    Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("HOPBENCH_COMMIT").unwrap_or("unknown").to_owned(),
        boot_id: clock::boot_id(),
        machine,
    }
}
