//! The result files of fortio, one object an HTTP trial, for its pages and for what reads its files.
//!
//! `DurationHistogram` is what fortio itself would have measured: the service time, from when a request was really sent.
//! The response time of an open loop, which fortio does not know, is in the object `Hopbench` (that other readers pass
//! over) with everything that identifies the trial and the whole histograms.
//!
//! It holds the calls that succeeded: in fortio's own files it holds failed ones, too, and `ErrorsDurationHistogram` says
//! which of them those were. How long failed calls took is not kept: of them there is `Count` and nothing else, no time and
//! no buckets (`Data` is null). `Sizes` and `RetCodes` count all calls.
//!
//! Its buckets are those of the record's histogram, at most 0.1 % wide, so that reading between their ends does no harm. Of
//! the sizes of answers only the mean is known. Threads, connections and rates are those of all clients together.

mod histogram;
mod object;

use self::object::{Object, id};
use crate::export::{Trial, TrialFile, TrialFormat};
use crate::text::json;

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct Fortio;

impl TrialFormat for Fortio {
    fn name(&self) -> &'static str {
        "fortio"
    }

    fn summary(&self) -> &'static str {
        "fortio's result JSON, an object a line and HTTP trial; `-o DIR/`: a file each"
    }

    fn head(&self) -> &'static str {
        ""
    }

    fn render(&self, trial: &Trial<'_>) -> String {
        let histogram = trial.histogram();
        histogram.map_or_else(|| "\n".to_owned(), |histogram| json::line(&Object::of(trial, &histogram)))
    }

    fn file(&self, trial: &Trial<'_>) -> Option<TrialFile> {
        Some(TrialFile { stem: id(trial), extension: "json" })
    }
}
