//! The load that a curve is over.

use hopbench_model::number::{by_name, plain};

use crate::figures::Work;

/// The x axis of a curve.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Over {
    Work(Work),
    Connections,
}

impl Over {
    /// The figure's name.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Work(Work::Each(metric)) => metric.to_owned(),
            Self::Work(Work::KiB) => "received_kib_per_s".to_owned(),
            Self::Connections => "connections".to_owned(),
        }
    }

    /// A load in words.
    pub(crate) fn text(self, x: f64) -> String {
        match self {
            Self::Work(Work::KiB) => by_name("received_bits_per_s", x * 1024.0 * 8.0),
            Self::Work(Work::Each(_)) => format!("{}/s", plain(x.round())),
            Self::Connections => plain(x),
        }
    }

    /// One unit of it.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Work(work) => work.name(),
            Self::Connections => "connection",
        }
    }
}
