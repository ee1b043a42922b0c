//! The check of `runsc`, the sandboxed runtime.

use std::path::{Path, PathBuf};
use std::process::Command;

use hopbench_model::{Nanos, SECOND};
use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::processes::runtimes::runtime;
use crate::processes::tools::{self, bounded};

pub(crate) const CHECK: Check =
    Check { name: "runsc", needed_for: "runtime runsc (gVisor)", inside: true, run };

/// A sandbox that has not ended by then hangs.
const MOST_NS: Nanos = 10 * SECOND;

fn run() -> Finding {
    let Some(runtime) = runtime("runsc") else {
        return Finding::missing("the lab does not know it", "");
    };
    let Some(runsc) = runtime.find() else {
        let remedy = format!("{}; paths without it are not affected", runtime.remedy());
        return Finding::missing("no program `runsc` in PATH", remedy);
    };
    let version = tools::version(&runsc, "--version").map_err(|e| e.to_string());
    let tried = version.and_then(|version| sandbox(&runsc).map(|()| version));
    match tried {
        Ok(version) => Finding::works(format!("{version} runs a sandbox")),
        Err(why) => Finding::missing(
            format!("{}: {why}", runsc.display()),
            "it must be static and allowed to make namespaces and to trace its own processes; \
             paths without it are not affected",
        ),
    }
}

/// Runs a program that does nothing in a sandbox.
fn sandbox(runsc: &Path) -> Result<(), String> {
    let state = PathBuf::from(format!("/run/hopbench-doctor-{}", std::process::id()));
    let mut command = Command::new(runsc);
    command.arg("--root").arg(&state).args(["--ignore-cgroups", "--network=none", "do", "true"]);
    let done = bounded(&mut command, MOST_NS);
    let _ = std::fs::remove_dir_all(&state);
    match done {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let words = String::from_utf8_lossy(&output.stderr);
            Err(format!(
                "a sandbox failed ({}): {}",
                output.status,
                words.lines().last().unwrap_or_default().trim()
            ))
        }
        Err(error) => Err(format!("a sandbox cannot be started: {error}")),
    }
}
