//! The check for the mesh that the scenario names.

use hopbench_model::MeshProvider;

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::doctor::inventory::Inventory;

pub(super) const CHECK: Check =
    Check { name: "mesh", needed_for: "paths with sidecars and gateways", judge };

fn judge(inventory: &Inventory) -> Finding {
    let wanted = inventory.spec.mesh.provider;
    let found: Vec<(MeshProvider, String)> = MeshProvider::ALL
        .into_iter()
        .filter_map(|provider| Some((provider, trace(inventory, provider)?)))
        .collect();
    let told: Vec<String> =
        found.iter().map(|(provider, trace)| format!("{} ({trace})", provider.name())).collect();
    let told = if told.is_empty() { "none found".to_owned() } else { told.join(", ") };
    let own = wanted == MeshProvider::Envoy;
    if own || found.iter().any(|(provider, _)| *provider == wanted) {
        let used = if own {
            "the scenario's sidecars are hopbench's own (`provider: envoy`)"
        } else {
            wanted.name()
        };
        return Finding::works(format!("{told}; used: {used}"));
    }
    let known = format!("{told}; the scenario says `provider: {}`", wanted.name());
    match inventory.hidden() {
        Some(why) => Finding::limited(
            format!("{known}; not everything can be seen: {why}"),
            "install it if it is not there",
        ),
        None => {
            Finding::missing(known, "install it, or take `provider: envoy`, which needs nothing")
        }
    }
}

/// By what a mesh is known.
fn trace(inventory: &Inventory, provider: MeshProvider) -> Option<String> {
    let workload = |fits: fn(&str) -> bool| {
        inventory.workload(fits).map(|(namespace, name)| format!("{namespace}/{name}"))
    };
    match provider {
        MeshProvider::Envoy => None,
        MeshProvider::Istio => workload(|name| name.starts_with("istiod")),
        MeshProvider::IstioAmbient => workload(|name| name.starts_with("ztunnel")),
        MeshProvider::Linkerd => workload(|name| name.starts_with("linkerd-destination")),
        MeshProvider::Cilium => workload(|name| name.starts_with("cilium-envoy")).or_else(|| {
            let mut definitions = inventory.definitions.iter().flatten();
            definitions.find(|name| *name == "ciliumenvoyconfigs.cilium.io").cloned()
        }),
    }
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::State;

    use super::*;

    #[test]
    fn meshes_are_known_by_their_control_planes() {
        let mut inventory = Inventory::fine();
        inventory.spec.mesh.provider = MeshProvider::Envoy;
        assert!(judge(&inventory).found.starts_with("none found; used: the scenario's sidecars"));
        inventory.spec.mesh.provider = MeshProvider::Istio;
        assert_eq!(judge(&inventory).state, State::Missing);
        inventory.deployments = Err("forbidden".to_owned());
        assert_eq!(judge(&inventory).state, State::Limited);
        inventory.deployments = Ok(vec![("istio-system".into(), "istiod-1-24".into())]);
        inventory.daemon_sets = Ok(vec![("istio-system".into(), "ztunnel".into())]);
        let found = judge(&inventory);
        assert_eq!(
            found,
            Finding::works(
                "istio (istio-system/istiod-1-24), istio-ambient (istio-system/ztunnel); used: \
                 istio"
            )
        );
    }
}
