//! The check of the limit of open files: a connection is one.

use hopbench_testbed::Finding;

use crate::doctor::check::Check;

pub(crate) const CHECK: Check =
    Check { name: "open files", needed_for: "many connections", inside: false, run };

/// Ten thousand connections and what else a process has open.
const ENOUGH: u64 = 10_100;

fn run() -> Finding {
    match hopbench_sys::limits::raise_open_files(ENOUGH) {
        Ok(n) if n >= ENOUGH => Finding::works(format!("at least {n}")),
        Ok(n) => Finding::limited(
            format!("{n}: at most about {} connections at one end", n.saturating_sub(100)),
            "raise the hard limit: `ulimit -Hn`, LimitNOFILE= or limits.conf",
        ),
        Err(error) => {
            Finding::missing(format!("the limit cannot be read: {error}"), "look at `ulimit -n`")
        }
    }
}
