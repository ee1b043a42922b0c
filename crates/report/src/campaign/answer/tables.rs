//! The tables of the answer: of workloads, of searches, and of the cost of each hop.

mod cell;
mod effects;
mod found;
mod hops;
pub(super) mod table;

pub(crate) use self::cell::{Cell, Value};
pub(super) use self::effects::table as effects;
pub(super) use self::found::tables as searches;
pub(super) use self::hops::table as hops;
pub(super) use self::table::legend;
pub(crate) use self::table::{Row, Table};
