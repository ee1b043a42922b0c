//! Statistics of rounds: intervals, stopping, outliers and trends.

mod intervals;
mod outliers;
mod pooled;
mod pooled_mean;
mod sequential;
pub(crate) mod trend;

pub(crate) use self::intervals::standard_error;
pub use self::intervals::{difference_interval, rounds_interval};
pub use self::outliers::{Outlier, outliers};
pub use self::pooled::{Pooled, PooledRounds};
pub use self::pooled_mean::pooled_mean;
pub use self::sequential::{FEWEST_TO_STOP, Look, Stop};
pub use self::trend::{Persistence, Trend, persistence, round_effects, trend};
