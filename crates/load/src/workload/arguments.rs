//! The parameters that every workload has, and the job they make.
//!
//! They are command-line flags, and a scenario's keys are the same flags: there is one list of
//! them.

use clap::Args;
use hopbench_model::units::{Span, per_s};
use hopbench_model::{
    CpuSet, EngineKind, Job, Pacing, Params, Problem, SECOND, Schedule, Timing, Transport,
};

use crate::workload::Workload;

/// Parameters of every workload.
#[derive(Debug, Clone, Args)]
pub struct JobArguments {
    /// Length of the measured window
    #[arg(short, long, alias = "duration", value_name = "TIME", default_value = "10s")]
    time: Span,
    /// Load before the window, which is not measured
    #[arg(long, value_name = "TIME", default_value = "1s")]
    warmup: Span,
    /// Length of the intervals that are reported [default: 1s, or a tenth of the window where that
    /// is less]
    #[arg(long, value_name = "TIME")]
    interval: Option<Span>,
    /// An exchange without an answer is given up after this [default: 2s, datagrams 250ms]
    #[arg(long, value_name = "TIME")]
    timeout: Option<Span>,
    /// Connections, or flows of datagrams [default: 1]
    #[arg(short, long, value_name = "N")]
    connections: Option<u32>,
    /// Threads of the generator and of the server
    #[arg(long, value_name = "N", default_value = "1")]
    threads: u32,
    /// How bytes are moved: epoll, uring, spin, threads; several, like spin,threads, are measured
    /// in turn
    #[arg(long, value_name = "ENGINE", value_delimiter = ',', default_value = "epoll")]
    pub engine: Vec<EngineKind>,
    /// CPUs of the client, or of client/server: 0, 0/1, 0-1/2-3, /1
    #[arg(long, value_name = "CPUS")]
    cpu: Option<String>,
    /// How the gaps of a schedule are spent: sleep (cheap) or spin (exact)
    #[arg(long, value_name = "HOW", default_value = "sleep")]
    pacing: Pacing,
    /// Seed of everything random [default: a new one]
    #[arg(long)]
    seed: Option<u64>,
}

/// Parameters of workloads that have a schedule.
#[derive(Debug, Clone, Args)]
pub struct ScheduleArguments {
    /// When exchanges start: closed (one after the other), rate (evenly spaced), poisson
    #[arg(long, value_name = "SCHEDULE", value_parser = ["closed", "rate", "poisson"])]
    schedule: Option<String>,
    /// Exchanges a second over all connections; open loop
    #[arg(long, value_name = "N", value_parser = per_s)]
    rate: Option<f64>,
    /// Exchanges that are due at the same moment, with --rate
    #[arg(long, value_name = "N", default_value = "1")]
    burst: u32,
}

impl JobArguments {
    /// The job of a workload with these parameters and the first of the engines, not settled yet,
    /// and what is wrong with it so far. `seed` is for who named none. Whether the CPUs exist is
    /// for who starts the workers to check.
    pub fn job(
        &self,
        workload: &dyn Workload,
        params: Params,
        scheduled: Option<&ScheduleArguments>,
        seed: u64,
    ) -> (Job, Vec<Problem>) {
        let kind = workload.kind();
        let mut problems = Vec::new();
        let schedule = scheduled.map_or(Schedule::Closed, |s| s.resolve(&mut problems));
        let (client_cpus, server_cpus) = self.cpus(&mut problems);
        if server_cpus.is_some() && !workload.needs_agent() {
            problems.push(Problem::new(
                "--cpu",
                self.cpu.as_deref().unwrap_or_default(),
                "the client's CPUs only: the server is not ours",
            ));
        }
        // A short window still gets its intervals.
        let interval =
            self.interval.map_or_else(|| SECOND.min((self.time.0 / 10).max(1_000_000)), |t| t.0);
        let mut job = Job {
            workload: workload.name().to_owned(),
            kind: kind.carried(workload.name()),
            params,
            schedule,
            burst: scheduled.map_or(1, |s| s.burst),
            engine: self.engine.first().copied().unwrap_or(EngineKind::Epoll),
            connections: self.connections.unwrap_or(1),
            local_addresses: Vec::new(),
            threads: self.threads,
            pacing: self.pacing,
            client_cpus,
            server_cpus,
            timing: Timing {
                warmup_ns: self.warmup.0,
                window_ns: self.time.0,
                interval_ns: interval,
                timeout_ns: 2 * SECOND,
            },
            seed: self.seed.unwrap_or(seed),
        };
        match self.timeout {
            Some(timeout) => job.timing.timeout_ns = timeout.0,
            // Nothing sends a lost datagram again.
            None if job.transport() == Transport::Udp => job.timing.timeout_ns = SECOND / 4,
            None => {}
        }
        problems.extend(job.problems());
        (job, problems)
    }

