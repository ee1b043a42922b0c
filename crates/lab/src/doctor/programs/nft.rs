//! The check of `nft`, the program that sets the rules of Services.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::network::namespace::Namespace;
use crate::processes::tools;

pub(crate) const CHECK: Check =
    Check { name: "nft", needed_for: "cluster-ip, node-port", inside: true, run };

/// A translation with random choice and a counter, as a Service has it.
const PROBE: &str = "add table ip probe; add chain ip probe pre { type nat hook prerouting \
                     priority -100; }; add rule ip probe pre ip daddr 10.255.255.1 tcp dport 80 \
                     counter dnat to numgen random mod 2 map { 0 : 10.255.255.2, 1 : 10.255.255.3 \
                     }";

/// Sets rules in a namespace of their own.
pub(crate) fn set(nft: &Path, rules: &str) -> io::Result<Output> {
    let namespace = Namespace::create("probe")?;
    let mut command: Command = namespace.command(nft.as_os_str())?;
    command.arg(rules).stdin(Stdio::null()).output()
}

fn run() -> Finding {
    let Some(nft) = tools::find("nft") else {
        return Finding::missing(
            "no program `nft` in PATH",
            "install nftables (`apt-get install nftables`)",
        );
    };
    match set(&nft, PROBE) {
        Ok(output) if output.status.success() => Finding::works(nft.display().to_string()),
        Ok(output) => Finding::missing(
            String::from_utf8_lossy(&output.stderr)
                .lines()
                .next()
                .unwrap_or("it failed without a word")
                .to_owned(),
            "`modprobe nft_chain_nat nft_numgen`",
        ),
        Err(error) => Finding::missing(format!("{}: {error}", nft.display()), "reinstall nftables"),
    }
}
