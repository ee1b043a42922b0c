//! The processes in `/proc`: their parents, states, namespaces, CPUs and ports.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

use hopbench_model::CpuSet;
use serde::{Deserialize, Serialize};

/// A process, also after its number was given to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its number.
    pub pid: u32,
    /// When it started, clock ticks since the machine did.
    pub started: u64,
}

impl ProcessId {
    /// The process that has this number now; `None` when there is none, or it has ended and waits
    /// to be collected.
    pub(crate) fn now(pid: u32) -> Option<Self> {
        let found = stat(pid).filter(Stat::is_alive)?;
        Some(Self { pid, started: found.started })
    }

    /// Whether it has not ended.
    pub(crate) fn is_alive(self) -> bool {
        Self::now(self.pid) == Some(self)
    }
}

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
        found.extend(
            family
                .iter()
                .filter(|(pid, of)| *of == parent && *pid != ancestor)
                .map(|(pid, _)| *pid),
        );
    }
    found.remove(0);
    found
}

/// The inode of the network namespace that a process is in; `None` when it is gone.
pub(crate) fn network_of(pid: u32) -> Option<u64> {
    Some(fs::metadata(format!("/proc/{pid}/ns/net")).ok()?.ino())
}

/// The CPUs that a process may use, as the kernel says it; `None` when it is gone.
pub(crate) fn cpus_of(pid: u32) -> Option<CpuSet> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().parse().ok()
}

/// The TCP ports that are listened on in the network namespace of a process. Empty if it is gone.
pub(crate) fn listening(pid: u32) -> BTreeSet<u16> {
    const LISTEN: &str = "0A";
    let of =
        |table: &str| fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
    // The local address is field 2, `0100007F:1F90`, the state field 4.
    let port = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().take(4).collect();
        let [_, local, _, LISTEN] = fields[..] else { return None };
        u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()
    };
    ["tcp", "tcp6"]
        .iter()
        .flat_map(|table| of(table).lines().filter_map(port).collect::<Vec<_>>())
        .collect()
}

/// Whether a process is there and has not ended.
pub(crate) fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| stat.is_alive())
}

/// All processes with their parents.
fn family() -> Vec<(u32, u32)> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, stat(pid)?.parent))).collect()
}

/// The part of `/proc/PID/stat` that is needed.
#[derive(Debug, Clone, Copy)]
struct Stat {
    state: char,
    parent: u32,
    /// Clock ticks since the machine started.
    started: u64,
}

impl Stat {
    fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

fn stat(pid: u32) -> Option<Stat> {
    parsed(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parsed(stat: &str) -> Option<Stat> {
    // The name in parentheses may hold anything. State, parent and start are fields 3, 4 and 22.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    Some(Stat { state, parent, started })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn ports_that_listen_are_seen_and_others_are_not() {
        let [four, six] = ["127.0.0.1:0", "[::1]:0"].map(std::net::TcpListener::bind);
        let own = std::process::id();
        let ports: Vec<u16> = [&four, &six]
            .iter()
            .flat_map(|l| l.as_ref().ok()?.local_addr().ok())
            .map(|a| a.port())
            .collect();
        assert!(
            !ports.is_empty() && ports.iter().all(|port| listening(own).contains(port)),
            "{ports:?}"
        );
        let client =
            std::net::TcpStream::connect(four.as_ref().unwrap().local_addr().unwrap()).unwrap();
        let found = listening(own);
        assert!(!found.contains(&client.local_addr().unwrap().port()), "{found:?}");
        drop((four, six));
        // Children that other tests of this process start have every open file until they have
        // become their program, listeners among them. On a busy machine that takes a while.
        let patience = hopbench_sys::clock::now() + 10 * hopbench_model::SECOND;
        while ports.iter().any(|port| listening(own).contains(port)) {
            assert!(hopbench_sys::clock::now() < patience, "{ports:?} still listen");
        }
    }

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
        assert!(
            all.contains(&child.id()) && all.contains(&grandchild) && !all.contains(&own),
            "{all:?}"
        );
        assert_eq!(network_of(grandchild), network_of(own));
        let now = ProcessId::now(child.id()).unwrap();
        assert!(now.is_alive() && !ProcessId { started: now.started + 1, ..now }.is_alive());
        assert_eq!(cpus_of(child.id()).unwrap().0, hopbench_sys::cpu::allowed().unwrap());
        for pid in [grandchild, child.id()] {
            nix::sys::signal::kill(
                nix::unistd::Pid::from_raw(pid as i32),
                nix::sys::signal::Signal::SIGKILL,
            )
            .unwrap();
        }
        // Dead, and not collected yet.
        while now.is_alive() {}
        assert!(ProcessId::now(child.id()).is_none() && stat(child.id()).is_some());
        child.wait().unwrap();
        assert!(!is_alive(child.id()) && network_of(child.id()).is_none());
    }
}
