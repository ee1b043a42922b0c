//! A run that stands without a cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hopbench_control::conductor::Conductor;
use hopbench_model::{ClusterSpec, IpFamily, MeshProvider, Plan, ServerImage, TestbedSpec};
use hopbench_testbed::placement::PodId;
use http::{Request, Response};
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use super::Built;
use crate::api::labels::RunIdentity;
use crate::objects::blueprint;
use crate::objects::security::Level;
use crate::objects::service::ServiceEntry;
use crate::plan::discovery::Discovery;
use crate::plan::names;
use crate::plan::nodes::NodeFacts;
use crate::plan::placement::placement;
use crate::plan::services::{PathService, services};
use crate::provision::mesh_state::MeshState;
use crate::provision::pods::Pods;

/// A cluster with a mesh of this provider, and nginx on port 8080.
pub(crate) fn with_nginx(provider: MeshProvider) -> ClusterSpec {
    let mut spec = crate::plan::fixture::spec();
    spec.mesh.provider = provider;
    let nginx = ServerImage {
        image: "nginx:1".into(),
        port: 8080,
        cpu_millis: None,
        args: Vec::new(),
        request: None,
    };
    spec.servers.insert("nginx".into(), nginx);
    spec
}

/// The state of a run of this plan in a cluster with both families. Its API server answers nothing.
/// It needs a runtime.
pub(crate) fn built(plan: &Plan) -> Built {
    built_with(plan, &IpFamily::ALL)
}

/// The same in a cluster with these families, in this order.
pub(crate) fn built_with(plan: &Plan, families: &[IpFamily]) -> Built {
    let TestbedSpec::Kubernetes(spec) = &plan.testbed else { panic!("{:?}", plan.testbed) };
    let spec = ClusterSpec::clone(spec);
    let placement = placement(plan);
    let run = RunIdentity {
        name: "k2v9xq1bzr".into(),
        namespace: "run".into(),
        is_guest: false,
        owner: "uid".into(),
    };
    let services = services(&spec, &placement);
    let nobody = tower::service_fn(|request: Request<Body>| async move {
        Err::<Response<Body>, String>(format!("nobody answers {}", request.uri()))
    });
    Built {
        discovery: Discovery::default(),
        nodes: spec
            .nodes
            .iter()
            .zip(1..)
            .map(|(known, at)| node(&known.name, at, families))
            .collect(),
        attachments: blueprint::attachments(&spec, &placement).unwrap(),
        level: Level::Restricted,
        beyond: BTreeMap::new(),
        names: names::pods(&placement.pods),
        templates: BTreeMap::new(),
        entries: services
            .iter()
            .zip(1..)
            .map(|(one, at)| entry(&spec, one, at, families))
            .collect(),
        services,
        endpoints: BTreeMap::new(),
        pods: placement
            .pods
            .iter()
            .zip(1..)
            .map(|(id, at)| (id.clone(), pod(at, families)))
            .collect(),
        refused: BTreeMap::new(),
        foreign: BTreeMap::new(),
        kube_proxy: None,
        clocks: Arc::default(),
        api: Pods::new(&Client::new(nobody, "run"), &run),
        mesh: MeshState::new().unwrap(),
        served: BTreeMap::new(),
        gateways: BTreeMap::new(),
        gateway_pods: BTreeMap::new(),
        node_proxies: BTreeMap::new(),
        run,
        host_port: 23_000,
        conductor: Conductor::new().unwrap(),
        agents: BTreeMap::new(),
        cells: Vec::new(),
        entered: BTreeMap::new(),
        placement,
        spec,
    }
}

/// The pod of this name in a plan.
pub(crate) fn named(built: &Built, name: &str) -> PodId {
    let known: BTreeSet<String> = built.pods.keys().map(ToString::to_string).collect();
    let found = built.pods.keys().find(|pod| pod.to_string() == name);
    found.unwrap_or_else(|| panic!("{name} is none of {known:?}")).clone()
}

/// The address with this number in a network, by the beginnings of its addresses in both families.
fn address(family: IpFamily, (ipv4, ipv6): (&str, &str), at: u8) -> String {
    match family {
        IpFamily::Ipv4 => format!("{ipv4}.{at}"),
        IpFamily::Ipv6 => format!("{ipv6}::{at}"),
    }
}

fn node(name: &str, at: u8, families: &[IpFamily]) -> (String, NodeFacts) {
    let addresses = families.iter().map(|family| address(*family, ("10.0.0", "fd00"), at));
    let addresses = addresses.map(|address| address.parse().unwrap()).collect();
    (name.to_owned(), NodeFacts { name: format!("n{at}"), addresses, ..NodeFacts::default() })
}

fn pod(at: u8, families: &[IpFamily]) -> Pod {
    let network = ("10.244.0", "fd00:244");
    let all: Vec<Value> =
        families.iter().map(|family| json!({"ip": address(*family, network, at)})).collect();
    let status = json!({"podIP": all[0]["ip"], "podIPs": all});
    serde_json::from_value(json!({"metadata": {}, "status": status})).unwrap()
}

/// What the API server makes of a Service: an address of the family that it asks for, or else of
/// the first one.
fn entry(
    spec: &ClusterSpec,
    service: &PathService,
    at: u8,
    families: &[IpFamily],
) -> (String, ServiceEntry) {
    let family = service.family.unwrap_or(families[0]);
    let address = address(family, ("10.96.0", "fd00:96"), at);
    let ports = service.sidecars.iter().map(|(name, port)| (name.clone(), (*port, port + 14_000)));
    let program = service.program.as_ref().and_then(|program| spec.servers.get(program));
    let entry = ServiceEntry {
        address: Some(address.parse().unwrap()),
        port: program.map_or(7474, |program| program.port),
        node_port: 30_000,
        ports: ports.collect(),
        ..ServiceEntry::default()
    };
    (service.name.clone(), entry)
}