    fn cpus(&self, problems: &mut Vec<Problem>) -> (Option<CpuSet>, Option<CpuSet>) {
        let Some(text) = &self.cpu else {
            return (None, None);
        };
        let (client, server) = text.split_once('/').unwrap_or((text, ""));
        let mut set = |part: &str| match part.trim() {
            "" => None,
            part => match part.parse::<CpuSet>() {
                Ok(set) => Some(set),
                Err(_) => {
                    problems.push(Problem::new(
                        "--cpu",
                        text,
                        "CPUs like 0, 0-3, 0,2 for the client, or client/server like 0/1",
                    ));
                    None
                }
            },
        };
        (set(client), set(server))
    }
}

impl ScheduleArguments {
    fn resolve(&self, problems: &mut Vec<Problem>) -> Schedule {
        match (self.schedule.as_deref(), self.rate) {
            (Some("closed"), Some(rate)) => {
                problems.push(Problem::new(
                    "--rate",
                    rate,
                    "no rate with --schedule closed: the answers set the pace; take --schedule \
                     rate",
                ));
                Schedule::Closed
            }
            (Some("closed"), None) => Schedule::Closed,
            (Some("poisson"), Some(rate)) => Schedule::Poisson(rate),
            (Some(name), None) => {
                problems.push(Problem::new("--schedule", name, "a --rate to keep"));
                Schedule::Closed
            }
            (_, Some(rate)) => Schedule::Rate(rate),
            (None, None) => Schedule::Closed,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};
    use serde_json::json;

    use super::*;

    fn job(arguments: &[&str]) -> (Job, Vec<Problem>) {
        let workload = crate::workload("rr").unwrap();
        let command = workload.arguments(Command::new("rr"));
        let command = JobArguments::augment_args(ScheduleArguments::augment_args(command));
        let matches = command.try_get_matches_from([&["rr"], arguments].concat()).unwrap();
        let scheduled = ScheduleArguments::from_arg_matches(&matches).unwrap();
        let params = workload.params(&matches).unwrap();
        JobArguments::from_arg_matches(&matches).unwrap().job(workload, params, Some(&scheduled), 7)
    }

    #[test]
    fn a_short_window_gets_its_intervals() {
        let interval = |arguments: &[&str]| job(arguments).0.timing.interval_ns;
        assert_eq!(interval(&[]), SECOND);
        assert_eq!(interval(&["--time", "2s"]), SECOND / 5);
        assert_eq!(interval(&["--time", "2s", "--interval", "1s"]), SECOND);
        assert_eq!(interval(&["--time", "5ms"]), 1_000_000);
    }

    #[test]
    fn what_is_not_given_follows_from_the_workload() {
        let (plain, problems) = job(&[]);
        assert_eq!(problems, []);
        assert_eq!((plain.seed, plain.connections, plain.schedule), (7, 1, Schedule::Closed));
        assert_eq!(plain.timing.timeout_ns, 2 * SECOND);
        assert_eq!(job(&["--udp"]).0.timing.timeout_ns, SECOND / 4);
        assert_eq!(job(&["--seed", "3"]).0.seed, 3);
        assert_eq!(job(&["--cpu", "1/2-3"]).0.server_cpus, Some(CpuSet(vec![2, 3])));
    }

    #[test]
    fn a_rate_and_a_schedule_must_agree() {
        let schedule = |arguments: &[&str]| (job(arguments).0.schedule, job(arguments).1.len());
        assert_eq!(schedule(&["--rate", "5"]), (Schedule::Rate(5.0), 0));
        assert_eq!(
            schedule(&["--rate", "5", "--schedule", "poisson"]),
            (Schedule::Poisson(5.0), 0)
        );
        assert_eq!(schedule(&["--rate", "5", "--schedule", "closed"]), (Schedule::Closed, 1));
        assert_eq!(schedule(&["--schedule", "rate"]), (Schedule::Closed, 1));
        let bursts = job(&["--rate", "5", "--burst", "16"]);
        assert_eq!((bursts.0.burst, bursts.1), (16, Vec::new()));
        assert_eq!(schedule(&["--burst", "16"]), (Schedule::Closed, 1));
        let url = crate::workload("http").unwrap();
        let matches =
            JobArguments::augment_args(Command::new("x")).get_matches_from(["x", "--cpu", "0/1"]);
        let (_, problems) =
            JobArguments::from_arg_matches(&matches).unwrap().job(url, json!({}).into(), None, 0);
        assert!(problems[0].expected.contains("the server is not ours"), "{problems:?}");
    }
}
