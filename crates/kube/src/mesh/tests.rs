//! What pods get for a mesh, compared with files that a person has looked at. `UPDATE_GOLDEN=1` writes them anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use hopbench_model::{ClusterSpec, MeshMode, MeshProvider, Path, Plan, TestbedSpec, Variant, Via};
use serde_json::{Value, json};

use super::{missing, sidecars};
use crate::demand::Demand;
use crate::fixture::{path, plan, point, spec};
use crate::fronts::fronts;

fn meshed(name: &str, via: Via, mesh: MeshMode, variant: Variant) -> Path {
    let variant = (!mesh.is_none() || matches!(via, Via::Gateway(_))).then_some(variant);
    Path { mesh, variant, ..path(name, "pod@a", "pod@b", via) }
}

fn of_provider(provider: MeshProvider) -> ClusterSpec {
    let mut spec = spec();
    spec.mesh.provider = provider;
    spec.mesh.revision = (provider == MeshProvider::Istio).then(|| "canary".to_owned());
    spec
}

fn planned(spec: &ClusterSpec, paths: Vec<Path>) -> Plan {
    let points = vec![point("rr", "hopbench"), point("http", "hopbench")];
    Plan { testbed: TestbedSpec::Kubernetes(Box::new(spec.clone())), ..plan(paths, points) }
}

fn modes() -> Vec<Path> {
    let mode = |mode: MeshMode| meshed(mode.name(), Via::Direct, mode, Variant::plain());
    let mut paths: Vec<Path> = MeshMode::ALL.map(mode).into();
    paths.push(meshed("svc", Via::ClusterIp, MeshMode::Both, Variant::plain()));
    paths
}

/// What each pod gets, and the ports of the Services.
fn given(provider: MeshProvider, mut paths: Vec<Path>) -> Value {
    let spec = of_provider(provider);
    if provider == MeshProvider::Envoy {
        let checked = Variant { policy_check: true, policy_report: true, ..Variant::plain() };
        let checked = Variant { name: "checked".into(), ..checked };
        paths.push(meshed("gateway", Via::Gateway("c".into()), MeshMode::Server, checked));
    }
    let demand = Demand::of(&planned(&spec, paths));
    let sidecars = sidecars(&spec, &demand);
    let pods: BTreeMap<String, Value> = sidecars
        .iter()
        .map(|(pod, sidecar)| {
            let also: BTreeMap<u16, String> =
                sidecar.also.iter().map(|(port, protocol)| (*port, format!("{protocol:?}"))).collect();
            let all = json!({
                "containers": sidecar.containers,
                "volumes": sidecar.volumes,
                "labels": sidecar.labels,
                "annotations": sidecar.annotations,
                "also": also,
            });
            (pod.to_string(), all)
        })
        .collect();
    let services: BTreeMap<String, _> = fronts(&demand).into_iter().map(|front| (front.name, front.sidecars)).collect();
    json!({"pods": pods, "services": services})
}

#[test]
fn what_pods_get_is_as_agreed() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden-mesh"));
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut differ = Vec::new();
    for provider in [MeshProvider::Envoy, MeshProvider::Istio, MeshProvider::Linkerd] {
        let text = serde_json::to_string_pretty(&given(provider, modes())).unwrap() + "\n";
        let file = folder.join(format!("{}.json", provider.name()));
        if update {
            fs::write(&file, &text).unwrap();
        }
        if fs::read_to_string(&file).unwrap_or_default() != text {
            differ.push(format!("{}:\n{text}", provider.name()));
        }
    }
    assert!(differ.is_empty(), "what pods get differs (UPDATE_GOLDEN=1 accepts it):\n{}", differ.join("\n"));
}

/// Who connects to its own sidecar must know its servers before it starts: no pod waits for one that waits for it.
#[test]
fn nobody_who_connects_to_its_own_sidecar_is_a_server() {
    let spec = of_provider(MeshProvider::Envoy);
    let mut paths = modes();
    let back = Path { name: "back".into(), ..meshed("", Via::Direct, MeshMode::Both, Variant::plain()) };
    paths.push(Path { from: back.to.clone(), to: back.from.clone(), ..back });
    let demand = Demand::of(&planned(&spec, paths));
    for cast in demand.paths.values().filter(|cast| cast.path.mesh.has_client()) {
        let served = |pod| demand.paths.values().any(|other| other.servers.values().flatten().any(|one| one == pod));
        assert!(!cast.clients.iter().any(served), "{:?}", cast.clients);
    }
}

#[test]
fn what_cannot_be_measured_says_why() {
    let told = |provider: MeshProvider, path: Path| -> Vec<String> {
        let spec = of_provider(provider);
        let demand = Demand::of(&planned(&spec, vec![path]));
        demand.paths.values().flat_map(|cast| missing(&spec, cast)).map(|need| need.why).collect()
    };
    let plain = Variant::plain;
    let fine = || meshed("p", Via::Direct, MeshMode::Both, plain());
    for provider in [MeshProvider::Envoy, MeshProvider::Istio, MeshProvider::Linkerd] {
        assert_eq!(told(provider, fine()), Vec::<String>::new());
    }
    for provider in [MeshProvider::IstioAmbient, MeshProvider::Cilium] {
        assert!(told(provider, fine())[0].contains("such a path is not measured"));
    }
    let variant = Variant { name: "no-mtls".into(), mtls: false, ..plain() };
    let path = meshed("p", Via::Direct, MeshMode::Both, variant.clone());
    assert!(told(MeshProvider::Istio, path.clone())[0].starts_with("variant no-mtls: how the proxies of istio"));
    assert!(told(MeshProvider::Envoy, path).is_empty());
    let gateway = meshed("p", Via::Gateway("c".into()), MeshMode::Server, plain());
    assert!(told(MeshProvider::Istio, gateway.clone())[0].starts_with("a gateway of hopbench's own"));
    assert!(told(MeshProvider::Envoy, gateway).is_empty());
    let host = Path { to: crate::fixture::place("host@b"), ..fine() };
    assert!(told(MeshProvider::Envoy, host)[0].contains("ports of the node"));
    let outside = meshed("p", Via::Gateway(String::new()), MeshMode::None, plain());
    assert_eq!(told(MeshProvider::Envoy, outside), ["nothing says where the gateway is"]);
}
