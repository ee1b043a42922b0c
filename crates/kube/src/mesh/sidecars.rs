//! The parts that pods get for the mesh of their paths.

use std::collections::BTreeMap;

use hopbench_model::{ClusterSpec, MeshProvider};
use hopbench_testbed::placement::{Placement, PodId};
use serde_json::Value;

use super::{envoy, injected, on_nodes};
use crate::objects::sidecar::Sidecar;

/// The parts that each pod gets beside its agent.
pub(crate) fn sidecars(spec: &ClusterSpec, placement: &Placement) -> BTreeMap<PodId, Sidecar> {
    match spec.mesh.provider {
        MeshProvider::Envoy => envoy::sidecars(spec, placement),
        provider if provider.is_on_nodes() => on_nodes::sidecars(provider, placement),
        provider => injected::sidecars(provider, spec, placement),
    }
}

/// Further objects that lead the traffic of a plan through the mesh.
pub(crate) fn objects(spec: &ClusterSpec, placement: &Placement) -> Vec<Value> {
    match spec.mesh.provider {
        MeshProvider::Cilium => on_nodes::cilium::policies(spec, placement),
        _ => Vec::new(),
    }
}

/// The needs beyond `restricted` of the containers that the mesh injects, by the pods' names.
pub(crate) fn beyond(spec: &ClusterSpec, placement: &Placement) -> BTreeMap<String, Vec<String>> {
    match injected::beyond(spec.mesh.provider) {
        Some(what) => {
            placement.sidecars.keys().map(|pod| (pod.to_string(), vec![what.to_owned()])).collect()
        }
        None => BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests;
