//! The processes of one program, read together: a server's master and its workers.

use std::io;

use hopbench_model::Reading;
use hopbench_sys::usage;

use crate::cgroup::CpuQuota;
use crate::meters::process;
use crate::{MeteredProcess, OpenMeter, Unavailable};

/// What the processes of a program spend together.
pub struct ProgramMeter {
    processes: Vec<(u32, OpenMeter)>,
    /// CPU quotas of the first: a program is in one control group.
    quota: Option<CpuQuota>,
}

impl ProgramMeter {
    /// Processes of one program that should be read, at most: each takes two open files.
    pub const MOST_PROCESSES: usize = 64;

    /// Opens the processes with these ids in the PID namespace of the mounted `/proc`.
    ///
    /// # Errors
    /// A process that is not there, or may not be looked at.
    pub fn open(pids: &[u32]) -> Result<Self, Unavailable> {
        let processes = pids
            .iter()
            .map(|pid| Ok((*pid, (process::METER.open)(&MeteredProcess::process(*pid))?)))
            .collect::<Result<Vec<_>, Unavailable>>()?;
        let quota = pids.first().and_then(|pid| CpuQuota::of(&MeteredProcess::process(*pid)));
        Ok(Self { processes, quota })
    }

    /// The smallest CPU quota of the program, if it has one: see [`CpuQuota::smallest`].
    pub fn quota(&self) -> Option<&str> {
        self.quota.as_ref().map(CpuQuota::smallest)
    }

    /// The sums over all of them: the values of the meter `process`, `cpu_s_total`, and how many
    /// `processes` there are. `cpu_s_total` is user and kernel together, in nanoseconds where the
    /// kernel tells; `delta::split_exactly` splits it. Of each by itself `process1_cpu_s_total` and
    /// `process1_threads`, numbered from 1 in the order of the ids. A sum does not show that one of
    /// them never waited. With a CPU quota also what [`CpuQuota::read`] says.
    ///
    /// `max_rss_bytes` is the sum of each one's own peak, and `rss_bytes` counts memory that they
    /// share once for each: both are upper bounds.
    ///
    /// # Errors
    /// A process that has ended, whether or not its parent knows: its CPU time went with it, and a
    /// sum without it would be wrong.
    pub fn read(&mut self) -> io::Result<Reading> {
        let mut sum = Reading::from([("processes".to_owned(), self.processes.len() as f64)]);
        for (number, (pid, read)) in (1..).zip(&mut self.processes) {
            let mut one = Reading::new();
            read(&mut one)?;
            let value = |name: &str| one.get(name).copied();
            if value("rss_bytes").is_none() {
                return Err(io::Error::other(format!("process {pid} has ended")));
            }
            let ticks = value("user_s_total")
                .zip(value("system_s_total"))
                .map(|(user, system)| user + system);
            let threads = value("threads");
            if let Some(cpu_s) = usage::of_process(*pid).ok().map(|ns| ns as f64 / 1e9).or(ticks) {
                sum.insert(format!("process{number}_cpu_s_total"), cpu_s);
                one.insert("cpu_s_total".to_owned(), cpu_s);
            }
            if let Some(threads) = threads {
                sum.insert(format!("process{number}_threads"), threads);
            }
            for (name, value) in one {
                *sum.entry(name).or_default() += value;
            }
        }
        if let Some(Ok(stopped)) = self.quota.as_mut().map(CpuQuota::read) {
            sum.extend(stopped);
        }
        Ok(sum)
    }
}

impl std::fmt::Debug for ProgramMeter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProgramMeter")
            .field("processes", &self.processes.len())
            .field("quota", &self.quota)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn sums_are_sums_and_a_death_is_told() {
        let mut children = [sleeper(), sleeper()];
        let pids: Vec<u32> = children.iter().map(Child::id).collect();
        let mut both = ProgramMeter::open(&pids).unwrap();
        let mut each: Vec<_> =
            pids.iter().map(|pid| ProgramMeter::open(&[*pid]).unwrap()).collect();
        let parts: Vec<f64> = each.iter_mut().map(|one| one.read().unwrap()["threads"]).collect();
        let sum = both.read().unwrap();
        assert_eq!((sum["processes"], sum["threads"]), (2.0, parts.iter().sum()));
        assert_eq!([sum["process1_threads"], sum["process2_threads"]], parts[..]);
        let spent = sum["process1_cpu_s_total"] + sum["process2_cpu_s_total"];
        assert!((spent - sum["cpu_s_total"]).abs() < 1e-9 && spent > 0.0, "{sum:?}");
        // Clock ticks: two of each process are not full yet.
        assert!((spent - sum["user_s_total"] - sum["system_s_total"]).abs() < 0.05, "{sum:?}");
        assert!(sum["rss_bytes"] > 0.0 && sum["max_rss_bytes"] >= sum["rss_bytes"], "{sum:?}");
        children[0].kill().unwrap();
        // Nobody has waited for it yet.
        let patience = hopbench_sys::clock::now() + 5_000_000_000;
        while both.read().is_ok() && hopbench_sys::clock::now() < patience {
            std::thread::yield_now();
        }
        assert!(
            both.read().is_err_and(|e| e.to_string().contains(&pids[0].to_string())),
            "it is still in /proc"
        );
        children[0].wait().unwrap();
        let told = both.read();
        let reopened = ProgramMeter::open(&pids);
        children[1].kill().unwrap();
        children[1].wait().unwrap();
        assert!(told.is_err(), "half of a program: {told:?}");
        assert!(reopened.unwrap_err().why.contains(&format!("/proc/{}/", pids[0])));
    }
}
