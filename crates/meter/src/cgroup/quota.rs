//! The time for which CPU quotas stopped a process.

use std::io;
use std::path::Path;

use hopbench_model::Reading;

use super::hierarchy::{QuotaGroup, with_quota};
use crate::MeteredProcess;
use crate::procfile::{ProcFile, unexpected};

/// The CPU quotas of a process: that of its control group, and those of the groups above that can
/// be seen from here.
///
/// A group that has used up its quota is stopped until the next period begins, which mostly is
/// within 100 ms.
#[derive(Debug)]
pub struct CpuQuota {
    /// The `cpu.stat` of each group with a quota.
    groups: Vec<ProcFile>,
    smallest: String,
}

impl CpuQuota {
    /// Opens them. `None`: there is none. One that is set later is not seen.
    pub fn of(process: &MeteredProcess) -> Option<Self> {
        Self::below(Path::new("/"), &process.proc_folder())
    }

    fn below(root: &Path, process: &str) -> Option<Self> {
        let found = with_quota(root, process.trim_start_matches('/'));
        let smallest = found.iter().min_by(|a, b| a.cores.total_cmp(&b.cores))?;
        let smallest = format!("{} (cgroup {})", smallest.cores, smallest.path);
        let stat = |group: &QuotaGroup| {
            let path = root.join(&group.folder).join("cpu.stat");
            ProcFile::open(path.to_str()?.to_owned()).ok()
        };
        let groups: Vec<ProcFile> = found.iter().filter_map(stat).collect();
        (!groups.is_empty()).then_some(Self { groups, smallest })
    }

    /// The smallest one in cores, and its group: `1.3 (cgroup /a)`.
    pub fn smallest(&self) -> &str {
        &self.smallest
    }

    /// What the quotas did so far: `throttled_s_total` is the time for which they stopped the
    /// process, `throttled_times_total` how often. The kernel adds up the time of each CPU that
    /// the process was stopped on. Several quotas are added up, too.
    ///
    /// # Errors
    /// A group that is gone, or a `cpu.stat` that says no such time.
    pub fn read(&mut self) -> io::Result<Reading> {
        let (mut seconds, mut times) = (0.0, 0.0);
        for group in &mut self.groups {
            let (more_seconds, more_times) = stopped(&group.text()?)
                .ok_or_else(|| unexpected("cpu.stat", "time for which a quota stopped it"))?;
            seconds += more_seconds;
            times += more_times;
        }
        Ok(Reading::from([
            ("throttled_s_total".to_owned(), seconds),
            ("throttled_times_total".to_owned(), times),
        ]))
    }
}

/// For how many seconds a `cpu.stat` says that a quota stopped its group, and how often. Version 2
/// of cgroups has microseconds, version 1 nanoseconds.
fn stopped(text: &str) -> Option<(f64, f64)> {
    let value = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok())
    };
    let seconds = match value("throttled_usec") {
        Some(us) => us as f64 / 1e6,
        None => value("throttled_time")? as f64 / 1e9,
    };
    Some((seconds, value("nr_throttled")? as f64))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::made_up::tree;

    const V2: &str = "usage_usec 2514327\nuser_usec 1000000\nsystem_usec 1514327\nnr_periods 52\n\
                      nr_throttled 31\nthrottled_usec 1250337\nnr_bursts 0\nburst_usec 0\n";
    /// Of a run of 46 s under a quota of 1.3 CPUs of two.
    const V1: &str = "nr_periods 462\nnr_throttled 135\nthrottled_time 2412053977\nnr_bursts 0\n\
                      burst_time 0\n";

    fn reading(seconds: f64, times: f64) -> Reading {
        [("throttled_s_total".to_owned(), seconds), ("throttled_times_total".to_owned(), times)]
            .into()
    }

    #[test]
    fn both_versions_of_cgroups_say_how_long_a_quota_stopped_a_group() {
        assert_eq!(stopped(V2), Some((1.250_337, 31.0)));
        assert_eq!(stopped(V1), Some((2.412_053_977, 135.0)));
        // Where the controller is off, or the group is the root.
        for bad in ["", "usage_usec 5\n", "nr_throttled 3\n", "nr_throttled x\nthrottled_usec 1"] {
            assert_eq!(stopped(bad), None, "{bad:?} was accepted");
        }
    }

    #[test]
    fn the_quotas_of_all_groups_above_count() {
        let root = tree(&[
            ("proc/self/cgroup", "0::/a/b/c\n"),
            ("sys/fs/cgroup/cpu.stat", "usage_usec 5\n"),
            ("sys/fs/cgroup/a/cpu.max", "130000 100000\n"),
            ("sys/fs/cgroup/a/cpu.stat", V2),
            // Without a quota of its own: nothing is read of it.
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/a/b/cpu.stat", "nr_throttled 1000\nthrottled_usec 1000000000\n"),
            ("sys/fs/cgroup/a/b/c/cpu.max", "200000 100000\n"),
            ("sys/fs/cgroup/a/b/c/cpu.stat", "nr_throttled 0\nthrottled_usec 0\n"),
        ]);
        let mut quota = CpuQuota::below(root.path(), "/proc/self").unwrap();
        assert_eq!(quota.smallest(), "1.3 (cgroup /a)");
        assert_eq!(quota.read().unwrap(), reading(1.250_337, 31.0));
        let own = root.path().join("sys/fs/cgroup/a/b/c/cpu.stat");
        fs::write(&own, "nr_throttled 2\nthrottled_usec 500000\n").unwrap();
        assert_eq!(quota.read().unwrap(), reading(1.750_337, 33.0));
        fs::write(&own, "").unwrap();
        let error = quota.read().unwrap_err().to_string();
        assert!(error.contains("cpu.stat"), "{error}");
    }

    #[test]
    fn version_1_is_read_where_the_mount_is() {
        let root = tree(&[
            ("proc/9/cgroup", "3:cpu,cpuacct:/hostile\n0::/\n"),
            ("sys/fs/cgroup/cpu/hostile/cpu.cfs_quota_us", "130000\n"),
            ("sys/fs/cgroup/cpu/hostile/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu/hostile/cpu.stat", V1),
        ]);
        let mut quota = CpuQuota::below(root.path(), "proc/9").unwrap();
        assert_eq!(quota.smallest(), "1.3 (cgroup /hostile)");
        assert_eq!(quota.read().unwrap(), reading(2.412_053_977, 135.0));
    }

    #[test]
    fn without_a_quota_nothing_is_opened() {
        let cases: [&[(&str, &str)]; 3] = [
            &[],
            &[("proc/self/cgroup", "0::/a\n"), ("sys/fs/cgroup/a/cpu.stat", V2)],
            &[
                ("proc/self/cgroup", "0::/a\n"),
                ("sys/fs/cgroup/a/cpu.max", "max 100000\n"),
                ("sys/fs/cgroup/a/cpu.stat", V2),
            ],
        ];
        for files in cases {
            assert!(CpuQuota::below(tree(files).path(), "proc/self").is_none(), "{files:?}");
        }
    }
}
