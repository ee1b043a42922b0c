//! The check of nginx, a server program.

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::processes::tools;

pub(crate) const CHECK: Check =
    Check { name: "nginx", needed_for: "server: nginx", inside: false, run };

fn run() -> Finding {
    let remedy = "install it (`apt-get install nginx-light`)";
    let Some(nginx) = tools::find("nginx") else {
        return Finding::missing("no program `nginx` in PATH", remedy);
    };
    match tools::version(&nginx, "-v") {
        Ok(version) => Finding::works(version.trim_start_matches("nginx version: ")),
        Err(error) => Finding::missing(format!("{}: {error}", nginx.display()), remedy),
    }
}
