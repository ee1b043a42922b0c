//! Which process started which.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// The processes whose parent this is.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let family = family();
    family.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid).collect()
}

/// The processes that descend from this one, itself not among them.
pub(crate) fn beneath(ancestor: u32) -> Vec<u32> {
    let family = family();
    let mut found = vec![ancestor];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        next += 1;
        found.extend(family.iter().filter(|(pid, of)| *of == parent && *pid != ancestor).map(|(pid, _)| *pid));
    }
    found.remove(0);
    found
}

/// The inode of the network namespace that a process is in; `None` when it is gone.
pub(crate) fn network_of(pid: u32) -> Option<u64> {
    Some(fs::metadata(format!("/proc/{pid}/ns/net")).ok()?.ino())
}

/// Whether a process is there and has not ended.
pub(crate) fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// All processes with their parents.
fn family() -> Vec<(u32, u32)> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, stat(pid)?.1))).collect()
}

/// State and parent.
fn stat(pid: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; state and parent are the fields after it.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_child_is_found_with_its_own_and_is_gone_afterwards() {
        let mut shell = Command::new("sh");
        // Two commands: a shell becomes its last one.
        shell.args(["-c", "sleep 60; true"]).stdin(Stdio::null());
        let mut child = shell.spawn().unwrap();
        let own = std::process::id();
        let grandchild = loop {
            if let [only] = beneath(child.id())[..] {
                break only;
            }
        };
        assert!(children(own).contains(&child.id()) && !children(own).contains(&grandchild));
        let all = beneath(own);
        assert!(all.contains(&child.id()) && all.contains(&grandchild) && !all.contains(&own), "{all:?}");
        assert_eq!(network_of(grandchild), network_of(own));
        for pid in [grandchild, child.id()] {
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), nix::sys::signal::Signal::SIGKILL).unwrap();
        }
        child.wait().unwrap();
        assert!(!is_alive(child.id()) && network_of(child.id()).is_none());
    }
}
