//! The figure of a cell whose interval must be narrow.

use std::fmt;

use hopbench_model::{Job, LatencyKind, Record};

/// A figure of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Figure {
    Metric(String),
    Latency(LatencyKind, Percentile),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Percentile {
    P50,
    P90,
    P99,
    P999,
}

/// What a stop rule says instead of the name of a metric.
const THROUGHPUT: &str = "throughput";

impl Figure {
    /// What can be looked at when `metric` was asked for, the best first. A record has the first of
    /// them, or at least one of those after it.
    ///
    /// How much is done a second is the same every time where the job says how much, and nothing
    /// can be lost. Then the latency is looked at.
    pub(super) fn of_job(metric: &str, job: &Job) -> Vec<Self> {
        let Some(workload) = hopbench_load::workload(&job.workload) else {
            // Of another tool's figures this is the one that most have.
            return vec![Self::Metric(job.kind().unit.metric().to_owned())];
        };
        let latency =
            |percentile| workload.latency(job).map(|kind| Self::Latency(kind, percentile));
        let throughput = || Self::Metric(job.kind().unit.metric().to_owned());
        let tail = if job.kind().has_tail { Percentile::P99 } else { Percentile::P50 };
        let asked = match (metric, Percentile::named(metric)) {
            (_, Some(percentile)) => latency(percentile),
            (name, None) if name == THROUGHPUT || name == job.kind().unit.metric() => None,
            (name, None) => Some(Self::Metric(name.to_owned())),
        };
        let headline =
            latency(tail).filter(|_| job.is_throughput_given()).into_iter().chain([throughput()]);
        let mut out: Vec<Self> = Vec::new();
        for figure in asked.into_iter().chain(headline) {
            if !out.contains(&figure) {
                out.push(figure);
            }
        }
        out
    }

    /// Why a workload's job is looked at by this figure although `metric` was asked for; `None`: it
    /// is what was asked for.
    pub(super) fn instead(&self, metric: &str, job: &Job) -> Option<String> {
        let throughput = job.kind().unit.metric();
        match self {
            Self::Metric(name)
                if name == metric || (metric == THROUGHPUT && name == throughput) =>
            {
                None
            }
            Self::Latency(_, percentile) if Percentile::named(metric) == Some(*percentile) => None,
            Self::Latency(..) if metric == THROUGHPUT || metric == throughput => Some(format!(
                "its throughput is what its rate says: its rounds end when its {self} is sure"
            )),
            _ => Some(format!("it has no {metric}: its rounds end when its {self} is sure")),
        }
    }

    /// The figure of a record; `None` where it has none.
    pub(super) fn of(&self, record: &Record) -> Option<f64> {
        match self {
            Self::Metric(name) => record.metrics.get(name).copied(),
            Self::Latency(kind, percentile) => {
                let latency =
                    record.latency.get(kind.name()).filter(|latency| latency.count > 0)?;
                let ns = match percentile {
                    Percentile::P50 => latency.p50,
                    Percentile::P90 => latency.p90,
                    Percentile::P99 => latency.p99,
                    Percentile::P999 => latency.p999,
                };
                Some(ns as f64)
            }
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metric(name) => f.write_str(name),
            Self::Latency(kind, percentile) => write!(f, "{} {}", kind.name(), percentile.name()),
        }
    }
}

impl Percentile {
    const ALL: [Self; 4] = [Self::P50, Self::P90, Self::P99, Self::P999];

    fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p999",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|percentile| percentile.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Schedule, fixture};
    use serde_json::json;

    use super::*;

    fn names(metric: &str, job: &Job) -> Vec<String> {
        Figure::of_job(metric, job).iter().map(Figure::to_string).collect()
    }

    #[test]
    fn what_a_metric_means_follows_from_the_job() {
        let closed = fixture::job("rr", json!({}));
        assert_eq!(names("throughput", &closed), ["requests_per_s"]);
        assert_eq!(names("p99", &closed), ["service_ns p99", "requests_per_s"]);
        let rate = Job { schedule: Schedule::Rate(100.0), ..closed.clone() };
        assert_eq!(names("throughput", &rate), ["response_ns p99", "requests_per_s"]);
        assert_eq!(names("requests_per_s", &rate), ["response_ns p99", "requests_per_s"]);
        assert_eq!(names("p999", &rate), ["response_ns p999", "response_ns p99", "requests_per_s"]);
        assert_eq!(names("proxy_cores", &closed), ["proxy_cores", "requests_per_s"]);
        let push = fixture::job("push", json!({"rate": 20.0}));
        assert_eq!(names("throughput", &push), ["delay_ns p99", "messages_per_s"]);
        assert_eq!(names("p90", &fixture::job("stream", json!({}))), ["received_bits_per_s"]);
        assert_eq!(
            names("throughput", &fixture::job("udp", json!({"rate": "max"}))),
            ["received_packets_per_s"]
        );
        // What is sent need not arrive.
        let packets = fixture::job("udp", json!({"rate": "1000pps"}));
        assert_eq!(names("throughput", &packets), ["received_packets_per_s"]);
        assert_eq!(names("throughput", &fixture::job("crr", json!({}))), ["connections_per_s"]);
        let ping = Job { schedule: Schedule::Rate(5.0), ..fixture::job("ping", json!({})) };
        assert_eq!(names("throughput", &ping), ["service_ns p50", "received"]);
    }

    #[test]
    fn what_takes_the_place_of_another_is_said() {
        let closed = fixture::job("rr", json!({}));
        let rate = Job { schedule: Schedule::Rate(100.0), ..closed.clone() };
        let why = |metric: &str, job: &Job, nth: usize| {
            Figure::of_job(metric, job)[nth].instead(metric, job)
        };
        assert_eq!(why("throughput", &closed, 0), None);
        assert_eq!(why("requests_per_s", &closed, 0), None);
        assert_eq!(why("p90", &rate, 0), None);
        assert_eq!(
            why("throughput", &rate, 0).as_deref(),
            Some(
                "its throughput is what its rate says: its rounds end when its response_ns p99 is \
                 sure"
            )
        );
        // Where there is no latency, what is fixed is all there is.
        assert_eq!(why("throughput", &fixture::job("stream", json!({"rate": "1Gbit"})), 0), None);
        assert_eq!(
            why("proxy_cores", &closed, 1).as_deref(),
            Some("it has no proxy_cores: its rounds end when its requests_per_s is sure")
        );
        let stream = fixture::job("stream", json!({}));
        assert_eq!(
            why("p99", &stream, 0).as_deref(),
            Some("it has no p99: its rounds end when its received_bits_per_s is sure")
        );
    }

    #[test]
    fn figures_are_read_from_records() {
        let mut record = fixture::record(&[("requests_per_s", 7.0)]);
        let latency = |count, p99| hopbench_model::Latency {
            count,
            p50: 1,
            p90: 2,
            p99,
            p999: 4,
            ..Default::default()
        };
        record.latency.insert("response_ns".to_owned(), latency(10, 3));
        record.latency.insert("service_ns".to_owned(), latency(0, 3));
        let all =
            |kind| Percentile::ALL.map(|percentile| Figure::Latency(kind, percentile).of(&record));
        assert_eq!(all(LatencyKind::Response), [Some(1.0), Some(2.0), Some(3.0), Some(4.0)]);
        assert_eq!(all(LatencyKind::Service), [None; 4], "no samples");
        assert_eq!(all(LatencyKind::Delay), [None; 4]);
        assert_eq!(Figure::Metric("requests_per_s".to_owned()).of(&record), Some(7.0));
        assert_eq!(Figure::Metric("requests".to_owned()).of(&record), None);
    }
}
