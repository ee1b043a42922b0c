//! Cells: what is kept of their trials, and what that says of their figures.

pub(crate) mod against;
pub(crate) mod batches;
mod cell;
pub(crate) mod components;
mod distribution;
mod evidence;
pub(crate) mod nodes;
pub(crate) mod noise;
pub(crate) mod outliers;
mod samples;
mod warnings;

pub(crate) use self::cell::{Cell, Round, Spent};
pub(crate) use self::distribution::{Distribution, Distributions};
pub(crate) use self::evidence::{Proofs, TrialKey, Unused};
pub(crate) use self::samples::Samples;
pub(crate) use self::warnings::Warnings;
