//! The facts of a machine that belong in every record.

mod cpu;
mod facts;
mod nic;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::{cgroup, labelled};
use facts::{Facts, put, read, read_raw};

/// Facts that are the content of one file. Sysctls of the network are those of the calling
/// thread's namespace; some exist only in the machine's own.
const FILES: &[(&str, &str)] = &[
    ("kernel", "proc/sys/kernel/osrelease"),
    ("hostname", "proc/sys/kernel/hostname"),
    ("cpu_governor", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    ("cpu_smt_active", "sys/devices/system/cpu/smt/active"),
    ("clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("tcp_congestion_control", "proc/sys/net/ipv4/tcp_congestion_control"),
    ("tcp_rmem_bytes", "proc/sys/net/ipv4/tcp_rmem"),
    ("tcp_wmem_bytes", "proc/sys/net/ipv4/tcp_wmem"),
    ("rmem_max_bytes", "proc/sys/net/core/rmem_max"),
    ("wmem_max_bytes", "proc/sys/net/core/wmem_max"),
    ("somaxconn", "proc/sys/net/core/somaxconn"),
    ("ip_local_port_range", "proc/sys/net/ipv4/ip_local_port_range"),
    ("netdev_max_backlog", "proc/sys/net/core/netdev_max_backlog"),
    ("busy_poll_us", "proc/sys/net/core/busy_poll"),
    ("busy_read_us", "proc/sys/net/core/busy_read"),
    ("default_qdisc", "proc/sys/net/core/default_qdisc"),
];

/// Facts of this machine by name, as text. What cannot be read is absent.
///
/// Names carry their unit. `cpu_governor` is CPU 0's. However large the machine, less than a
/// hundred small files are read.
pub fn machine() -> BTreeMap<String, String> {
    machine_at(Path::new("/"), nic::offloads)
}

/// With the offloads of an interface as `offloads` tells them: the kernel has no file for these.
fn machine_at(root: &Path, offloads: impl Fn(&str) -> Option<String>) -> Facts {
    let mut facts = Facts::new();
    for (name, path) in FILES {
        put(&mut facts, name, read(root, path));
    }
    put(&mut facts, "netns", netns(root));
    let meminfo = read_raw(root, "proc/meminfo");
    let memory = meminfo.as_deref().and_then(|text| labelled::bytes(text, "MemTotal"));
    put(&mut facts, "memory_bytes", memory.map(|bytes| bytes.to_string()));
    cpu::add(root, &mut facts);
    nic::add(root, offloads, &mut facts);
    let limit = cgroup::cpu_limit_cores(root);
    put(&mut facts, "cgroup_cpu_limit_cores", limit.map(|cores| cores.to_string()));
    facts
}

/// The inode of the calling thread's network namespace, as `lsns` and `stat` tell it: threads and
/// processes with one number share their interfaces.
fn netns(root: &Path) -> Option<String> {
    let link = fs::read_link(root.join("proc/thread-self/ns/net")).ok()?;
    Some(link.to_str()?.strip_prefix("net:[")?.strip_suffix(']')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::tree;

    #[test]
    fn files_become_facts() {
        let root = tree(&[
            ("proc/sys/kernel/osrelease", "6.18.0\n"),
            ("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"),
            ("proc/sys/net/core/busy_poll", "0\n"),
            ("proc/meminfo", "MemTotal:       24689300 kB\nMemFree: 1 kB\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "\n"),
        ]);
        let expected = [
            ("busy_poll_us", "0"),
            ("kernel", "6.18.0"),
            ("memory_bytes", "25281843200"),
            ("tcp_rmem_bytes", "4096 131072 6291456"),
        ];
        let expected: Facts =
            expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(machine_at(root.path(), |_| None), expected, "an empty file is no fact");
    }

    #[test]
    fn the_network_namespace_is_told_by_its_inode() {
        use std::os::unix::fs::MetadataExt;
        let inode = fs::metadata("/proc/self/ns/net").unwrap().ino();
        assert_eq!(machine()["netns"], inode.to_string());
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("proc/thread-self/ns")).unwrap();
        std::os::unix::fs::symlink("uts:[4026531838]", root.path().join("proc/thread-self/ns/net"))
            .unwrap();
        assert!(!machine_at(root.path(), |_| None).contains_key("netns"));
    }

    #[test]
    fn nothing_to_read_is_nothing_known() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(machine_at(root.path(), |_| None), Facts::new());
    }
}
