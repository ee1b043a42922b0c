//! A web server that is not ours.

use std::process::{Command, Stdio};

use super::{Check, Finding};
use crate::tools;

pub(super) const CHECK: Check = Check { name: "nginx", needed_for: "server: nginx", inside: false, run };

fn run() -> Finding {
    let remedy = "install it (`apt-get install nginx-light`)";
    let Some(nginx) = tools::find("nginx") else {
        return Finding::missing("no program `nginx` in PATH", remedy);
    };
    // It prints its version to standard error.
    match Command::new(&nginx).arg("-v").stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Finding::works(
            String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("nginx version: ").to_owned(),
        ),
        Ok(output) => Finding::missing(format!("{} -v: {}", nginx.display(), output.status), remedy),
        Err(error) => Finding::missing(format!("{}: {error}", nginx.display()), remedy),
    }
}
