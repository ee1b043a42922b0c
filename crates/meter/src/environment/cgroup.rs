//! The CPU limit that a container runs under.

use std::path::{Component, Path};

use super::facts::{read, read_raw};

/// Reads the limit of one group, given its folder.
type ReadLimit = fn(&Path, &str) -> Option<f64>;

/// How many CPUs' time this process's cgroup may use: the smallest limit from the cgroup up to the
/// root. `None` without a limit, or where it cannot be seen.
pub(super) fn cpu_limit_cores(root: &Path) -> Option<f64> {
    let groups = read_raw(root, "proc/self/cgroup")?;
    groups.lines().filter_map(|line| hierarchy_limit(root, line)).reduce(f64::min)
}

/// The limit that one line of `/proc/self/cgroup`, `id:controllers:path`, leads to.
fn hierarchy_limit(root: &Path, line: &str) -> Option<f64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, Path::new(parts.next()?));
    // Outside of what the cgroup namespace shows.
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let (mounts, limit): (_, ReadLimit) = if controllers.is_empty() {
        (["sys/fs/cgroup", "sys/fs/cgroup/unified"], limit_v2)
    } else if controllers.split(',').any(|controller| controller == "cpu") {
        (["sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"], limit_v1)
    } else {
        return None;
    };
    // In a container the mount may begin at the container's own group, so that only the last
    // ancestor, the mount itself, exists.
    path.ancestors()
        .filter_map(Path::to_str)
        .flat_map(|group| {
            mounts.iter().map(move |mount| format!("{mount}/{}", group.trim_start_matches('/')))
        })
        .filter_map(|group| limit(root, group.trim_end_matches('/')))
        .reduce(f64::min)
}

/// `cpu.max` is `QUOTA PERIOD`, the quota `max` for none.
fn limit_v2(root: &Path, group: &str) -> Option<f64> {
    let text = read(root, &format!("{group}/cpu.max"))?;
    let (quota, period) = text.split_once(' ')?;
    cores(quota, period)
}

/// The quota is -1 for none.
fn limit_v1(root: &Path, group: &str) -> Option<f64> {
    let quota = read(root, &format!("{group}/cpu.cfs_quota_us"))?;
    let period = read(root, &format!("{group}/cpu.cfs_period_us"))?;
    cores(&quota, &period)
}

fn cores(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
    (period > 0).then(|| quota as f64 / period as f64)
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

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
}
