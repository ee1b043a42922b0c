//! The control groups with a CPU quota that a process is in.

use std::fs;
use std::path::{Component, Path};

/// A control group with a CPU quota.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuotaGroup {
    /// Its path, as the process sees it: `/a/b`.
    pub(super) path: String,
    /// Its folder, from the root of the file system: `sys/fs/cgroup/a/b`.
    pub(super) folder: String,
    /// How many CPUs' time it may use.
    pub(super) cores: f64,
}

/// Reads the quota of one group, cores, given its folder.
type ReadQuota = fn(&Path, &str) -> Option<f64>;

/// How many CPUs' time this process may use: the smallest quota from its group up to the root.
/// `None` without a quota, or where it cannot be seen.
pub(crate) fn cpu_limit_cores(root: &Path) -> Option<f64> {
    with_quota(root, "proc/self").iter().map(|group| group.cores).reduce(f64::min)
}

/// The groups with a quota that a process is in, its own first. `process` is its folder in `/proc`.
/// Groups that this process's cgroup namespace or its mounts hide are left out.
pub(super) fn with_quota(root: &Path, process: &str) -> Vec<QuotaGroup> {
    let groups =
        |process: &str| fs::read_to_string(root.join(process).join("cgroup")).unwrap_or_default();
    let (theirs, own) = (groups(process), groups("proc/self"));
    let hierarchies = theirs.lines().filter_map(hierarchy);
    hierarchies
        .flat_map(|(controllers, path)| {
            let own = own.lines().filter_map(hierarchy).find(|(same, _)| *same == controllers);
            of_hierarchy(root, controllers, path, own.map(|(_, path)| path))
        })
        .collect()
}

/// The controllers and the path in a line of `/proc/PID/cgroup`, `id:controllers:path`.
fn hierarchy(line: &str) -> Option<(&str, &str)> {
    let mut parts = line.splitn(3, ':').skip(1);
    Some((parts.next()?, parts.next()?))
}

/// Those of one hierarchy, in which a process has this path and this process has the path `own`.
fn of_hierarchy(root: &Path, controllers: &str, group: &str, own: Option<&str>) -> Vec<QuotaGroup> {
    let path = Path::new(group);
    // Outside of what the cgroup namespace shows.
    if path.components().any(|part| part == Component::ParentDir) {
        return Vec::new();
    }
    let (mounts, quota): (_, ReadQuota) = if controllers.is_empty() {
        (["sys/fs/cgroup", "sys/fs/cgroup/unified"], quota_v2)
    } else if controllers.split(',').any(|controller| controller == "cpu") {
        (["sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"], quota_v1)
    } else {
        return Vec::new();
    };
    let folder = |mount: &str, group: &str| {
        format!("{mount}/{}", group.trim_start_matches('/')).trim_end_matches('/').to_owned()
    };
    // In a container the mount may begin at the container's own group, which the path names all the
    // same. It is none of a process in the container beside it.
    let is_there = mounts.into_iter().any(|mount| root.join(folder(mount, group)).is_dir());
    let is_within_own = own.is_some_and(|own| path.starts_with(own));
    if !is_there && !is_within_own {
        return Vec::new();
    }
    // One mount is enough: the second of version 1 mostly is the first by another name.
    let of_group = |group: &str| {
        mounts.into_iter().find_map(|mount| {
            let folder = folder(mount, group);
            let cores = quota(root, &folder)?;
            Some(QuotaGroup { path: group.to_owned(), folder, cores })
        })
    };
    // Of a path that is not there only the last ancestor exists, the mount itself.
    path.ancestors().filter_map(Path::to_str).filter_map(of_group).collect()
}

/// `cpu.max` is `QUOTA PERIOD`, the quota `max` for none.
fn quota_v2(root: &Path, folder: &str) -> Option<f64> {
    let text = read(root, &format!("{folder}/cpu.max"))?;
    let (quota, period) = text.split_once(' ')?;
    cores(quota, period)
}

/// The quota is -1 for none.
fn quota_v1(root: &Path, folder: &str) -> Option<f64> {
    let quota = read(root, &format!("{folder}/cpu.cfs_quota_us"))?;
    let period = read(root, &format!("{folder}/cpu.cfs_period_us"))?;
    cores(&quota, &period)
}

