//! The mesh of a run: sidecars and gateways that pods get, what they do, and what they count.
//!
//! ```text
//!   placement: which proxies ─► envoy: containers ──────────┐
//!                listeners: what they do ─► bootstraps ─────┴► waves: pods ─► admin: counters
//! ```

mod admin;
mod counters;
mod envoy;
mod injected;
pub(crate) mod listeners;
mod needs;
pub(crate) mod on_nodes;
mod ports;
mod processes;
mod services;
mod sidecars;
mod waves;

pub(crate) use self::counters::{counters, gauges, proxies};
pub(crate) use self::needs::{missing, unsupported};
pub(crate) use self::processes::{containers, facts, targets};
pub(crate) use self::sidecars::{beyond, objects, sidecars};
pub(crate) use self::waves::{pods, stale};
