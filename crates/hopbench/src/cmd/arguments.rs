//! The flags that every workload has, and the job they make.

use clap::{ArgMatches, Args};
use hopbench_load::workload::Workload;
use hopbench_model::units::Span;
use hopbench_model::{CpuSet, EngineKind, Job, Pacing, Problem, SECOND, Schedule, Timing};
use serde_json::Value;

use super::token::TokenArgs;

/// Flags of every workload.
#[derive(Debug, Args)]
pub(super) struct Common {
    /// Length of the measured window
    #[arg(short, long, value_name = "TIME", default_value = "10s")]
    pub(super) time: Span,
    /// Load before the window, which is not measured
    #[arg(long, value_name = "TIME", default_value = "1s")]
    warmup: Span,
    /// Length of the intervals that are reported [default: 1s, or a tenth of the window where that is less]
    #[arg(long, value_name = "TIME", default_value = "1s", hide_default_value = true)]
    interval: Span,
    /// An exchange without an answer is given up after this [default: 2s, datagrams 250ms]
    #[arg(long, value_name = "TIME")]
    timeout: Option<Span>,
    /// Connections, or flows of datagrams
    #[arg(short, long, value_name = "N")]
    connections: Option<u32>,
    /// Threads of the generator and of the server
    #[arg(long, value_name = "N", default_value = "1")]
    threads: u32,
    /// How bytes are moved: epoll, uring, spin, threads; several, like spin,threads, are measured in turn
    #[arg(long, value_name = "ENGINE", value_delimiter = ',', default_value = "epoll")]
    pub(super) engine: Vec<EngineKind>,
    /// CPUs of the client, or of client/server: 0, 0/1, 0-1/2-3, /1
    #[arg(long, value_name = "CPUS")]
    cpu: Option<String>,
    /// How the gaps of a schedule are spent: sleep (cheap) or spin (exact)
    #[arg(long, value_name = "HOW", default_value = "sleep")]
    pacing: Pacing,
    /// Seed of everything random [default: a new one]
    #[arg(long)]
    seed: Option<u64>,
    /// One JSON record a line instead of text
    #[arg(long)]
    pub(super) json: bool,
    /// Only IPv4 addresses
    #[arg(short = '4', long, help_heading = "Connection", conflicts_with = "ipv6")]
    ipv4: bool,
    /// Only IPv6 addresses
    #[arg(short = '6', long, help_heading = "Connection")]
    ipv6: bool,
    #[command(flatten)]
    pub(super) token: TokenArgs,
}

/// Flags of workloads that have a schedule.
#[derive(Debug, Args)]
pub(super) struct Scheduled {
    /// When exchanges start: closed (one after the other), rate (evenly spaced), poisson
    #[arg(long, value_name = "SCHEDULE", value_parser = ["closed", "rate", "poisson"])]
    schedule: Option<String>,
    /// Exchanges a second over all connections; open loop
    #[arg(long, value_name = "N")]
    rate: Option<f64>,
}

impl Common {
    /// The address family that was asked for.
    pub(super) fn family(&self) -> Option<u8> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(4),
            (_, true) => Some(6),
            _ => None,
        }
    }

    /// The job of a workload with these flags, not settled yet, and what is wrong with it so far.
    pub(super) fn job(
        &self,
        workload: &dyn Workload,
        params: Value,
        scheduled: Option<&Scheduled>,
        matches: &ArgMatches,
    ) -> (Job, Vec<Problem>) {
        let nature = workload.nature();
        let mut problems = Vec::new();
        let schedule = scheduled.map_or(nature.schedule, |s| s.resolve(nature.schedule, &mut problems));
        let (client_cpus, server_cpus) = self.cpus(&mut problems);
        problems.extend(client_cpus.as_ref().and_then(absent));
        if server_cpus.is_some() && !nature.needs_agent {
            problems.push(Problem::new(
                "--cpu",
                self.cpu.as_deref().unwrap_or_default(),
                "the client's CPUs only: the server is not ours",
            ));
        }
        let datagrams = nature.datagrams || params.get("udp") == Some(&Value::Bool(true));
        let patience = self.timeout.map_or(if datagrams { SECOND / 4 } else { 2 * SECOND }, |t| t.0);
        let mut job = Job {
            workload: workload.name().to_owned(),
            params,
            schedule,
            engine: self.engine.first().copied().unwrap_or(EngineKind::Epoll),
            connections: self.connections.unwrap_or(nature.connections),
            threads: self.threads,
            pacing: self.pacing,
            client_cpus,
            server_cpus,
            timing: Timing {
                warmup_ns: self.warmup.0,
                window_ns: self.time.0,
                interval_ns: self.interval.0,
                timeout_ns: patience,
            },
            seed: self.seed.unwrap_or_else(rand::random),
        };
        if matches.value_source("interval") != Some(clap::parser::ValueSource::CommandLine) {
            // A short window still gets its intervals.
            job.timing.interval_ns = job.timing.interval_ns.min((self.time.0 / 10).max(1_000_000));
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

/// The problem with CPUs that this process may not use; those of the server are the agent's to check.
fn absent(asked: &CpuSet) -> Option<Problem> {
    let allowed = hopbench_sys::cpu::allowed().ok()?;
    let missing: Vec<_> = asked.0.iter().copied().filter(|cpu| !allowed.contains(cpu)).collect();
    let expected = format!("CPUs of the client, which may use {}", CpuSet(allowed));
    (!missing.is_empty()).then(|| Problem::new("--cpu", CpuSet(missing), expected))
}

impl Scheduled {
    fn resolve(&self, default: Schedule, problems: &mut Vec<Problem>) -> Schedule {
        match (self.schedule.as_deref(), self.rate) {
            (Some("closed"), Some(rate)) => {
                problems.push(Problem::new(
                    "--rate",
                    rate,
                    "no rate with --schedule closed: the answers set the pace; take --schedule rate",
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
            (None, None) => default,
        }
    }
}
