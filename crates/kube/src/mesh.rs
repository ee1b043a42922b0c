//! Sidecars and gateways: what paths with proxies need and have.
//!
//! Nobody puts proxies beside the agents yet: paths that want some are refused.

use std::collections::BTreeMap;

use hopbench_model::{ClusterSpec, Fault};
use hopbench_testbed::{Counters, Gauges, Need, Proxy, Route};

use crate::built::Built;
use crate::cast::Cast;
use crate::demand::Demand;
use crate::pod::PodId;
use crate::sidecar::Sidecar;

/// What the proxies of a path need and is not there.
pub(crate) fn missing(spec: &ClusterSpec, cast: &Cast) -> Vec<Need> {
    if !cast.path.is_proxied() {
        return Vec::new();
    }
    vec![Need {
        path: Some(cast.path.name.clone()),
        what: format!("mesh {}", spec.mesh.provider.name()),
        why: format!("{}: hopbench cannot put proxies into a cluster yet", cast.path.way()),
        remedy: "run this path in a lab, or leave it out".to_owned(),
    }]
}

/// What each pod gets beside its agent.
pub(crate) fn sidecars(_spec: &ClusterSpec, _demand: &Demand) -> BTreeMap<PodId, Sidecar> {
    BTreeMap::new()
}

/// The proxies in the pods of a path.
pub(crate) fn proxies(_built: &Built, _cast: &Cast) -> Vec<Proxy> {
    Vec::new()
}

/// Their counters.
pub(crate) fn counters(_built: &Built, _route: &Route) -> Result<Counters, Fault> {
    Ok(Counters::new())
}

/// What they say of themselves.
pub(crate) fn gauges(_built: &Built, _route: &Route) -> Result<BTreeMap<String, Gauges>, Fault> {
    Ok(BTreeMap::new())
}
