//! The samples of a round: the latency from which the 99th percentile is read.

use std::sync::Arc;

use hopbench_model::Latency;
use hopbench_stats::Histogram;

/// The samples of a round, of the latency from which the 99th percentile is read.
#[derive(Debug, Clone)]
pub(crate) struct Samples {
    /// Number of samples.
    pub(crate) count: u64,
    /// The histogram: HDR V2, base64. Shared: each look at a run has a copy of its samples.
    hdr: Arc<str>,
}

impl Samples {
    /// `None` if the record has no histogram.
    pub(crate) fn of(latency: &Latency) -> Option<Self> {
        let Latency { count, hdr, .. } = latency;
        (!hdr.is_empty()).then(|| Self { count: *count, hdr: hdr.as_str().into() })
    }

    /// Adds the samples to a histogram; none of them if they cannot be read.
    pub(crate) fn add_to(&self, all: &mut Histogram) {
        let _ = all.merge_base64(&self.hdr);
    }
}
