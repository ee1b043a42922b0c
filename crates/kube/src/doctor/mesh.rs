use hopbench_model::MeshProvider;

use super::seen::Seen;
use super::{Check, Finding};

pub(super) const CHECK: Check = Check { name: "mesh", needed_for: "paths with sidecars and gateways", judge };

fn judge(seen: &Seen) -> Finding {
    let wanted = seen.spec.mesh.provider;
    let found: Vec<(MeshProvider, String)> =
        MeshProvider::ALL.into_iter().filter_map(|provider| Some((provider, trace(seen, provider)?))).collect();
    let told: Vec<String> = found.iter().map(|(provider, trace)| format!("{} ({trace})", provider.name())).collect();
    let told = if told.is_empty() { "none found".to_owned() } else { told.join(", ") };
    let own = wanted == MeshProvider::Envoy;
    if own || found.iter().any(|(provider, _)| *provider == wanted) {
        let used = if own { "the scenario's sidecars are hopbench's own (`provider: envoy`)" } else { wanted.name() };
        return Finding::works(format!("{told}; used: {used}"));
    }
    let known = format!("{told}; the scenario says `provider: {}`", wanted.name());
    match seen.hidden() {
        Some(why) => {
            Finding::limited(format!("{known}; not everything can be seen: {why}"), "install it if it is not there")
        }
        None => Finding::missing(known, "install it, or take `provider: envoy`, which needs nothing"),
    }
}

/// By what a mesh is known.
fn trace(seen: &Seen, provider: MeshProvider) -> Option<String> {
    let workload = |fits: fn(&str) -> bool| seen.workload(fits).map(|(namespace, name)| format!("{namespace}/{name}"));
    match provider {
        MeshProvider::Envoy => None,
        MeshProvider::Istio => workload(|name| name.starts_with("istiod")),
        MeshProvider::IstioAmbient => workload(|name| name.starts_with("ztunnel")),
        MeshProvider::Linkerd => workload(|name| name.starts_with("linkerd-destination")),
        MeshProvider::Cilium => workload(|name| name.starts_with("cilium-envoy")).or_else(|| {
            let definition = "ciliumenvoyconfigs.cilium.io";
            seen.definitions.iter().flatten().any(|name| name == definition).then(|| definition.to_owned())
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn meshes_are_known_by_their_control_planes() {
        let mut seen = Seen::fine();
        seen.spec.mesh.provider = MeshProvider::Envoy;
        assert!(judge(&seen).found.starts_with("none found; used: the scenario's sidecars"));
        seen.spec.mesh.provider = MeshProvider::Istio;
        assert_eq!(judge(&seen).state, State::Missing);
        seen.deployments = Err("forbidden".to_owned());
        assert_eq!(judge(&seen).state, State::Limited);
        seen.deployments = Ok(vec![("istio-system".into(), "istiod-1-24".into())]);
        seen.daemon_sets = Ok(vec![("istio-system".into(), "ztunnel".into())]);
        let found = judge(&seen);
        assert_eq!(
            found,
            Finding::works("istio (istio-system/istiod-1-24), istio-ambient (istio-system/ztunnel); used: istio")
        );
    }
}
