//! The result files of fortio: one object an HTTP trial, for its pages and for programs that read
//! its files.
//!
//! `DurationHistogram` has the service time, from the real sending of a request, as fortio measures
//! it. The response time of an open loop is unknown to fortio. It is in the object `Hopbench`, with
//! the identity of the trial and the whole histograms. Other readers ignore that object.
//!
//! The histogram holds the calls that succeeded. In fortio's own files it holds failed calls, too,
//! and `ErrorsDurationHistogram` says which these are. Our records do not have the times of failed
//! calls. So `ErrorsDurationHistogram` has their `Count` and no times or buckets (`Data` is null).
//! `Sizes` and `RetCodes` count all calls.
//!
//! The buckets are those of the record's histogram, at most 0.1 % wide, so that interpolation
//! within them does no harm. Of the sizes of answers only the mean is known. Threads, connections
//! and rates are those of all clients together.

mod histogram;
mod object;

use self::object::{Object, id};
use crate::export::{TrialFile, TrialFormat, TrialPrinter};
use crate::format::Format;
use crate::text::json;

/// The format; see the [module](self).
pub(super) const FORMAT: TrialFormat = Format {
    name: "fortio",
    summary: "fortio's result JSON, an object a line and HTTP trial; `-o DIR/`: a file each",
    render: TrialPrinter {
        head: "",
        trial: |trial| {
            let object = |histogram| json::line(&Object::of(trial, &histogram));
            trial.histogram().map_or_else(|| "\n".to_owned(), object)
        },
        file: Some(|trial| TrialFile { stem: id(trial), extension: "json" }),
    },
};
