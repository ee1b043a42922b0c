//! The limit of a trial: what kept it from being faster.

mod agent;
mod cpu;
mod evidence;
pub(crate) mod link_rate;
pub(crate) mod quota;
mod round_trip;
mod schedule;

use std::collections::BTreeMap;

use hopbench_model::number;
use hopbench_model::units::BitRate;
use hopbench_model::{EngineKind, Job, Rate, Record, SHORTEST_OF_MACHINE_S};

use crate::conduct::TrialResult;
pub(crate) use evidence::{Burden, CLIENT, Evidence, SERVER, WorkingProcess};
use evidence::{Limit, limit};
use link_rate::LinkRate;
pub(crate) use schedule::{generator, late_ns};

/// A share of the sending time above this makes a buffer the limit.
const MOSTLY: f64 = 0.5;
/// More of the bytes than this sent twice is a path that loses.
const MANY_RETRANSMISSIONS: f64 = 0.01;
/// More of what the link can carry than this is all that it carries: acknowledgements and new
/// connections take a part.
const LINK_FULL: f64 = 0.95;
/// Whose retransmissions are known where there are proxies.
const NEAREST: &str = "on the ends' own connections (behind the first proxy this is not known)";

/// The name of the limit and the numbers behind it, from the trial's own meters. `job` is that of
/// all clients together.
pub(crate) fn limited(job: &Job, record: &Record, evidence: &Evidence) -> Limit {
    let metrics = &record.metrics;
    let full = evidence.link.and_then(|rate| link(job, metrics, rate));
    let found = schedule::kept(job, record, full.is_some())
        .map(|kept| stopped_generator(kept, job, evidence))
        .or(full)
        .or_else(|| retransmission(metrics, record.window_s, evidence.proxied))
        .or_else(|| bit_rate(job, metrics));
    if let Some(found) = found {
        return found;
    }
    let free = free(job, record, evidence);
    // A process that is stopped does not fill its CPU.
    quota::held(evidence, |_| true)
        .or_else(|| quota::used_up(evidence))
        .or_else(|| cpu::full(job, record, evidence))
        .or_else(|| buffer(metrics, evidence.proxied))
        .or_else(|| round_trip::of(job, record, &format!("{free}{}", unmetered(evidence))))
        .unwrap_or_else(|| {
            let twice = if evidence.proxied {
                format!("few bytes were sent twice {NEAREST}")
            } else {
                "few bytes were sent twice".to_owned()
            };
            limit("unknown", format!("{free}, {twice}, no buffer was full for long"))
        })
}

/// A generator that its CPU quota stopped was late because of that.
fn stopped_generator(kept: Limit, job: &Job, evidence: &Evidence) -> Limit {
    if kept.0 != schedule::GENERATOR {
        return kept;
    }
    quota::held(evidence, |burden| burden.who == generator(job)).unwrap_or(kept)
}

/// The end whose CPUs were not metered, in words.
fn unmetered(evidence: &Evidence) -> &'static str {
    let metered = evidence.burdens.iter().any(|burden| burden.who == SERVER);
    if metered {
        ""
    } else {
        "; nobody metered the server, whose own time is part of the round trip"
    }
}

/// What was looked at among the CPUs and was not full.
fn free(job: &Job, record: &Record, evidence: &Evidence) -> String {
    if job.engine == EngineKind::Spin {
        return "busy polling fills its CPUs whatever the traffic does".to_owned();
    }
    let whose = if evidence.proxied { "ends or proxies" } else { "the ends" };
    if record.window_s < SHORTEST_OF_MACHINE_S {
        return format!(
            "no thread of {whose} was busy all the time (a window of {:.3} s is too short for the \
             machine's CPUs, which count in ticks)",
            record.window_s
        );
    }
    format!("no CPU of {whose} was full")
}

/// The same, where agents keep to limits of their own: a trial in which one came up to its own was
/// held by it, whatever else that made it wait for.
pub(crate) fn limited_by_agents(
    job: &Job,
    record: &Record,
    evidence: &Evidence,
    outcome: &TrialResult,
) -> Limit {
    let found = limited(job, record, evidence);
    match found.0.as_str() {
        "target_rate" | "nic" => found,
        _ => agent::held(&outcome.clients, &outcome.servers).unwrap_or(found),
    }
}

