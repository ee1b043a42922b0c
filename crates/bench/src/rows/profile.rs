//! The quick build of hopbench against the one of `make dist`: the same data plane, or nearly.

use anyhow::Result;

use crate::bench::target::Kind;
use crate::bench::{Bench, Figures, Peer, ours};
use crate::peer::quick;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// A workload that both builds run. Ours is the quick build, the peer that of `make dist`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Profile {
    Stream,
    Rr,
    Http,
}

/// The share that the quick build may lose.
const LEAST: Reach = Reach::AtLeast(0.98);
const MOST: Reach = Reach::AtMost(1.02);

impl Profile {
    fn run(self, bench: &Bench) -> Result<Figures> {
        match self {
            Self::Stream => {
                let words =
                    ["-c", "1", "--threads", "1", "--size", "128KiB", "--direction", "to-server"];
                let run = ours::against_agent(bench, "stream", &words)?;
                let mut figures = run.cpu_per_byte();
                let rate = ours::metric(&run.record, "received_bits_per_s")?;
                figures.insert("received_bits_per_s", rate);
                Ok(figures)
            }
            Self::Rr => {
                let words = ["-c", "16", "--threads", "1", "--size", "1B"];
                let run = ours::against_agent(bench, "rr", &words)?;
                let requests = ours::metric(&run.record, "requests_per_s")?;
                let all = requests * bench.window().as_secs_f64();
                Ok(Figures::from([
                    ("requests_per_s", requests),
                    ("client_cpu_s_per_request", run.client.total_s() / all),
                    ("server_cpu_s_per_request", run.server.total_s() / all),
                ]))
            }
            Self::Http => {
                let words = ["-c", "32", "--threads", "1", "--schedule", "closed"];
                ours::against_target(bench, Kind::Plain, &format!("{}s", bench.seconds()), &words)
            }
        }
    }
}

impl Row for Profile {
    fn name(&self) -> String {
        let workload = match self {
            Self::Stream => "stream",
            Self::Rr => "rr",
            Self::Http => "http",
        };
        format!("profile-{workload}")
    }

    fn what(&self) -> String {
        let what = match self {
            Self::Stream => "stream, 1 connection, 128 KiB",
            Self::Rr => "rr 1 B TCP, 16 connections, one thread",
            Self::Http => "http closed, 32 connections, one thread, plain server",
        };
        format!("quick build, {what}")
    }

    fn against(&self) -> &'static str {
        "build of make dist"
    }

    fn needs(&self) -> Vec<&'static Peer> {
        vec![&quick::PEER]
    }

    fn goals(&self) -> &'static [Goal] {
        match self {
            Self::Stream => {
                const {
                    &[
                        Goal::ratio("received_bits_per_s", "received", "Gbit/s", 1e-9, LEAST),
                        Goal::ratio("sender_cpu_s_per_byte", "sender CPU", "ns/kB", 1e12, MOST),
                        Goal::ratio("receiver_cpu_s_per_byte", "receiver CPU", "ns/kB", 1e12, MOST),
                    ]
                }
            }
            Self::Rr => {
                const {
                    &[
                        Goal::ratio("requests_per_s", "requests", "1/s", 1.0, LEAST),
                        Goal::ratio("client_cpu_s_per_request", "client CPU", "us", 1e6, MOST),
                        Goal::ratio("server_cpu_s_per_request", "server CPU", "us", 1e6, MOST),
                    ]
                }
            }
            Self::Http => {
                const {
                    &[
                        Goal::ratio("requests_per_s", "requests", "1/s", 1.0, LEAST),
                        Goal::ratio(
                            "client_cpu_s_per_request",
                            "client CPU a request",
                            "us",
                            1e6,
                            MOST,
                        ),
                    ]
                }
            }
        }
    }

    fn note(&self) -> String {
        "Ours is the build of `make build`, `make demo` and `make test`. The peer is the same source as `make dist` \
         builds it. Both ends of `stream` and `rr` are of one build. CPU is the whole time of a process, read from \
         outside, start and warm-up included."
            .to_owned()
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        bench.with_ours(bench.tools().peer(&quick::PEER)?, || self.run(bench))
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        self.run(bench).map(Some)
    }
}
