//! The machine that the figures belong to.

use std::fmt;

use anyhow::{Context, Result, bail};
use hopbench_model::CpuSet;
use serde::Serialize;

/// Facts that figures are worthless without.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Machine {
    /// Model of the CPU.
    pub(crate) cpu: String,
    /// CPUs that may be used.
    pub(crate) cpus: usize,
    /// Release of the kernel.
    pub(crate) kernel: String,
    /// Memory, GiB.
    pub(crate) memory_gib: f64,
}

impl Machine {
    /// This machine; what it does not tell is `unknown`.
    pub(crate) fn this() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let kernel = read("/proc/sys/kernel/osrelease").trim().to_owned();
        let kib: f64 = field(&read("/proc/meminfo"), "MemTotal")
            .and_then(|text| text.split_whitespace().next()?.parse().ok())
            .unwrap_or(0.0);
        Self {
            cpu: field(&read("/proc/cpuinfo"), "model name")
                .unwrap_or_else(|| "unknown CPU".to_owned()),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: if kernel.is_empty() { "unknown".to_owned() } else { kernel },
            memory_gib: (kib / 1_048_576.0 * 10.0).round() / 10.0,
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {} CPUs, {} GiB, Linux {}",
            self.cpu, self.cpus, self.memory_gib, self.kernel
        )
    }
}

/// The first two CPUs this process may use: one for the client, one for the server.
///
/// # Errors
/// When there is only one: the ends would take turns, and the figures would say nothing.
pub(crate) fn two_cpus() -> Result<[usize; 2]> {
    let status = std::fs::read_to_string("/proc/self/status").context("/proc/self/status")?;
    let list =
        field(&status, "Cpus_allowed_list").context("no Cpus_allowed_list in /proc/self/status")?;
    let CpuSet(cpus) = list.parse().map_err(anyhow::Error::msg)?;
    let [first, second, ..] = cpus[..] else {
        bail!("client and server need a CPU each, and this process may use only CPU {list}");
    };
    Ok([first, second])
}

/// The text behind `name` and a colon.
fn field(text: &str, name: &str) -> Option<String> {
    let line =
        text.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(':'))?;
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_proc_files() {
        assert_eq!(
            field("processor\t: 0\nmodel name\t: Test CPU\n", "model name").as_deref(),
            Some("Test CPU")
        );
        assert_eq!(
            field("Cpus_allowed:\t3\nCpus_allowed_list:\t0-1\n", "Cpus_allowed_list").as_deref(),
            Some("0-1")
        );
        assert_eq!(field("", "model name"), None);
    }
}
