//! A figure: what it is, and how it is read from a record.

use hopbench_model::{LINK_RATE_SETTING, Latency, ProxyCost, Record, SCHEDULE_KEPT};
use hopbench_stats::{Stop, summary};

use super::link::link;
use super::node::{self, Busy};
use super::recorded_job::RecordedJob;
use crate::summary::{Better, Spread};

/// One figure of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figure {
    /// Its name, with the unit, as in `summary.csv`.
    pub(crate) name: &'static str,
    /// The head of its column.
    pub(crate) label: &'static str,
    /// The direction that is good.
    pub(crate) better: Better,
    /// Its source in a record.
    pub(crate) source: Source,
}

/// The source of a figure in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A metric of the record.
    Metric(&'static str),
    /// A metric of the record that the schedule asks for: a rate in an open loop.
    Asked(&'static str),
    /// A metric of the record that is a share of losses or of errors. Most trials have none, and a
    /// few can have all that matters.
    Failures(&'static str),
    /// One figure of a latency.
    Latency(&'static str, Percentile),
    /// Retransmitted bytes for each byte received.
    Retransmitted,
    /// CPU time of one end's process, of the proxies that the path names, or of all of them, for
    /// each unit of work, ns.
    Cpu(End, Work),
    /// Memory of the proxies that the path names.
    ProxyMemory,
    /// Cores of the nodes that are busy.
    Nodes(Busy),
    /// The share of the nodes' CPU time in which they were idle.
    NodesIdle,
    /// What the NIC of an end moved, by its name among the costs of the end.
    Nic(End, &'static str),
    /// What an end counted of the bytes that it sent or received, by the name of the metric; of the
    /// proxies, what is under way in them.
    Bytes(End, &'static str),
    /// Received bits, of the direction that has more, as a share of the slowest link of the path.
    LinkShare,
}

/// A point of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Percentile {
    Mean,
    Min,
    P50,
    P90,
    P99,
    Max,
}

/// A participant of a path that spends CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Client,
    Server,
    /// All proxies that the path names, and the services that they ask.
    Proxies,
    /// All of these together: what moves from an end to a proxy is in here all the same.
    All,
}

/// A unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// 1024 bytes received.
    KiB,
    /// One of what this metric counts a second.
    Each(&'static str),
}

impl Figure {
    /// The figure of a trial; `None` where it does not apply. `proxied`: proxies carry its traffic.
    pub(crate) fn of(&self, record: &Record, proxied: bool) -> Option<f64> {
        let metric = |name: &str| record.metrics.get(name).copied();
        let value = match self.source {
            Source::Metric(name) | Source::Asked(name) | Source::Failures(name) => metric(name)?,
            Source::Latency(name, percentile) => match record.latency.get(name) {
                Some(latency) => percentile.of(latency)?,
                // Other tools state single points, and no distribution.
                None => metric(self.name)?,
            },
            Source::Retransmitted => {
                let sent_again = directions(record, "retransmitted_bytes").reduce(|a, b| a + b)?;
                sent_again / (per_s(record, Work::KiB)? * 1024.0 * record.window_s)
            }
            Source::Cpu(end, unit) => cores(record, end, proxied)? * 1e9 / per_s(record, unit)?,
            Source::ProxyMemory => of_proxies(record, ProxyCost::memory_bytes)?,
            Source::Nodes(busy) => node::cores(&record.cost, busy)?,
            Source::NodesIdle => node::idle(&record.cost)?,
            Source::Nic(End::Client, name) => *record.cost.client.get(name)?,
            Source::Nic(_, name) => *record.cost.server.get(name)?,
            Source::Bytes(end, name) => counted(record, end, name)?,
            Source::LinkShare => {
                // A link has its rate in each direction.
                let received = directions(record, "received_bits_per_s").reduce(f64::max)?;
                received / link(record, LINK_RATE_SETTING).filter(|rate| *rate > 0)? as f64
            }
        };
        value.is_finite().then_some(value)
    }

    /// Whether records have it under this name: `requests_per_s`, `response_ns p99`.
    pub(crate) fn is_recorded_as(&self, name: &str) -> bool {
        match self.source {
            Source::Metric(metric) | Source::Asked(metric) | Source::Failures(metric) => {
                metric == name
            }
            Source::Latency(kind, percentile) => {
                name.split_once(' ') == Some((kind, percentile.name()))
            }
            _ => self.name == name,
        }
    }

    /// By how much the ratio of two such figures can be off for reasons that no round shows. A
    /// value of a histogram stands for all within 0.1 % of it. A rate that was asked for is kept,
    /// even if some of the work starts or ends beyond an edge of the window.
    pub(crate) fn ratio_resolution(&self) -> f64 {
        match self.source {
            Source::Latency(..) => 0.002,
            Source::Asked(_) => SCHEDULE_KEPT.recip() - 1.0,
            _ => 0.0,
        }
    }

    /// Whether it is a rate, so that 0 says something: nothing came in the window. A share of 0 is
    /// what one hopes for, and a latency or a cost of 0 is none.
    pub(crate) fn is_rate(&self) -> bool {
        match self.source {
            Source::Metric(name) | Source::Asked(name) => name.ends_with("_per_s"),
            _ => false,
        }
    }

    /// Whether it is a latency. That of a saturated path says how long the trial was, and nothing
    /// about the path.
    pub(crate) fn is_latency(&self) -> bool {
        matches!(self.source, Source::Latency(..))
    }

    /// The name of the latency in records, if it is one.
    pub(crate) fn latency_name(&self) -> Option<&'static str> {
        match self.source {
            Source::Latency(name, _) => Some(name),
            _ => None,
        }
    }

    /// Whether it is a 99th percentile, which batches of rounds may tell.
    pub(crate) fn is_far_percentile(&self) -> bool {
        matches!(self.source, Source::Latency(_, Percentile::P99))
    }

    /// Whether this is the time of connecting, which ends where the connection does.
    pub(crate) fn is_of_connecting(&self) -> bool {
        matches!(self.source, Source::Latency("connect_ns", _))
    }

    /// Whether this is CPU time of one end, or of the proxies, for a unit of work: a part of the
    /// sum.
    pub(crate) fn is_part_of_cpu(&self) -> bool {
        matches!(self.source, Source::Cpu(end, _) if end != End::All)
    }

    /// Whether this is CPU time of an end, of whose work proxies can take over a part.
    pub(crate) fn is_cpu_of_an_end(&self) -> bool {
        matches!(self.source, Source::Cpu(End::Client | End::Server, _))
    }

    /// Whether it is compared with the baseline's. The smallest or largest value of a trial depends
    /// on how many there were, and one more trial can exceed it by any amount. What a node or a NIC
    /// did was for everybody. Where bytes were is the explanation of a figure.
    pub(crate) fn is_compared(&self) -> bool {
        let is_extreme =
            matches!(self.source, Source::Latency(_, Percentile::Min | Percentile::Max));
        !is_extreme && !self.is_of_nodes() && !self.is_beside()
    }

    /// Whether the kernel counts it in ticks, as all CPU time of nodes.
    pub(crate) fn is_of_nodes(&self) -> bool {
        matches!(self.source, Source::Nodes(_) | Source::NodesIdle)
    }

    /// Whether the table of figures has a column for it, which is wide enough without the others.
    pub(crate) fn is_column(&self) -> bool {
        self.source != Source::NodesIdle && !self.is_beside()
    }

    /// Whether it is what an end counted of the bytes.
    pub(crate) fn is_of_bytes(&self) -> bool {
        matches!(self.source, Source::Bytes(..))
    }

    /// Whether it stands in a table of its own, beside that of figures.
    fn is_beside(&self) -> bool {
        self.is_of_bytes() || matches!(self.source, Source::Nic(..))
    }

    /// Whether the figure of several trials is their mean. A median would hide losses and errors
    /// that hit fewer than half of the trials.
    fn is_mean(&self) -> bool {
        matches!(self.source, Source::Failures(_))
    }

    /// The figure of several trials without an interval: their median, or their mean; `None`
    /// without any.
    pub(crate) fn middle(&self, values: &[f64]) -> Option<f64> {
        if self.is_mean() { summary::mean(values) } else { summary::median(values) }
    }

    /// The figure of a cell from its values in the rounds that have it; `None` where none has.
    /// `stop`: the rounds ended when this figure was sure enough, so its interval is that of the
    /// last look.
    pub(crate) fn over(&self, values: Vec<f64>, stop: Option<&Stop>) -> Option<Spread> {
        match self.source {
            Source::Latency(_, Percentile::Min) => Spread::extreme(&values, f64::min),
            Source::Latency(_, Percentile::Max) => Spread::extreme(&values, f64::max),
            _ if self.is_mean() => Spread::mean(&values),
            // Most machines have none, and a column of zeros says nothing.
            Source::Nodes(Busy::Steal) if values.iter().all(|cores| *cores == 0.0) => None,
            _ => match stop {
                Some(stop) => Spread::looked(&stop.look(&values)),
                None => Spread::of(values),
            },
        }
    }
}

impl Work {
    /// Its name for people, in the singular: `request`, `KiB`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::KiB => "KiB",
            Self::Each("requests_per_s") => "request",
            Self::Each("messages_per_s") => "message",
            Self::Each("connections_per_s") => "connection",
            Self::Each("received_packets_per_s") => "packet",
            Self::Each(_) => "unit",
        }
    }
}

