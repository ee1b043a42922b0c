//! How an agent introduces itself.

use hopbench_sys::clock;
use hopbench_wire::{Hello, PROTOCOL};

/// This build and this machine.
pub fn hello() -> Hello {
    Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("HOPBENCH_COMMIT").unwrap_or("unknown").to_owned(),
        boot_id: clock::boot_id(),
        machine: hopbench_meter::environment::machine(),
    }
}