fn read(root: &Path, path: &str) -> Option<String> {
    Some(fs::read_to_string(root.join(path)).ok()?.trim().to_owned())
}

fn cores(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
    (period > 0).then(|| quota as f64 / period as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::tree;

    /// Name, files, limit.
    type Case = (&'static str, &'static [(&'static str, &'static str)], Option<f64>);

    #[test]
    fn the_smallest_limit_up_to_the_root_counts() {
        #[rustfmt::skip]
        let cases: &[Case] = &[
            ("v2, own limit", &[
                ("proc/self/cgroup", "0::/a/b\n"),
                ("sys/fs/cgroup/a/cpu.max", "400000 100000\n"),
                ("sys/fs/cgroup/a/b/cpu.max", "150000 100000\n")], Some(1.5)),
            ("v2, a parent's limit", &[
                ("proc/self/cgroup", "0::/a/b\n"),
                ("sys/fs/cgroup/a/cpu.max", "50000 100000\n"),
                ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n")], Some(0.5)),
            ("v2, a container's mount", &[
                ("proc/self/cgroup", "0::/\n"),
                ("sys/fs/cgroup/cpu.max", "200000 100000\n")], Some(2.0)),
            ("v2, none", &[
                ("proc/self/cgroup", "0::/a\n"),
                ("sys/fs/cgroup/a/cpu.max", "max 100000\n")], None),
            ("v1", &[
                ("proc/self/cgroup", "4:memory:/m\n2:cpu,cpuacct:/pod/x\n0::/\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")], Some(2.5)),
            ("v1, none", &[
                ("proc/self/cgroup", "2:cpu:/\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")], None),
            ("outside of the namespace", &[
                ("proc/self/cgroup", "0::/../a\n"),
                ("sys/fs/cgroup/cpu.max", "200000 100000\n")], None),
            ("broken", &[
                ("proc/self/cgroup", "x\n0::/\n"), ("sys/fs/cgroup/cpu.max", "1 0\n")], None),
        ];
        for (name, files, expected) in cases {
            assert_eq!(cpu_limit_cores(tree(files).path()), *expected, "{name}");
        }
    }

    #[test]
    fn each_group_counts_once_however_often_it_is_mounted() {
        let (quota, period) = ("cpu.cfs_quota_us", "cpu.cfs_period_us");
        let file = |mount: &str, name: &str| format!("sys/fs/cgroup/{mount}/a/{name}");
        let files = ["cpu", "cpu,cpuacct"].map(|mount| (file(mount, quota), file(mount, period)));
        let mut all = vec![
            ("proc/7/cgroup", "2:cpu,cpuacct:/a/b\n"),
            ("sys/fs/cgroup/cpu/a/b/cpu.shares", "1024\n"),
        ];
        for (quota, period) in &files {
            all.extend([(quota.as_str(), "50000\n"), (period.as_str(), "100000\n")]);
        }
        let expected = QuotaGroup {
            path: "/a".to_owned(),
            folder: "sys/fs/cgroup/cpu/a".to_owned(),
            cores: 0.5,
        };
        assert_eq!(with_quota(tree(&all).path(), "proc/7"), [expected]);
    }

    #[test]
    fn the_mount_of_a_container_is_no_group_of_the_container_beside_it() {
        let own = "/kubepods/pod1/agent";
        let quotas = |of_process: &str| {
            let groups = [own, of_process].map(|path| format!("2:cpu:{path}\n"));
            let root = tree(&[
                ("proc/self/cgroup", groups[0].as_str()),
                ("proc/7/cgroup", groups[1].as_str()),
                // The mount begins at the own group.
                ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            ]);
            let found = with_quota(root.path(), "proc/7");
            found.iter().map(|group| group.cores).collect::<Vec<_>>()
        };
        assert_eq!(quotas("/kubepods/pod1/program"), [] as [f64; 0]);
        assert_eq!(quotas("/kubepods/pod1/agent-2"), [] as [f64; 0]);
        assert_eq!(quotas(own), [2.0]);
        assert_eq!(quotas("/kubepods/pod1/agent/inner"), [2.0]);
    }
}