impl Percentile {
    fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Min => "min",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::Max => "max",
        }
    }

    /// `None` for a distribution without samples.
    fn of(self, latency: &Latency) -> Option<f64> {
        let ns = match self {
            Self::Mean => latency.mean,
            Self::Min => latency.min as f64,
            Self::P50 => latency.p50 as f64,
            Self::P90 => latency.p90 as f64,
            Self::P99 => latency.p99 as f64,
            Self::Max => latency.max as f64,
        };
        (latency.count > 0).then_some(ns)
    }
}

/// A metric of each direction: of one where the workload has one, of both where it has both.
fn directions<'a>(record: &'a Record, name: &str) -> impl Iterator<Item = f64> + use<'a> {
    let metric = |prefix: &str| record.metrics.get(&format!("{prefix}{name}")).copied();
    let both = [metric("to_server_"), metric("from_server_")];
    // Beside those of both directions, the plain one is their sum.
    let one = metric("").filter(|_| both == [None, None]);
    both.into_iter().chain([one]).flatten()
}

/// The count of an end for the direction in which it sends, or receives if the metric says so.
fn counted(record: &Record, end: End, name: &str) -> Option<f64> {
    if end == End::Proxies {
        return directions(record, name).reduce(|a, b| a + b);
    }
    let to_server = (end == End::Client) != name.starts_with("receive");
    let prefix = if to_server { "to_server_" } else { "from_server_" };
    let only = RecordedJob(&record.job).direction(record.kind().unit)?;
    let plain = (only == prefix).then_some(name);
    let of_both = format!("{prefix}{name}");
    plain.into_iter().chain([&*of_both]).find_map(|name| record.metrics.get(name)).copied()
}

