//! Meshes: what each proxy adds to a path, and what proxies spend as the load on them grows.

mod curve;
mod curve_text;
mod doubts;
mod family;
mod line;
mod over;
mod waterfall;

pub(crate) use self::curve::all as curves;
pub(crate) use self::waterfall::all as waterfalls;
