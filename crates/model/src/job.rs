//! The job of one trial, as both ends must understand it.

mod kind;
mod params;

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::units::Bytes;
use crate::{Nanos, Problem, Rate, SECOND, Sweep};

pub use kind::{Pattern, Transport, Unit, WorkloadKind};
pub use params::Params;

/// What to send, when, how and for how long.
///
/// `params` belongs to the workload named by `workload`; all else is common to every workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The workload's name, as `hopbench list workloads` prints it.
    pub workload: String,
    /// The traits of its workload, where [`WorkloadKind::of`] does not know them. Ask
    /// [`Job::kind`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<WorkloadKind>,
    /// The workload's own parameters, one value each.
    pub params: Params,
    /// When exchanges start.
    pub schedule: Schedule,
    /// Exchanges that are due at the same moment, where the schedule has a rate; 1 to
    /// [`MOST_BURST`](Self::MOST_BURST). The rate is that of exchanges, whatever the burst.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub burst: u32,
    /// How bytes are moved.
    pub engine: EngineKind,
    /// Connections (or datagram flows) over all threads; at least 1.
    pub connections: u32,
    /// Addresses of the client that its connections have in turn; none: the kernel picks one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub local_addresses: Vec<IpAddr>,
    /// Threads of the generator; at least 1. The `threads` engine takes one a connection.
    pub threads: u32,
    /// How the gaps of a schedule are spent.
    pub pacing: Pacing,
    /// The client's CPUs; `None` leaves placement to the scheduler.
    pub client_cpus: Option<CpuSet>,
    /// The server's CPUs.
    pub server_cpus: Option<CpuSet>,
    /// Warm-up, window, interval.
    pub timing: Timing,
    /// Seed of everything random in the trial. In a run, each round derives its own from it.
    pub seed: u64,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it")]
fn is_one(burst: &u32) -> bool {
    *burst == 1
}

/// How long things take, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Load runs but is not measured.
    pub warmup_ns: Nanos,
    /// The measured window.
    pub window_ns: Nanos,
    /// Length of the intervals the window is cut into.
    pub interval_ns: Nanos,
    /// An exchange without an answer is given up after this time.
    pub timeout_ns: Nanos,
}

/// When exchanges start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// The next starts when the last is done.
    Closed,
    /// Evenly spaced, this many a second over all connections, whatever the answers do.
    Rate(f64),
    /// Poisson arrivals, this many a second on average over all connections.
    Poisson(f64),
}

impl Schedule {
    /// Arrivals a second, where the schedule has a rate.
    pub fn per_s(self) -> Option<f64> {
        match self {
            Self::Closed => None,
            Self::Rate(rate) | Self::Poisson(rate) => Some(rate),
        }
    }

    /// The name in records and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Rate(_) => "rate",
            Self::Poisson(_) => "poisson",
        }
    }
}

/// Defines an enum whose variants are words in flags, messages and records.
macro_rules! words {
    ($(#[$doc:meta])* $type:ident { $($(#[$vdoc:meta])* $variant:ident => $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $type { $($(#[$vdoc])* $variant,)* }

        impl $type {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word for it in flags and records.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|v| v.name() == text).ok_or_else(|| {
                    let known: Vec<_> = Self::ALL.iter().map(|v| v.name()).collect();
                    format!("`{text}` is not one of {}", known.join(", "))
                })
            }
        }
    };
}

words! {
    /// How bytes are moved between the program and the kernel; never part of the workload.
    EngineKind {
        /// Non-blocking sockets and edge-triggered epoll.
        Epoll => "epoll",
        /// io_uring completions.
        Uring => "uring",
        /// Non-blocking sockets, polled without ever sleeping: a CPU per thread.
        Spin => "spin",
        /// Blocking sockets, a thread a connection.
        Threads => "threads",
    }
}

words! {
    /// How a worker waits for the next intended time.
    Pacing {
        /// Sleep: cheap, late by a timer and a wake-up.
        Sleep => "sleep",
        /// Spin: exact, costs the CPU.
        Spin => "spin",
    }
}

/// A set of CPU numbers, ascending, not empty; written `0`, `0-3` or `0,2,4-5`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CpuSet(pub Vec<usize>);