/// Units of work a second; `None` when there were none.
pub(crate) fn per_s(record: &Record, unit: Work) -> Option<f64> {
    let metric = |name: &str| record.metrics.get(name).copied();
    let units = match unit {
        Work::KiB => metric("received_bits_per_s")? / 8.0 / 1024.0,
        Work::Each(name) => metric(name)?,
    };
    (units.is_finite() && units > 0.0).then_some(units)
}

/// Cores that a process kept busy. Its CPU time is that of the time between two readings, which is
/// a little longer than the window. A rate is compared with a rate.
fn cores(record: &Record, end: End, proxied: bool) -> Option<f64> {
    match end {
        End::Client => record.cost.client.get("cores").copied(),
        End::Server => record.cost.server.get("cores").copied(),
        End::Proxies => of_proxies(record, |proxy| proxy.figures.get("cores").copied()),
        End::All => {
            let of = |end| cores(record, end, proxied);
            // Without what the proxies of the path spent, the sum would look like a cheap path.
            let proxies = if proxied { of(End::Proxies)? } else { 0.0 };
            Some(of(End::Client)? + of(End::Server)? + proxies)
        }
    }
}

/// The sum of a figure over the proxies that the path names. `None` if it is not known of each of
/// them, and if there are none.
fn of_proxies(record: &Record, figure: fn(&ProxyCost) -> Option<f64>) -> Option<f64> {
    let named = record.cost.proxies.iter().filter(|proxy| proxy.named);
    named.map(figure).reduce(|sum, next| Some(sum? + next?)).flatten()
}
