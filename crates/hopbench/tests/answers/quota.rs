//! A CPU quota whose effect is known: an agent in a control group that may use a fifth of a CPU.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use hopbench_model::WarningKind;

use crate::lab::namespace::test_name;
use crate::lab::records::one;
use crate::lab::{Agent, Turn, program};

/// A control group with a CPU quota. It goes when it is dropped, if nobody is in it.
struct Group(PathBuf);

impl Group {
    /// A new one that may use a fifth of a CPU. `Err`: why there can be none here.
    fn new() -> Result<Self, String> {
        let is_v2 = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
        let root = if is_v2 { "/sys/fs/cgroup" } else { "/sys/fs/cgroup/cpu" };
        let quota: &[(&str, &str)] = if is_v2 {
            &[("cpu.max", "20000 100000")]
        } else {
            &[("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "20000")]
        };
        let group = Self(Path::new(root).join(format!("hopbench-test-{}", process::id())));
        let set = |(file, text): &(&str, &str)| fs::write(group.0.join(file), text);
        fs::create_dir(&group.0)
            .and_then(|()| quota.iter().try_for_each(set))
            .map_err(|error| format!("no control group can have a CPU quota here: {error}"))?;
        Ok(group)
    }

    /// Puts a process and all its threads into it.
    fn take(&self, pid: u32) {
        fs::write(self.0.join("cgroup.procs"), pid.to_string()).expect("a group for the process");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Says that this test was not run, or fails where it has to be.
fn skip(why: &str) {
    let test = test_name();
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let is_required = is_root && env::var("HOPBENCH_REQUIRE_NETNS").is_ok_and(|value| value == "1");
    assert!(!is_required, "{test} needs a CPU quota (HOPBENCH_REQUIRE_NETNS=1): {why}");
    let _ = writeln!(std::io::stdout(), "\nSKIP {test}: {why}");
}

#[test]
fn an_agent_that_its_cpu_quota_stops_is_the_limit() {
    let _turn = Turn::alone();
    let group = match Group::new() {
        Ok(group) => group,
        Err(why) => return skip(&why),
    };
    // Ends before its group does.
    let agent = Agent::insecure(&[]);
    group.take(agent.pid());
    let target = agent.target();
    let arguments =
        ["rr", &target, "--insecure", "--json", "-t", "1s", "--warmup", "200ms", "-c", "8"];
    let record = one(&program::run(&mut program(&arguments)));
    if record.environment.client.contains_key("cgroup_cpu_limit_cores") {
        return skip("the tests themselves have a CPU quota");
    }
    let (why, server) = (&record.limited_because, &record.cost.server);
    assert_eq!(record.limited_by, "cpu_quota:server", "{why}");
    assert!(why.starts_with("a CPU quota of 0.2 (cgroup ") && why.contains("stopped it"), "{why}");
    // It would use more than half a CPU, and so it is stopped for more than half of the time. Other
    // programs may take some of its CPU.
    assert!(server["throttled_ratio"] > 0.1 && server["throttled_times"] >= 3.0, "{server:?}");
    assert!(server["cores"] < 0.4, "{server:?}");
    let quota = &record.settings["server_cpu_quota"];
    assert!(quota.contains("/hopbench-test-"), "{quota}");
    let told = record.warnings.iter().find(|warning| warning.kind == WarningKind::CpuQuota);
    assert!(told.is_some_and(|told| told.detail.contains("the server for ")), "{told:?}");
    assert!(!record.cost.client.contains_key("throttled_ratio"), "{:?}", record.cost.client);
}