/// Whether the slowest link was full.
fn link(job: &Job, metrics: &BTreeMap<String, f64>, link: LinkRate) -> Option<Limit> {
    let most = link.payload_bits_per_s(job)?;
    // Each direction has the link to itself.
    let largest = |name: &str| {
        let of_way =
            directions(metrics).iter().filter_map(|(way, _)| metrics.get(&format!("{way}{name}")));
        of_way.copied().reduce(f64::max)
    };
    let (sent, received) = (largest("sent_bits_per_s"), largest("received_bits_per_s"));
    // What a sender's kernel takes is on its way into a queue, where it may stay or be dropped:
    // where one end sends only, what crossed the link is what arrived. What answers each other is
    // read at one end, both ways.
    let crossed = match (received, job.kind().is_of_exchanges()) {
        (Some(received), false) => received,
        _ => received.into_iter().chain(sent).reduce(f64::max)?,
    };
    if crossed >= LINK_FULL * most {
        let rate = link.bits_per_s.unwrap_or(0) as f64;
        let [crossed_m, most_m, rate_m] = [crossed, most, rate].map(|bits_per_s| bits_per_s / 1e6);
        let of_link = format!("of the {most_m:.0} that a link of {rate_m:.0} Mbit/s carries");
        return Some(limit("nic", format!("{crossed_m:.0} Mbit/s of payload, {of_link}")));
    }
    None
}

/// Whether a direction lost so much that sending again set its rate.
fn retransmission(metrics: &BTreeMap<String, f64>, window_s: f64, proxied: bool) -> Option<Limit> {
    let shares = directions(metrics).iter().filter_map(|(way, words)| {
        let bytes = metrics.get(&format!("{way}retransmitted_bytes"))?;
        let rate = metrics.get(&format!("{way}sent_bits_per_s"))?;
        Some((bytes * 8.0 / (rate * window_s).max(1.0), words))
    });
    let (share, way) = shares.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let whose = if proxied { format!(" {NEAREST}") } else { String::new() };
    if share > MANY_RETRANSMISSIONS {
        let share = number::full_percentage(share);
        let why = format!("{share} % of the bytes{way} were sent again{whose}");
        return Some(limit("retransmission", why));
    }
    None
}

/// Whether each direction sent as many bits as were asked for. Where arrivals are scheduled they
/// are what was asked for.
fn bit_rate(job: &Job, metrics: &BTreeMap<String, f64>) -> Option<Limit> {
    let Some(Rate::Payload(BitRate(asked))) = job.rate() else {
        return None;
    };
    if metrics.contains_key("intended_per_s") {
        return None;
    }
    let rates = directions(metrics)
        .iter()
        .map(|(way, _)| metrics.get(&format!("{way}sent_bits_per_s")).copied());
    let least = rates.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)?;
    let asked = asked as f64;
    if least >= 0.98 * asked {
        let why = format!(
            "{} of the {} asked for",
            number::brief_bit_rate(least),
            number::brief_bit_rate(asked)
        );
        return Some(limit("target_rate", why));
    }
    None
}

/// Whether senders waited for room most of the time.
fn buffer(metrics: &BTreeMap<String, f64>, proxied: bool) -> Option<Limit> {
    let receiver =
        if proxied { "the window of the sender's proxy" } else { "the receiver's window" };
    let kinds = [
        ("receive_window_limited_ratio", receiver),
        ("send_buffer_limited_ratio", "the send buffer"),
    ];
    kinds.iter().find_map(|(name, what)| {
        directions(metrics).iter().find_map(|(way, words)| {
            let share = metrics.get(&format!("{way}{name}")).filter(|share| **share > MOSTLY)?;
            let why = format!(
                "{what} was the limit for {} of the sending time{words}",
                number::share(*share)
            );
            Some(limit("socket_buffer", why))
        })
    })
}

/// What stands before the names of each direction's figures, and the words for it. With both under
/// way the plain rates are sums, and nothing else is known of both together.
fn directions(metrics: &BTreeMap<String, f64>) -> &'static [(&'static str, &'static str)] {
    const ONE: &[(&str, &str)] = &[("", "")];
    const BOTH: &[(&str, &str)] =
        &[("to_server_", " to the server"), ("from_server_", " from the server")];
    if metrics.contains_key("to_server_sent_bits_per_s") { BOTH } else { ONE }
}

#[cfg(test)]
mod tests;
