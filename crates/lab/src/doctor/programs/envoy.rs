//! The check of Envoy, the program of sidecars and gateways.

use std::process::Command;

use hopbench_model::{Nanos, SECOND};
use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::processes::tools::{self, bounded};

pub(crate) const CHECK: Check =
    Check { name: "envoy", needed_for: "sidecars and gateways", inside: false, run };

/// An Envoy that has not read a configuration by then hangs.
const MOST_NS: Nanos = 10 * SECOND;
/// A proxy that does nothing.
const PROBE: &str = "{static_resources: {listeners: []}}";

fn run() -> Finding {
    let envoy = match tools::envoy() {
        Ok(envoy) => envoy,
        Err(absent) => {
            return Finding::missing(
                absent.why,
                format!("{}; paths without it are not affected", absent.remedy),
            );
        }
    };
    let found = format!("{} ({}, from {})", envoy.version, envoy.path.display(), envoy.source);
    let mut command = Command::new(&envoy.path);
    command.args(["--mode", "validate", "--config-yaml", PROBE, "--log-level", "error"]);
    match bounded(&mut command, MOST_NS) {
        Ok(output) if output.status.success() => Finding::works(found),
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stderr);
            let last = words.lines().last().unwrap_or_default().trim().to_owned();
            Finding::missing(
                format!("{found} cannot read a configuration ({}): {last}", output.status),
                REINSTALL,
            )
        }
        Err(error) => Finding::missing(format!("{found} cannot be started: {error}"), REINSTALL),
    }
}

const REINSTALL: &str = "install it again, or name another one with --envoy";