impl FromStr for CpuSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || format!("`{text}` is not a CPU list like 0, 0-3 or 0,2,4-5");
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let from: usize = from.trim().parse().map_err(|_| fail())?;
            let to: usize = to.trim().parse().map_err(|_| fail())?;
            // 8192 is the most that Linux is built for.
            if to < from || to >= 8192 {
                return Err(fail());
            }
            cpus.extend(from..=to);
        }
        cpus.sort_unstable();
        cpus.dedup();
        Ok(Self(cpus))
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, cpu) in self.0.iter().enumerate() {
            write!(f, "{}{cpu}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// A schedule of whose arrivals at least this share was done was kept: the rest started or ended
/// beyond an edge of the window.
pub const SCHEDULE_KEPT: f64 = 0.99;

/// A send that is later than this, although a connection was free, is the generator's fault, ns.
pub const LATE_NS: Nanos = 1_000_000;

impl Job {
    /// The traits of its workload.
    pub fn kind(&self) -> WorkloadKind {
        self.kind.unwrap_or_else(|| WorkloadKind::of(&self.workload))
    }

    /// The transport: some workloads can be told to use UDP.
    pub fn transport(&self) -> Transport {
        if self.params["udp"].as_bool() == Some(true) {
            Transport::Udp
        } else {
            self.kind().transport
        }
    }

    /// Whether proxies do not take part whatever the path has of them: they take TCP only.
    pub fn bypasses_proxies(&self) -> bool {
        matches!(self.transport(), Transport::Udp | Transport::Icmp)
    }

    /// Whether the workload itself encrypts what it sends.
    pub fn is_over_tls(&self) -> bool {
        self.params["tls"] == true
    }

    /// Whether proxies see its requests: they pass TLS on as bytes.
    pub fn shows_requests(&self) -> bool {
        self.kind().is_http() && !self.is_over_tls()
    }

    /// Whether its requests are those of HTTP/2.
    pub fn is_over_http2(&self) -> bool {
        self.params["http2"] == true
    }

    /// Whether its requests are calls of gRPC.
    pub fn makes_calls(&self) -> bool {
        self.workload == "grpc"
    }

    /// The time in which each connection of `http` at a rate carries two requests, ns; otherwise 0.
    /// A proxy opens its own connections when it is asked the first time on each of its clients'.
    pub fn first_requests_ns(&self) -> Nanos {
        self.schedule.per_s().map_or(0, |per_s| self.first_requests_at(per_s))
    }

    /// The same at this rate of each client, requests/s.
    pub fn first_requests_at(&self, per_s: f64) -> Nanos {
        let requests = if self.kind().is_http() { 2.0 * f64::from(self.connections) } else { 0.0 };
        (requests / per_s * SECOND as f64) as Nanos
    }

    /// Whether each exchange starts when the one before is done, so that a slower path is asked
    /// less.
    pub fn is_closed_loop(&self) -> bool {
        self.kind().is_of_exchanges() && self.schedule == Schedule::Closed
    }

    /// Whether a schedule, or a `rate` among the workload's parameters, fixes how much is sent.
    /// Every path is then asked for the same. Otherwise each carries what it can. The job must be
    /// settled, as those of plans and records are.
    pub fn is_paced(&self) -> bool {
        let has_rate = self.params.get("rate").is_some_and(|rate| !rate.is_null());
        self.schedule.per_s().is_some() || (has_rate && self.rate() != Some(Rate::Max))
    }

    /// Whether its rate is meant to be more than the path carries: then what arrives is the result.
    pub fn is_offered(&self) -> bool {
        self.params["offered"].as_bool() == Some(true)
    }

    /// Bytes of a message or datagram: one size, or several that are measured one by one; `None`
    /// for a workload without.
    pub fn sizes(&self) -> Option<Sweep<Bytes>> {
        Sweep::deserialize(self.params.get("size")?).ok()
    }

    /// The only one of [`sizes`](Self::sizes); `None` where there are several.
    pub fn size(&self) -> Option<Bytes> {
        self.sizes().filter(|sizes| sizes.values().len() == 1).map(|sizes| sizes.first())
    }

    /// Bytes of an answer, where a parameter says them; it is as long as the request otherwise.
    pub fn response(&self) -> Option<Bytes> {
        Bytes::deserialize(self.params.get("response")?).ok()
    }

    /// The same with one size.
    pub fn with_size(&self, size: Bytes) -> Self {
        let mut job = self.clone();
        job.params["size"] = size.to_string().into();
        job
    }

    /// The rate among its parameters, of bytes or datagrams over all connections.
    pub fn rate(&self) -> Option<Rate> {
        Rate::deserialize(self.params.get("rate")?).ok()
    }

    /// Puts a rate among its parameters. What follows from it has to be settled anew.
    pub fn set_rate(&mut self, rate: Rate) {
        self.params["rate"] = rate.to_string().into();
    }

    /// Whether throughput says nothing of a path that is not overloaded, since it is what was asked
    /// for. Of datagrams it does: those that are sent need not arrive.
    pub fn is_throughput_given(&self) -> bool {
        self.is_paced() && !self.kind().is_one_way_udp()
    }

    /// The most connections one trial may ask for.
    pub const MOST_CONNECTIONS: u32 = 1_000_000;
    /// The most threads one trial may ask for.
    pub const MOST_THREADS: u32 = 1024;
    /// The most exchanges that may be due at the same moment: one worker sends so many in some
    /// milliseconds.
    pub const MOST_BURST: u32 = 1000;
    /// The most intervals a window may be cut into.
    pub const MOST_INTERVALS: u64 = 10_000;

    /// Checks what is common to all workloads.
    pub fn problems(&self) -> Vec<Problem> {
        let mut out = Vec::new();
        let mut unless = |ok: bool, at: &str, found: String, expected: &str| {
            if !ok {
                out.push(Problem::new(at, found, expected));
            }
        };
        unless(
            (1..=Self::MOST_CONNECTIONS).contains(&self.connections),
            "--connections",
            self.connections.to_string(),
            "1 to 1 000 000 connections",
        );
        unless(
            (1..=Self::MOST_THREADS).contains(&self.threads),
            "--threads",
            self.threads.to_string(),
            "1 to 1024 threads",
        );
        unless(
            self.threads <= self.connections.max(1),
            "--threads",
            self.threads.to_string(),
            "at most one thread a connection; raise --connections",
        );
        if let Some(local) = self.local_addresses.first() {
            unless(
                self.transport() != Transport::Icmp,
                "--local-address",
                local.to_string(),
                "nothing with ping, whose packets have the address that the kernel picks",
            );
        }
        if self.engine == EngineKind::Threads {
            unless(
                self.connections <= 4096,
                "--engine",
                format!("threads with {} connections", self.connections),
                "at most 4096 connections with one thread each; take --engine epoll",
            );
            let streams = self.params["streams"].as_u64().unwrap_or(1);
            unless(
                streams <= 1,
                "--engine",
                format!("threads with {streams} streams a connection"),
                "one stream with threads that wait for each answer; take --engine epoll",
            );
        }
        if let Some(rate) = self.schedule.per_s() {
            unless(
                rate.is_finite() && rate > 0.0 && rate <= 1e8,
                "--rate",
                rate.to_string(),
                "more than 0 and at most 100 000 000 a second",
            );
        }
        unless(
            (1..=Self::MOST_BURST).contains(&self.burst),
            "--burst",
            self.burst.to_string(),
            "1 to 1000 exchanges at the same moment",
        );
        if self.burst > 1 {
            unless(
                self.schedule.per_s().is_some(),
                "--burst",
                self.burst.to_string(),
                "a --rate beside it",
            );
            unless(
                self.engine != EngineKind::Threads,
                "--engine",
                format!("threads with bursts of {}", self.burst),
                "no burst with threads that have one connection each; take --engine epoll",
            );
        }
        let t = &self.timing;
        unless(t.window_ns >= 1_000_000, "--time", span(t.window_ns), "at least 1ms");
        unless(t.window_ns <= 24 * 3600 * SECOND, "--time", span(t.window_ns), "at most 24h");
        unless(t.warmup_ns <= 3600 * SECOND, "--warmup", span(t.warmup_ns), "at most 1h");
        unless(t.interval_ns >= 1_000_000, "--interval", span(t.interval_ns), "at least 1ms");
        unless(
            t.interval_ns <= 24 * 3600 * SECOND,
            "--interval",
            span(t.interval_ns),
            "at most 24h",
        );
        unless(
            t.window_ns / t.interval_ns.max(1) <= Self::MOST_INTERVALS,
            "--interval",
            format!("{} with --time {}", span(t.interval_ns), span(t.window_ns)),
            "at most 10 000 intervals",
        );
        unless(t.timeout_ns >= 1_000_000, "--timeout", span(t.timeout_ns), "at least 1ms");
        unless(t.timeout_ns <= 3600 * SECOND, "--timeout", span(t.timeout_ns), "at most 1h");
        out
    }
}

/// Spells a time for a message.
fn span(ns: Nanos) -> String {
    crate::units::Span(ns).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn cpu_lists() {
        assert_eq!("0-2,1,7".parse(), Ok(CpuSet(vec![0, 1, 2, 7])));
        for bad in ["", "x", "3-1", "0-9999", "-1", "1,"] {
            assert!(bad.parse::<CpuSet>().is_err(), "{bad} was accepted");
        }
    }

    #[test]
    fn a_rate_paces_wherever_it_stands() {
        let is = |workload, params, schedule| {
            let job = Job { schedule, ..fixture::job(workload, params) };
            (job.is_paced(), job.is_closed_loop())
        };
        let nothing = || serde_json::json!({});
        assert_eq!(
            is("stream", nothing(), Schedule::Closed),
            (false, false),
            "it waits for no answer"
        );
        assert_eq!(
            is("stream", serde_json::json!({"rate": "1Gbit"}), Schedule::Closed),
            (true, false)
        );
        assert_eq!(
            is("stream", serde_json::json!({"rate": null}), Schedule::Closed),
            (false, false)
        );
        assert_eq!(is("push", serde_json::json!({"rate": 20.0}), Schedule::Closed), (true, false));
        assert_eq!(is("udp", serde_json::json!({"rate": "max"}), Schedule::Closed), (false, false));
        assert_eq!(
            is("udp", serde_json::json!({"rate": "50000pps"}), Schedule::Rate(5e4)),
            (true, false)
        );
        assert_eq!(is("ping", nothing(), Schedule::Rate(5.0)), (true, false));
        assert_eq!(is("http", nothing(), Schedule::Closed), (false, true));
        assert_eq!(is("rr", nothing(), Schedule::Poisson(9.0)), (true, false));
    }

    #[test]
    fn sizes_are_read_and_written_as_they_stand_in_files() {
        let job = |size: serde_json::Value| fixture::job("rr", serde_json::json!({"size": size}));
        let (one, two) = (job("1KiB".into()), job(serde_json::json!(["1B", "1KiB"])));
        assert_eq!((one.size(), two.size()), (Some(Bytes(1024)), None));
        assert_eq!(
            two.sizes().map(|sizes| sizes.values().to_vec()),
            Some(vec![Bytes(1), Bytes(1024)])
        );
        assert_eq!(two.with_size(Bytes(1024)), one);
        assert_eq!(fixture::job("http", serde_json::json!({})).sizes(), None);
        let answer = |params| fixture::job("rr", params).response();
        assert_eq!(answer(serde_json::json!({"response": "16B"})), Some(Bytes(16)));
        assert_eq!(answer(serde_json::json!({"size": "1B", "response": null})), None);
    }

    #[test]
    fn a_burst_is_told_where_there_is_one() {
        let schedule = Schedule::Rate(5.0);
        let single = Job { schedule, ..fixture::job("rr", serde_json::json!({})) };
        let bursts = Job { burst: 16, ..single.clone() };
        let json = |job: &Job| serde_json::to_value(job).unwrap();
        assert!(json(&single).get("burst").is_none(), "as before there were bursts");
        assert_eq!(json(&bursts)["burst"], 16);
        for job in [single, bursts] {
            assert_eq!(job.problems(), []);
            assert_eq!(serde_json::from_value::<Job>(json(&job)).unwrap(), job);
        }
    }

    #[test]
    fn a_burst_needs_a_rate_and_connections() {
        let at = |burst, schedule, engine| {
            let rr = fixture::job("rr", serde_json::json!({}));
            let job = Job { burst, schedule, engine, ..rr };
            job.problems().into_iter().map(|problem| problem.at).collect::<Vec<_>>()
        };
        let rate = Schedule::Rate(5.0);
        for burst in [0, 1001] {
            assert_eq!(at(burst, rate, EngineKind::Epoll), ["--burst"], "{burst}");
        }
        assert_eq!(at(1000, Schedule::Poisson(5.0), EngineKind::Spin), [""; 0]);
        assert_eq!(at(2, Schedule::Closed, EngineKind::Epoll), ["--burst"]);
        assert_eq!(at(2, rate, EngineKind::Threads), ["--engine"]);
        assert_eq!(at(1, Schedule::Closed, EngineKind::Threads), [""; 0]);
    }

    #[test]
    fn words_name_the_alternatives() {
        let error = "epol".parse::<EngineKind>().unwrap_err();
        assert!(error.contains("epoll, uring, spin, threads"), "{error}");
    }
}
