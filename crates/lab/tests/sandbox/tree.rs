//! The processes of a sandbox, as `/proc` shows them.

use std::path::Path;
use std::process::Command;

use super::program::TOKEN;

/// Sends a signal by name to one process.
pub(crate) fn signal(pid: u32, name: &str) {
    // It may be gone, or not be there any more as the same user: who cares looks at what happened.
    let _ = Command::new("sh")
        .args(["-c", &format!("kill -{name} {pid}")])
        .stderr(std::process::Stdio::null())
        .status();
}

/// Sends a signal by name to a process group.
pub(crate) fn signal_group(pid: u32, name: &str) {
    let sent =
        Command::new("sh").args(["-c", &format!("kill -{name} -{pid}")]).status().expect("sh");
    assert!(sent.success(), "cannot send {name} to group {pid}");
}

/// All processes that carry this token, zombies not included.
pub(crate) fn with_token(token: &str) -> Vec<u32> {
    let line = format!("{TOKEN}={token}").into_bytes();
    let carries = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == line)
    };
    processes().into_iter().filter(carries).collect()
}

/// The first child of a process.
pub(crate) fn child_of(pid: u32) -> Option<u32> {
    let parent = |child: &u32| {
        let text = std::fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    processes().into_iter().find(|child| parent(child) == Some(pid))
}

/// Processes that are in the network namespace `space` (`net:[1]`) or hold it open.
pub(crate) fn holders_of(space: &str) -> Vec<u32> {
    let is =
        |path: &Path| std::fs::read_link(path).is_ok_and(|link| link.to_string_lossy() == space);
    let holds = |pid: &u32| {
        let process = Path::new("/proc").join(pid.to_string());
        let files = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        is(&process.join("ns/net")) || files.map(|file| file.path()).any(|file| is(&file))
    };
    processes().into_iter().filter(holds).collect()
}

fn processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
