//! A process, as `/proc` knows it.

use std::process::Command;

/// Sends a signal by name to one process.
pub(crate) fn signal(pid: u32, name: &str) {
    // The shell's own `kill`: not every machine has it as a program.
    let sent =
        Command::new("sh").args(["-c", &format!("kill -{name} {pid}")]).status().expect("sh");
    assert!(sent.success(), "cannot send {name} to {pid}");
}

/// A line of `/proc/PID/status` as a number: `VmRSS` (KiB), `Threads`.
pub(crate) fn status(pid: u32, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status"))
        .unwrap_or_else(|e| panic!("process {pid}: {e}"));
    text.lines()
        .find_map(|line| {
            line.strip_prefix(name)?.strip_prefix(':')?.split_whitespace().next()?.parse().ok()
        })
        .unwrap_or_else(|| panic!("process {pid} has no {name}"))
}

/// Memory in use, bytes.
pub(crate) fn resident_bytes(pid: u32) -> u64 {
    status(pid, "VmRSS") * 1024
}

/// Open files.
pub(crate) fn files(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap_or_else(|e| panic!("files of {pid}: {e}"))
        .count()
}

/// CPU time spent, clock ticks.
pub(crate) fn cpu_ticks(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .unwrap_or_else(|e| panic!("process {pid}: {e}"));
    // The name, in brackets, may hold anything; utime and stime are fields 14 and 15 (proc(5)).
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// Sends a signal by name to a process group, as a terminal does it.
pub(crate) fn signal_group(leader: u32, name: &str) {
    let sent =
        Command::new("sh").args(["-c", &format!("kill -{name} -{leader}")]).status().expect("sh");
    assert!(sent.success(), "cannot send {name} to group {leader}");
}

/// Kills a process that may have ended already.
pub(crate) fn try_kill(pid: u32) {
    let line = format!("kill -KILL {pid}");
    let _ = Command::new("sh").args(["-c", &line]).stderr(std::process::Stdio::null()).status();
}
