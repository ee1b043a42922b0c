//! The sandboxed runtime.

use std::process::{Command, Stdio};

use super::{Check, Finding};
use crate::runtimes::runtime;

pub(super) const CHECK: Check = Check { name: "runsc", needed_for: "runtime runsc (gVisor)", inside: false, run };

fn run() -> Finding {
    let Some(runtime) = runtime("runsc") else { return Finding::missing("the lab does not know it", "") };
    let remedy = format!("{}; paths without it are not affected", runtime.remedy());
    let Some(runsc) = runtime.find() else {
        return Finding::missing("no program `runsc` in PATH", remedy);
    };
    match Command::new(&runsc).arg("--version").stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            Finding::works(text.lines().next().unwrap_or("runsc").to_owned())
        }
        Ok(output) => Finding::missing(format!("{} --version: {}", runsc.display(), output.status), remedy),
        Err(error) => Finding::missing(format!("{}: {error}", runsc.display()), remedy),
    }
}
