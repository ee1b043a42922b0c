//! The range of rates of a search: `100..50000`, or of datagrams `10Mbit..10Gbit`.

use hopbench_load::workload::Workload;
use hopbench_model::{Job, Problem, RateRange, Schedule};

use crate::document::fields::Fields;
use crate::document::node::{At, quoted};
use crate::document::problem::Problems;
use crate::document::values::{Value, plain};

/// Two rates as they are written: what a bit rate comes to depends on the size of the datagrams.
#[derive(Debug)]
pub(crate) struct Rates {
    pub(crate) at: At,
    pub(crate) key: String,
    ends: [String; 2],
}

impl Rates {
    /// Reads `rates`, which must be there.
    pub(crate) fn read(
        fields: &Fields<'_>,
        workload: &dyn Workload,
        problems: &mut Problems,
    ) -> Option<Self> {
        let example =
            if workload.kind().is_of_exchanges() { "100..50000" } else { "10Mbit..10Gbit" };
        let expected = format!("the lowest and the highest rate, like {example}");
        let key = fields.path_of("rates");
        let Some(node) = fields.get("rates") else {
            problems.add(fields.at, &fields.path, "no `rates`", expected);
            return None;
        };
        let ends = node
            .text()
            .and_then(|text| text.split_once(".."))
            .map(|(low, high)| [low, high].map(str::trim));
        let Some(ends) = ends.filter(|ends| ends.iter().all(|end| !end.is_empty())) else {
            problems.add(node.at, &key, node.shown(), expected);
            return None;
        };
        // Of datagrams the workload knows the units.
        let end =
            |end: &str| if workload.kind().is_of_exchanges() { plain(end) } else { end.to_owned() };
        Some(Self { at: node.at, key, ends: ends.map(end) })
    }

    /// The lowest as a value of the key `rate`.
    pub(crate) fn lowest(&self) -> Value {
        Value { text: self.ends[0].clone(), at: self.at }
    }

    /// The highest.
    pub(crate) fn highest(&self) -> Value {
        Value { text: self.ends[1].clone(), at: self.at }
    }

    /// The rates of a job, arrivals a second.
    pub(crate) fn range(
        &self,
        workload: &dyn Workload,
        job: &Job,
        problems: &mut Problems,
    ) -> Option<RateRange> {
        let mut per_s = |text: &str| match arrivals_per_s(workload, job, text) {
            Ok(rate) => Some(rate),
            Err(problem) => {
                problems.add(self.at, &self.key, quoted(text), problem.expected.replace("--", ""));
                None
            }
        };
        let (lowest_per_s, highest_per_s) = (per_s(&self.ends[0]), per_s(&self.ends[1]));
        let range = RateRange { lowest_per_s: lowest_per_s?, highest_per_s: highest_per_s? };
        if range.lowest_per_s >= range.highest_per_s {
            let found = quoted(&self.ends.join(".."));
            problems.add(
                self.at,
                &self.key,
                found,
                "the lower rate first, and a higher one behind the dots",
            );
            return None;
        }
        Some(range)
    }
}

/// What a rate comes to, made by the workload itself as from its key `rate`.
fn arrivals_per_s(workload: &dyn Workload, job: &Job, text: &str) -> Result<f64, Problem> {
    let mut job = job.clone();
    if workload.kind().is_of_exchanges() {
        let rate = text.parse().map_err(|_| Problem::new("--rate", text, "a number"))?;
        job.schedule = Schedule::Rate(rate);
    } else {
        job.params["rate"] = text.into();
        workload.settle(&mut job);
    }
    if let Some(problem) = job.problems().into_iter().chain(workload.problems(&job)).next() {
        return Err(problem);
    }
    let sends = job
        .schedule
        .per_s()
        .ok_or_else(|| Problem::new("--rate", text, "a rate that can be halved"))?;
    // One call can be several sends, and a send several datagrams.
    let of = |key: &str| job.params[key].as_f64().map_or(1.0, |count| count.max(1.0));
    Ok(sends * of("gso") * of("batch"))
}
