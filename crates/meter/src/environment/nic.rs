//! The network interfaces.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hopbench_sys::Offloads;

use super::facts::{Facts, put, read, read_raw};
use crate::meters::netdev;

/// Details are given for so many interfaces; those with a device behind them come first.
const MAX_DETAILED: usize = 8;

/// More names than this are only counted.
const MAX_NAMED: usize = 32;

const DEV_PATH: &str = "proc/thread-self/net/dev";

/// The offloads of an interface in the calling thread's network namespace: `tso on, gso on, gro
/// off, tx-checksum on`.
pub(super) fn offloads(name: &str) -> Option<String> {
    Some(in_words(hopbench_sys::offloads(name).ok()?))
}

/// As `ethtool -K` calls them, and checksums as it lists them.
fn in_words(offloads: Offloads) -> String {
    let Offloads { tso, gso, gro, tx_checksum, rx_checksum } = offloads;
    let all = [
        ("tso", tso),
        ("gso", gso),
        ("gro", gro),
        ("tx-checksum", tx_checksum),
        ("rx-checksum", rx_checksum),
    ];
    let known = all
        .iter()
        .filter_map(|(name, on)| Some(format!("{name} {}", if (*on)? { "on" } else { "off" })));
    known.collect::<Vec<_>>().join(", ")
}

pub(super) fn add(root: &Path, offloads: impl Fn(&str) -> Option<String>, facts: &mut Facts) {
    let Some(text) = read_raw(root, DEV_PATH) else {
        return;
    };
    let before = received(&text);
    let mut names: Vec<&String> = before.keys().filter(|name| *name != "lo").collect();
    names.sort_by_cached_key(|name| !root.join(sys(name, "device")).exists());
    put(facts, "nics", Some(named(&names)));
    for name in names.iter().take(MAX_DETAILED) {
        put(facts, &format!("nic_{name}_offloads"), offloads(name));
    }

    let details: Vec<(&String, Details)> = names
        .into_iter()
        .take(MAX_DETAILED)
        .filter_map(|name| Some((name, Details::read(root, name)?)))
        .collect();
    let after = read_raw(root, DEV_PATH).map(|text| received(&text)).unwrap_or_default();
    for (name, details) in details {
        // /sys shows the namespace it was mounted in, which need not be this thread's, and both may
        // have an `eth0`. Only of one and the same interface does the counter in /sys lie between
        // two readings of the one in /proc.
        let between = before[name]..=after.get(name).copied().unwrap_or(0);
        if between.contains(&details.received_bytes) {
            put(facts, &format!("nic_{name}_mtu_bytes"), details.mtu);
            put(facts, &format!("nic_{name}_driver"), details.driver);
            put(facts, &format!("nic_{name}_speed_bits_per_s"), details.speed);
        }
    }
}

fn received(text: &str) -> BTreeMap<String, u64> {
    netdev::received_bytes(text).map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

fn sys(name: &str, file: &str) -> String {
    format!("sys/class/net/{name}/{file}")
}

fn named(names: &[&String]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_NAMED).map(|name| name.as_str()).collect();
    let more = names.len() - shown.len();
    let list = shown.join(" ");
    if more > 0 { format!("{list} and {more} more") } else { list }
}

struct Details {
    received_bytes: u64,
    mtu: Option<String>,
    driver: Option<String>,
    speed: Option<String>,
}

impl Details {
    fn read(root: &Path, name: &str) -> Option<Self> {
        let received_bytes = read(root, &sys(name, "statistics/rx_bytes"))?.parse().ok()?;
        let driver = fs::read_link(root.join(sys(name, "device/driver")))
            .ok()
            .and_then(|link| Some(link.file_name()?.to_str()?.to_owned()));
        // A virtual interface's speed is made up, and asking for it may wait for the kernel's
        // network lock.
        let speed =
            driver.as_ref().and_then(|_| speed_bits_per_s(&read(root, &sys(name, "speed"))?));
        Some(Self { received_bytes, mtu: read(root, &sys(name, "mtu")), driver, speed })
    }
}

