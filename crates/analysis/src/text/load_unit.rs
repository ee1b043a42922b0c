//! The unit of a search's loads.

use hopbench_model::Job;
use hopbench_model::number::si;

use super::load_text::{load, number};

/// The unit of a search's loads: a parameter, and for datagrams the payload of each.
#[derive(Debug, Clone, Copy)]
pub struct LoadUnit<'a> {
    /// `rate`, `connections`, `threads`.
    pub parameter: &'a str,
    /// Payload of a datagram, bits; `None` of all else.
    pub datagram_bits: Option<f64>,
}

impl<'a> LoadUnit<'a> {
    /// Of a search over this parameter.
    pub fn of(parameter: &'a str, job: &Job) -> Self {
        Self { parameter, datagram_bits: datagram_bits(job).filter(|_| parameter == "rate") }
    }

    /// A load with its unit: `4979/s`, `13217/s = 106 Mbit/s`, `32 connections`.
    pub fn text(&self, at: f64) -> String {
        let bits = self.bits(at).map_or(String::new(), |bits| format!(" = {bits}"));
        format!("{}{bits}", load(self.parameter, at))
    }

    /// What a load lies between: ` [4979, 5078]`; what lies above may not be known.
    pub fn ends(low: Option<f64>, high: Option<f64>) -> String {
        let high = high.map_or_else(|| "?".to_owned(), number);
        low.map_or(String::new(), |low| format!(" [{}, {high}]", number(low)))
    }

    /// A load as bits of payload a second; `None` where it is not of datagrams.
    pub fn bits(&self, at: f64) -> Option<String> {
        Some(si(at * self.datagram_bits?, "bit/s"))
    }
}

/// Payload of each datagram of a job, bits.
fn datagram_bits(job: &Job) -> Option<f64> {
    let size = job.size().filter(|_| job.kind().is_one_way_udp())?;
    Some(size.0 as f64 * 8.0).filter(|bits| *bits > 0.0)
}

/// A rate of a job's arrivals as people asked for it: `500/s`, of datagrams with what they carry:
/// `13217/s = 106 Mbit/s`.
pub fn rate_text(job: &Job, per_s: f64) -> String {
    LoadUnit::of("rate", job).text(per_s)
}
