//! The sandboxed runtime.

use std::process::{Command, Stdio};

use super::{Check, Finding};
use crate::tools;

pub(super) const CHECK: Check = Check { name: "runsc", needed_for: "runtime runsc (gVisor)", inside: false, run };

fn run() -> Finding {
    let remedy = "put gVisor's static binary `runsc` into PATH; paths without it are not affected";
    let Some(runsc) = tools::find("runsc") else {
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
