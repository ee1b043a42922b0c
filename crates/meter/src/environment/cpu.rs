//! The CPUs, and whether they are a guest's.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::facts::{Facts, put, read};
use crate::labelled;

/// The first CPU's part of `/proc/cpuinfo` fits; the rest repeats it for every other one.
const CPUINFO_BYTES: u64 = 8 * 1024;

pub(super) fn add(root: &Path, facts: &mut Facts) {
    let online = read(root, "sys/devices/system/cpu/online");
    let count = online.as_deref().and_then(count);
    put(facts, "cpus_online", online);
    put(facts, "cpu_count", count.map(|count| count.to_string()));
    if let Some(cpuinfo) = first_cpu(root) {
        put(facts, "cpu_model", model(&cpuinfo));
        put(
            facts,
            "virtualization",
            guest(&cpuinfo).then(|| "guest (hypervisor CPU flag)".to_owned()),
        );
    }
    put(facts, "cpu_boost", boost(root));
    put(facts, "hardware", hardware(root));
}

/// Whether CPUs may run faster than their nominal clock while heat and neighbours let them: 0 or 1.
/// One of Intel's drivers says the opposite.
fn boost(root: &Path) -> Option<String> {
    let turned_off = || match read(root, "sys/devices/system/cpu/intel_pstate/no_turbo")?.as_str() {
        "0" => Some("1".to_owned()),
        "1" => Some("0".to_owned()),
        _ => None,
    };
    read(root, "sys/devices/system/cpu/cpufreq/boost").or_else(turned_off)
}

fn first_cpu(root: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = File::open(root.join("proc/cpuinfo")).ok()?;
    file.take(CPUINFO_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// x86 has a name; arm64 has numbers for the maker and the design.
fn model(cpuinfo: &str) -> Option<String> {
    if let Some(name) = labelled::value(cpuinfo, "model name") {
        return Some(name.to_owned());
    }
    let implementer = labelled::value(cpuinfo, "CPU implementer")?;
    let part = labelled::value(cpuinfo, "CPU part")?;
    Some(format!("implementer {implementer} part {part}"))
}

/// Only x86 tells; elsewhere `hardware` is the hint.
fn guest(cpuinfo: &str) -> bool {
    labelled::value(cpuinfo, "flags")
        .is_some_and(|flags| flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

/// Who says to have made the machine: a cloud puts its name and the kind of instance here.
fn hardware(root: &Path) -> Option<String> {
    let parts = ["sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name"];
    let known: Vec<String> = parts.iter().filter_map(|path| read(root, path)).collect();
    Some(known.join(" ").trim().to_owned())
}

/// How many numbers a list like `0-3,5` holds.
fn count(list: &str) -> Option<u32> {
    let mut count = 0;
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count += last.checked_sub(first)?.checked_add(1)?;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::tree;

    fn facts(files: &[(&str, &str)]) -> Facts {
        let mut facts = Facts::new();
        add(tree(files).path(), &mut facts);
        facts
    }

    #[test]
    fn an_x86_guest() {
        let facts = facts(&[
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n\
                 flags\t\t: fpu hypervisor sse\n\nprocessor\t: 1\nmodel name\t: other\n",
            ),
            ("sys/devices/system/cpu/online", "0-3,6\n"),
            ("sys/class/dmi/id/sys_vendor", "Example Cloud\n"),
            ("sys/class/dmi/id/product_name", "large.2\n"),
        ]);
        assert_eq!(facts["cpu_model"], "AMD EPYC");
        assert_eq!(facts["cpus_online"], "0-3,6");
        assert_eq!(facts["cpu_count"], "5");
        assert_eq!(facts["hardware"], "Example Cloud large.2");
        assert!(facts.contains_key("virtualization"));
    }

    #[test]
    fn an_arm_machine() {
        let facts = facts(&[(
            "proc/cpuinfo",
            "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
        )]);
        assert_eq!(facts["cpu_model"], "implementer 0x41 part 0xd0c");
        assert_eq!(facts.len(), 1, "{facts:?}");
    }

    #[test]
    fn turbo_is_told_by_either_driver() {
        let boost = |file: &str, text: &str| facts(&[(file, text)]).get("cpu_boost").cloned();
        assert_eq!(boost("sys/devices/system/cpu/cpufreq/boost", "1\n").as_deref(), Some("1"));
        assert_eq!(
            boost("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n").as_deref(),
            Some("0")
        );
        assert_eq!(
            boost("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n").as_deref(),
            Some("1")
        );
        assert_eq!(boost("sys/devices/system/cpu/intel_pstate/no_turbo", "?\n"), None);
    }

    #[test]
    fn lists_are_counted() {
        for (list, expected) in [
            ("0", Some(1)),
            ("0-1", Some(2)),
            ("0-3,5,7-8", Some(7)),
            ("", None),
            ("3-1", None),
            ("0-4294967295", None),
            ("x", None),
        ] {
            assert_eq!(count(list), expected, "{list}");
        }
    }
}
