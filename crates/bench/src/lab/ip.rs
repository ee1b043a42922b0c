//! The program `ip`, and the names of our namespaces.

use std::process::Command;

use anyhow::{Context, Result, bail};

/// Names of our namespaces are this, the pid of their owner, and a letter.
pub(super) const PREFIX: &str = "hopbench-bench-";

/// Runs `ip` with these arguments.
pub(super) fn ip(args: &[&str]) -> Result<()> {
    let output = Command::new("ip")
        .args(args)
        .output()
        .context("`ip` (package iproute2) cannot be started")?;
    if !output.status.success() {
        bail!("`ip {}`: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
