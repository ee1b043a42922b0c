//! Figures of the rounds of a cell: intervals, when to stop, outliers and trends.

mod median;
mod outliers;
mod pooled;
mod sequential;
mod trend;

pub(crate) use median::standard_error;
pub use median::{difference_interval, rounds_interval};
pub use outliers::{Outlier, outliers};
pub use pooled::{Pooled, pooled_percentile};
pub use sequential::{FEWEST_TO_STOP, Look, Stop};
#[cfg(test)]
pub(crate) use trend::normal_p;
pub use trend::{Persistence, Trend, persistence, round_effects, trend};
