//! What limited a trial.

use std::collections::BTreeMap;

use hopbench_model::{EngineKind, Job, Record, Schedule};

use crate::link_rate::LinkRate;

/// A CPU that is busier than this has nothing left to give.
const FULL: f64 = 0.95;
/// CPU figures of a shorter window are a few ticks of the kernel, s.
const SHORTEST: f64 = 0.5;
/// A share of softirq above this makes it the reason a CPU is full.
const MOSTLY: f64 = 0.5;
/// More of the bytes than this sent twice is a path that loses.
const MANY_RETRANSMISSIONS: f64 = 0.01;

/// More of what the link can carry than this is all that it carries: acknowledgements and new connections take a part.
const LINK_FULL: f64 = 0.95;

/// What the record does not say, of what can limit a trial.
pub(crate) struct Limits {
    /// Cores of the busiest client and of the busiest server.
    pub(crate) busiest_cores: [f64; 2],
    /// The slowest link on the way.
    pub(crate) link: Option<LinkRate>,
}

/// The name of the limit and the numbers behind it, from the trial's own meters.
pub(crate) fn limited(job: &Job, record: &Record, limits: &Limits) -> (String, String) {
    let Record { metrics, latency, cost, window_s, .. } = record;
    let window_s = *window_s;
    let metric = |name: &str| metrics.get(name).copied();
    let done = |name: &str, why: String| (name.to_owned(), why);
    if let Some(asked) = metric("intended_per_s").filter(|rate| *rate > 0.0) {
        let got = ["requests_per_s", "messages_per_s", "sent_packets_per_s"]
            .iter()
            .find_map(|name| metric(name))
            .unwrap_or(asked);
        let unsent = metric("unsent").unwrap_or(0.0);
        if got >= 0.99 * asked && unsent == 0.0 {
            return done("target_rate", format!("{} a second of the {} that were due", short(got), short(asked)));
        }
        let late = latency.get("lateness_ns").map_or(0, |l| l.p99);
        if unsent == 0.0 && metric("queued").unwrap_or(0.0) == 0.0 && late > 1_000_000 {
            return done("generator", format!("sends were late by {late} ns at p99 although connections were free"));
        }
    }
    if let Some(link) = limits.link
        && let Some(most) = link.payload_bits_per_s(job)
    {
        // Each direction has the link to itself.
        let fastest = ["sent", "received"]
            .iter()
            .flat_map(|end| ["", "to_server_", "from_server_"].map(|way| format!("{way}{end}_bits_per_s")))
            .filter(|name| one_direction(name, metrics))
            .filter_map(|name| metric(&name))
            .fold(0.0, f64::max);
        // What a sender writes can be dropped on the way; what arrives cannot exceed the link.
        let arrived = metric("received_bits_per_s").filter(|_| job.workload == "udp").unwrap_or(fastest);
        if arrived >= LINK_FULL * most {
            return done(
                "nic",
                format!(
                    "{:.0} Mbit/s of payload, of the {:.0} that a link of {:.0} Mbit/s carries",
                    arrived / 1e6,
                    most / 1e6,
                    link.bits_per_s as f64 / 1e6
                ),
            );
        }
    }
    if let (Some(bytes), Some(rate), window) = (metric("retransmitted_bytes"), metric("sent_bits_per_s"), window_s) {
        let share = bytes * 8.0 / (rate * window).max(1.0);
        if share > MANY_RETRANSMISSIONS {
            return done("retransmission", format!("{:.1} % of the bytes were sent again", share * 100.0));
        }
    }
    if let Some(asked) =
        job.params.get("rate").and_then(|r| r.as_str()).and_then(|r| r.parse::<hopbench_model::units::BitRate>().ok())
        && let Some(sent) = metric("sent_bits_per_s")
        && sent >= 0.98 * asked.0 as f64
    {
        return done("target_rate", format!("{sent:.0} of the {} bit/s asked for", asked.0));
    }
    if window_s < SHORTEST {
        return done(
            "unknown",
            format!("the window of {window_s:.3} s is too short to read CPUs, which count in ticks"),
        );
    }
    // A thread that never waits is the limit even when the scheduler moves it between CPUs.
    if job.engine != EngineKind::Spin {
        let threads = match job.engine {
            EngineKind::Threads => f64::from(job.connections),
            _ => f64::from(job.threads),
        };
        for (who, cores) in ["cpu:client", "cpu:server"].into_iter().zip(limits.busiest_cores) {
            if cores >= FULL * threads {
                return done(who, format!("its {threads:.0} threads used {cores:.2} cores: they never waited"));
            }
        }
    }
    for node in &cost.nodes {
        for (cpu, busy) in node.per_cpu_busy.iter().enumerate().filter(|(_, busy)| **busy >= FULL) {
            let softirq = node.per_cpu_softirq.get(cpu).copied().unwrap_or(0.0);
            let at = format!("CPU {cpu} was busy {:.0} %, {:.0} % in softirq", busy * 100.0, softirq * 100.0);
            if softirq >= MOSTLY {
                return done("softirq", at);
            }
            // A polling thread fills its CPU whatever the traffic does.
            if job.engine == EngineKind::Spin {
                continue;
            }
            let cores = |end: &BTreeMap<String, f64>| end.get("cores").copied().unwrap_or(0.0);
            let (client, server) = (cores(&cost.client), cores(&cost.server));
            let (who, used) = if client >= server { ("cpu:client", client) } else { ("cpu:server", server) };
            if used >= 0.5 {
                return done(who, format!("{at}; that process used {used:.2} cores"));
            }
            return done("cpu:other", format!("{at}; the client used {client:.2} cores, the server {server:.2}"));
        }
    }
    for (name, what) in
        [("receive_window_limited_ratio", "the receiver's window"), ("send_buffer_limited_ratio", "the send buffer")]
    {
        if let Some(share) = metric(name).filter(|share| *share > MOSTLY) {
            return done(
                "socket_buffer",
                format!("{what} was the limit for {:.0} % of the sending time", share * 100.0),
            );
        }
    }
    let why = if job.schedule == Schedule::Closed && metric("requests_per_s").is_some() {
        "no CPU was full and no buffer: each exchange waits for the answer before it, so the round trip sets the rate"
    } else {
        "no CPU was full, few bytes were sent twice, no buffer was full for long"
    };
    done("unknown", why.to_owned())
}

/// Whether a rate is that of one direction: with both under way the plain ones are their sum.
fn one_direction(name: &str, metrics: &BTreeMap<String, f64>) -> bool {
    name.contains("_server_") || !metrics.contains_key(&format!("to_server_{name}"))
}

/// A rate with as many digits as it needs.
fn short(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.2}") } else { format!("{rate:.0}") }
}

#[cfg(test)]
mod tests;
