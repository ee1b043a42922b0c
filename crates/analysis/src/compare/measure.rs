//! A figure in which two runs are compared.

use hopbench_model::{Latency, Record};
use hopbench_stats::summary;

use crate::cells::Samples;
use crate::figures::{Better, Figure, Kind, kinds};

/// One figure of trials.
#[derive(Debug, Clone)]
pub(crate) struct Measure {
    /// Its name, with the unit, as records and reports have it.
    pub(crate) name: String,
    /// Its label for people.
    pub(crate) label: String,
    /// The direction that is good.
    pub(crate) better: Better,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    /// One that reports show.
    Figure(&'static Figure),
    /// A percentile of the latency of this name: which, and how it is read.
    Percentile(String, f64, Read),
    /// A metric of this name.
    Metric(String),
}

/// How a percentile is read, ns.
pub(crate) type Read = fn(&Latency) -> u64;
/// A percentile: its name, which it is, and how it is read.
type Percentile = (&'static str, f64, Read);

/// The percentiles that records have, by their names.
pub(crate) const PERCENTILES: &[Percentile] = &[
    ("p50", 50.0, |latency| latency.p50),
    ("p90", 90.0, |latency| latency.p90),
    ("p99", 99.0, |latency| latency.p99),
    ("p999", 99.9, |latency| latency.p999),
    ("p9999", 99.99, |latency| latency.p9999),
];
/// Percentiles above this one are far ones.
const FAR: f64 = 90.0;

/// The latencies that records have, by their names and by what they are called there.
pub(crate) const LATENCIES: &[(&str, &str)] = &[
    ("response", "response_ns"),
    ("service", "service_ns"),
    ("delay", "delay_ns"),
    ("connect", "connect_ns"),
    (RTT, "service_ns"),
];

/// A name that only some workloads have for their latency.
const RTT: &str = "rtt";

/// The name of the figure that a word means in a kind of workload, and whether more of it is worse.
pub(crate) fn named_figure(word: &str, kind: &'static Kind) -> (String, bool) {
    let measure = Measure::named(word, kind);
    let worse_higher = measure.is_worse_higher();
    (measure.name, worse_higher)
}

impl Measure {
    /// Those that reports compare for a kind of workload.
    pub(crate) fn of_kind(kind: &'static Kind) -> Vec<Self> {
        kind.figures.iter().filter(|figure| figure.is_compared()).map(Self::of_figure).collect()
    }

    fn of_figure(figure: &'static Figure) -> Self {
        Self {
            name: figure.name.to_owned(),
            label: figure.label.to_owned(),
            better: figure.better,
            source: Source::Figure(figure),
        }
    }

    /// The one that is called so. A name is `throughput`, or what reports show, with or without its
    /// unit. It can also be a percentile (`p99_response`, `response_p99_ns`, `p99`: of the latency
    /// that reports show), or a metric of records. A metric may be none.
    pub(crate) fn named(word: &str, kind: &'static Kind) -> Self {
        let compared = || kind.figures.iter().filter(|figure| figure.is_compared());
        let found = match word {
            "throughput" => compared().find(|figure| figure.better == Better::Higher),
            _ => compared().find(|figure| {
                figure.name == word || figure.name.strip_suffix("_ns") == Some(word)
            }),
        };
        if let Some(figure) = found {
            return Self::of_figure(figure);
        }
        if let Some(((percentile, percent, read), of, latency)) = percentile(word, kind) {
            let name = format!("{of}_{percentile}_ns");
            // What reports show under this name is that.
            return compared().find(|figure| figure.name == name).map_or_else(
                || Self {
                    name,
                    label: format!("{of} {percentile}"),
                    better: Better::Lower,
                    source: Source::Percentile(latency, percent, read),
                },
                Self::of_figure,
            );
        }
        if let Some(figure) = kinds::of_failures(word) {
            return Self::of_figure(figure);
        }
        Self {
            name: word.to_owned(),
            label: word.to_owned(),
            better: if is_of_work(word) { Better::Higher } else { Better::Neither },
            source: Source::Metric(word.to_owned()),
        }
    }

    /// The value of a trial, `proxied`: its traffic passes proxies; not a number where it has none.
    pub(crate) fn of(&self, record: &Record, proxied: bool) -> f64 {
        match &self.source {
            Source::Figure(figure) => figure.of(record, proxied),
            Source::Percentile(latency, _, read) => match record.latency.get(latency) {
                Some(latency) => (latency.count > 0).then(|| read(latency) as f64),
                // Other tools state single points, and no distribution.
                None => record.metrics.get(&self.name).copied(),
            },
            Source::Metric(name) => record.metrics.get(name).copied(),
        }
        .filter(|value| value.is_finite())
        .unwrap_or(f64::NAN)
    }

    /// What several trials come to: the median, or the mean of losses and errors; `None` without
    /// any.
    pub(crate) fn middle(&self, values: &[f64]) -> Option<f64> {
        match &self.source {
            Source::Figure(figure) => figure.middle(values),
            Source::Percentile(..) | Source::Metric(_) => summary::median(values),
        }
    }

    /// The percentile that needs the samples of several rounds, if it is such a figure.
    pub(crate) fn far_percentile(&self) -> Option<f64> {
        match &self.source {
            Source::Figure(figure) => figure.is_far_percentile().then_some(99.0),
            Source::Percentile(_, percent, _) => Some(*percent).filter(|percent| *percent > FAR),
            Source::Metric(_) => None,
        }
    }

    /// The samples from which a far percentile of a trial is read; `None` where there are none.
    pub(crate) fn samples(&self, record: &Record) -> Option<Samples> {
        self.far_percentile()?;
        let latency = match &self.source {
            Source::Figure(figure) => figure.latency_name()?,
            Source::Percentile(latency, ..) => latency,
            Source::Metric(_) => return None,
        };
        Samples::of(record.latency.get(latency)?)
    }

    /// By how much a ratio can be off because the figures are rounded.
    pub(crate) fn resolution(&self) -> f64 {
        match &self.source {
            Source::Figure(figure) => figure.ratio_resolution(),
            // As of the percentiles that reports show.
            Source::Percentile(..) => 0.002,
            Source::Metric(_) => 0.0,
        }
    }

    /// Whether more of it is worse. Of what has no direction, like losses, jitter and memory, more
    /// is worse as well; the share of a link is the exception.
    pub(crate) fn is_worse_higher(&self) -> bool {
        self.better != Better::Higher && self.name != "link_share_ratio"
    }

    /// Whether this is a share of something, like losses and errors: from 0 to 1.
    pub(crate) fn is_share(&self) -> bool {
        self.name.ends_with("_ratio")
    }

    /// Whether this is CPU time of an end, of whose work proxies can take over a part.
    pub(crate) fn is_cpu_of_an_end(&self) -> bool {
        matches!(self.source, Source::Figure(figure) if figure.is_cpu_of_an_end())
    }

    /// Whether it is a latency, which is not compared where a path is saturated.
    pub(crate) fn is_latency(&self) -> bool {
        match &self.source {
            Source::Figure(figure) => figure.is_latency(),
            Source::Percentile(..) => true,
            Source::Metric(_) => false,
        }
    }

    /// Whether this is the time of connecting, which ends where the connection does.
    pub(crate) fn is_of_connecting(&self) -> bool {
        self.name.starts_with("connect_")
    }
}

/// Whether a metric is an amount of work in a time: more of it is better.
fn is_of_work(name: &str) -> bool {
    let bad = ["retrans", "lost", "error", "drop", "late", "missed", "unsent", "switches"];
    name.ends_with("_per_s") && !bad.iter().any(|part| name.contains(part))
}

/// Which percentile of what a word means: the percentile, and the latency's name for people and in
/// records.
fn percentile(word: &str, kind: &Kind) -> Option<(Percentile, &'static str, String)> {
    let plain = word.strip_suffix("_ns").unwrap_or(word).replace('.', "");
    let known = |name: &str| PERCENTILES.iter().find(|(known, ..)| *known == name).copied();
    let is_called = |of: &str| kind.figures.iter().any(|figure| figure.name.starts_with(of));
    // A round trip that is not one of packets is called a service time or a response time.
    let named = |name: &str| {
        LATENCIES.iter().find(|(known, _)| *known == name && (name != RTT || is_called(RTT)))
    };
    let (percentile, latency) = match plain.split_once('_') {
        Some((one, other)) => {
            let percentile = known(one).or_else(|| known(other))?;
            (percentile, named(other).or_else(|| named(one))?)
        }
        None => {
            let shown = kind.distribution?;
            (known(&plain)?, LATENCIES.iter().find(|(of, name)| *name == shown && is_called(of))?)
        }
    };
    Some((percentile, latency.0, latency.1.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Intent::{self, Most, Rate};

    #[test]
    fn a_percentile_that_is_stated_needs_no_distribution() {
        let stated = [("service_p99_ns", 2e6), ("service_p999_ns", 5e6), ("rtt_p99_ns", 7e6)];
        let mut record = hopbench_model::fixture::record(&stated);
        let of = |word: &str, workload: &str, record: &Record| {
            Measure::named(word, kinds::of(workload, Most)).of(record, false)
        };
        assert_eq!(of("p99", "imported-http", &record), 2e6);
        assert_eq!(of("p999_service", "imported-http", &record), 5e6);
        assert_eq!(of("p99_rtt", "imported-ping", &record), 7e6);
        assert!(of("p9999", "imported-http", &record).is_nan(), "it is not stated");
        record
            .latency
            .insert("service_ns".to_owned(), Latency { count: 1, p99: 3, ..Latency::default() });
        assert_eq!(of("p99", "imported-http", &record), 3.0);
    }

    #[test]
    fn losses_and_errors_are_means_whether_reports_show_them_or_not() {
        let middle = |word: &str, workload: &str| {
            Measure::named(word, kinds::of(workload, Most)).middle(&[0.0, 0.0, 0.3])
        };
        for (word, workload) in
            [("error_ratio", "http"), ("error_ratio", "rr"), ("lost_ratio", "rr")]
        {
            assert!((middle(word, workload).unwrap() - 0.1).abs() < 1e-12, "{word} of {workload}");
        }
        for (word, workload) in [("retransmitted_ratio", "stream"), ("p99", "rr"), ("other", "rr")]
        {
            assert_eq!(middle(word, workload), Some(0.0), "{word} of {workload}");
        }
    }

    fn name(word: &str, workload: &str, intent: Intent) -> (String, Better) {
        let measure = Measure::named(word, kinds::of(workload, intent));
        (measure.name, measure.better)
    }

    #[test]
    fn a_word_means_what_the_workload_has() {
        for (word, workload, intent, expected) in [
            ("throughput", "stream", Most, "received_bits_per_s"),
            ("throughput", "http", Rate, "requests_per_s"),
            ("throughput", "udp", Rate, "received_packets_per_s"),
            ("p99_response", "http", Rate, "response_p99_ns"),
            ("response_p99", "http", Rate, "response_p99_ns"),
            ("response_p99_ns", "http", Rate, "response_p99_ns"),
            ("p99.9_response", "http", Rate, "response_p999_ns"),
            ("p999_service", "rr", Most, "service_p999_ns"),
            ("p99_delay", "push", Most, "delay_p99_ns"),
            ("p99", "http", Rate, "response_p99_ns"),
            ("p99", "http", Most, "service_p99_ns"),
            ("p50", "udp", Rate, "delay_p50_ns"),
            ("p50_rtt", "ping", Most, "rtt_p50_ns"),
            ("p99", "ping", Rate, "rtt_p99_ns"),
            ("p99_rtt", "rr", Most, "p99_rtt"),
            ("cpu_per_request", "rr", Most, "cpu_per_request_ns"),
            ("cpu_per_kib_ns", "stream", Most, "cpu_per_kib_ns"),
            ("lost_ratio", "udp", Most, "lost_ratio"),
        ] {
            assert_eq!(name(word, workload, intent).0, expected, "{word} of {workload}");
        }
    }

    #[test]
    fn a_metric_of_work_is_better_higher() {
        assert_eq!(name("acknowledged_bits_per_s", "stream", Most).1, Better::Higher);
        assert_eq!(name("retransmitted_segments_per_s", "stream", Most).1, Better::Neither);
        let lower = |word: &str| Measure::named(word, kinds::of("stream", Most)).is_worse_higher();
        assert!(lower("retransmitted_bytes") && lower("retransmitted_ratio"));
        assert!(!lower("throughput") && !lower("link_share_ratio") && !lower("sent_bits_per_s"));
    }
}
