//! Memory of a process, from `/proc/PID/status`.

use anyhow::{Context, Result};

use crate::process::RunningProgram;

/// A kind of memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MemoryKind {
    /// Resident now.
    Resident,
    /// The most that was ever resident.
    Peak,
}

/// User memory of a program, bytes; kernel memory (sockets, buffers) is not in it.
///
/// # Errors
/// When the program is gone.
pub(crate) fn bytes(program: &RunningProgram, kind: MemoryKind) -> Result<f64> {
    let name = match kind {
        MemoryKind::Resident => "VmRSS",
        MemoryKind::Peak => "VmHWM",
    };
    parse(&program.proc_file("status")?, name)
        .with_context(|| format!("no {name} in the status of `{}`", program.shown()))
}

fn parse(status: &str, name: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_calls_kb_is_kib() {
        let status = "Name:\thopbench\nVmHWM:\t    5120 kB\nVmRSS:\t    4096 kB\n";
        assert_eq!(parse(status, "VmRSS"), Some(4_194_304.0));
        assert_eq!(parse(status, "VmHWM"), Some(5_242_880.0));
        assert_eq!(parse(status, "VmSwap"), None);
    }
}
