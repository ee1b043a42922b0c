//! Figures: which there are for each kind of workload, and how they are read from records.

mod component;
mod figure;
mod kind;
pub(crate) mod kinds;
mod link;
mod node;
mod recorded_job;
mod usable;

pub(crate) use self::component::Component;
pub(crate) use self::figure::{End, Figure, Percentile, Source, Work, per_s};
#[cfg(test)]
pub(crate) use self::kind::Intent;
pub(crate) use self::kind::Kind;
pub use self::kinds::main_latency;
pub(crate) use self::link::LinkFacts;
pub(crate) use self::node::{Busy, Node, cores};
pub(crate) use self::recorded_job::is_pem;
pub use self::recorded_job::{RecordedJob, spoken};
pub use self::usable::unusable;
pub(crate) use self::usable::{is_mostly_late, mostly_saturated};
pub(crate) use crate::summary::Better;