/// The kernel gives Mbit/s, and -1 (as a number of 32 bits in older versions) for unknown.
fn speed_bits_per_s(text: &str) -> Option<String> {
    let mbit: u64 = text.parse().ok().filter(|mbit| (1..u64::from(u32::MAX)).contains(mbit))?;
    Some((mbit * 1_000_000).to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::made_up::tree;

    fn dev(interfaces: &[(&str, u64)]) -> String {
        let mut text = "heading\nheading\n".to_owned();
        for (name, received) in interfaces {
            text += &format!("{name:>6}: {received} 1 0 0 0 0 0 0 5 6 0 0 0 0 0 0\n");
        }
        text
    }

    fn facts(root: &Path) -> Facts {
        let mut facts = Facts::new();
        add(root, |name| (name == "eth0").then(|| "tso on, gso off".to_owned()), &mut facts);
        facts
    }

    #[test]
    fn a_device_comes_first_with_its_details() {
        let root = tree(&[
            (DEV_PATH, &dev(&[("lo", 1), ("br0", 20), ("eth0", 300)])),
            ("sys/class/net/eth0/mtu", "1500\n"),
            ("sys/class/net/eth0/speed", "25000\n"),
            ("sys/class/net/eth0/statistics/rx_bytes", "300\n"),
            ("sys/class/net/eth0/device/vendor", "0x1\n"),
            ("sys/class/net/br0/mtu", "1450\n"),
            ("sys/class/net/br0/speed", "10000\n"),
            ("sys/class/net/br0/statistics/rx_bytes", "20\n"),
        ]);
        symlink("../../drivers/virtio_net", root.path().join("sys/class/net/eth0/device/driver"))
            .unwrap();
        let expected = [
            ("nic_br0_mtu_bytes", "1450"),
            ("nic_eth0_driver", "virtio_net"),
            ("nic_eth0_mtu_bytes", "1500"),
            ("nic_eth0_offloads", "tso on, gso off"),
            ("nic_eth0_speed_bits_per_s", "25000000000"),
            ("nics", "eth0 br0"),
        ];
        let expected: Facts =
            expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(facts(root.path()), expected);
    }

    #[test]
    fn an_interface_of_another_namespace_lends_no_details() {
        for other in ["299\n", "301\n"] {
            let root = tree(&[
                (DEV_PATH, &dev(&[("eth0", 300)])),
                ("sys/class/net/eth0/mtu", "9000\n"),
                ("sys/class/net/eth0/statistics/rx_bytes", other),
            ]);
            // Unlike files, sockets are those of the thread's own namespace.
            let expected = [("nic_eth0_offloads", "tso on, gso off"), ("nics", "eth0")];
            let expected: Facts =
                expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            assert_eq!(facts(root.path()), expected, "{other}");
        }
    }

    #[test]
    fn many_interfaces_stay_few_facts() {
        let names: Vec<String> = (0..100).map(|n| format!("veth{n:02}")).collect();
        let lines: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let text = dev(&lines);
        let mut files = vec![(DEV_PATH.to_owned(), text)];
        for name in &names {
            files.push((sys(name, "mtu"), "1450\n".to_owned()));
            files.push((sys(name, "statistics/rx_bytes"), "1\n".to_owned()));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let facts = facts(tree(&files).path());
        assert_eq!(facts.len(), MAX_DETAILED + 1);
        assert!(facts["nics"].ends_with("veth31 and 68 more"), "{}", facts["nics"]);
    }

    #[test]
    fn offloads_are_told_as_far_as_they_are_known() {
        assert_eq!(in_words(Offloads::default()), "", "which is no fact");
        let some = Offloads {
            tso: Some(true),
            gro: Some(false),
            rx_checksum: Some(true),
            ..Offloads::default()
        };
        assert_eq!(in_words(some), "tso on, gro off, rx-checksum on");
    }

    #[test]
    fn an_unknown_speed_is_none() {
        for bad in ["-1", "4294967295", "0", "", "x"] {
            assert_eq!(speed_bits_per_s(bad), None, "{bad}");
        }
    }
}
