use std::collections::BTreeMap;

use hopbench_model::{
    GatewaySpec, IpFamily, MeshMode, ParentGateway, Pattern, Peer, PeerImage, PodNetwork,
    ServerImage, Transport, Variant, WorkloadKind,
};
use serde_json::json;

use super::*;
use crate::api::rights::RIGHTS;
use crate::plan::assign::assign;
use crate::plan::fixture::{path, plan, plan_on, point, spec};
use crate::plan::nodes::NodeFacts;
use crate::provision::gateway::Unmet;

fn discovery(nodes: &[&str]) -> Discovery {
    let node = |name: &&str| NodeFacts { name: (*name).to_owned(), ..NodeFacts::default() };
    let classes = BTreeMap::from([("gvisor".to_owned(), "runsc".to_owned())]);
    Discovery {
        version: String::new(),
        nodes: nodes.iter().map(node).collect(),
        has_nodes: true,
        runtime_classes: Some(classes),
    }
}

fn needs(spec: &ClusterSpec, paths: Vec<Path>, nodes: &[&str]) -> Vec<String> {
    let placement = placement(&plan(paths, vec![point("rr", "hopbench"), point("http", "nginx")]));
    let discovery = discovery(nodes);
    let assigned = assign(&spec.nodes, &placement.nodes(), &discovery.nodes);
    let told = missing(spec, &placement, &discovery, &assigned);
    told.into_iter()
        .map(|need| format!("{}: {}: {}", need.path.unwrap_or_default(), need.what, need.why))
        .collect()
}

#[test]
fn a_family_needs_nodes_that_have_it() {
    let by = |family, via: Via| Path { family, ..path("p", "pod@a", "pod@b", via) };
    let told = |addresses: &[&str], path: Path| {
        let placement = placement(&plan(vec![path], vec![point("rr", "hopbench")]));
        let mut discovery = discovery(&["n1", "n2"]);
        for node in &mut discovery.nodes {
            node.addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        }
        let assigned = assign(&spec().nodes, &placement.nodes(), &discovery.nodes);
        let told = missing(&spec(), &placement, &discovery, &assigned);
        told.into_iter().map(|need| need.why).collect::<Vec<_>>()
    };
    let ipv6 = Some(IpFamily::Ipv6);
    assert_eq!(
        told(&["10.0.0.1"], by(ipv6, Via::ClusterIp)),
        ["node a (n1) has no IPv6 address", "node b (n2) has no IPv6 address"]
    );
    assert!(told(&["10.0.0.1", "fd00::1"], by(ipv6, Via::ClusterIp)).is_empty());
    assert!(told(&["10.0.0.1"], by(None, Via::ClusterIp)).is_empty());
    assert!(told(&[], by(ipv6, Via::ClusterIp)).is_empty());
    // So do paths through proxies of hopbench's own.
    let proxied = |via: Via| Path {
        mesh: MeshMode::Server,
        variant: Some(Variant::plain()),
        ..by(ipv6, via)
    };
    for via in [Via::Direct, Via::NodePort("a".into()), Via::Gateway("a".into())] {
        assert!(told(&["10.0.0.1", "fd00::1"], proxied(via.clone())).is_empty());
        assert_eq!(told(&["10.0.0.1"], proxied(via)).len(), 2);
    }
}

#[test]
fn only_the_paths_concerned_are_told() {
    let mut spec = spec();
    let overlay = PodNetwork { runtime_class: Some("overlay".into()), ..PodNetwork::default() };
    spec.networks.insert("overlay".into(), overlay);
    let proxied = path("proxied", "pod@a", "pod@b", Via::Gateway("b".into()));
    let told = needs(
        &spec,
        vec![
            path("fine", "pod@a", "pod+runsc@b", Via::ClusterIp),
            path("far", "pod@a", "pod@b", Via::NodePort("c".into())),
            path("kind", "eni@a", "eni@b", Via::Direct),
            path("class", "overlay@a", "pod+kata@b", Via::Direct),
            proxied,
        ],
        &["n1", "n2"],
    );
    let starts = [
        "class: RuntimeClass kata: pod+kata@b: the cluster has gvisor",
        "class: RuntimeClass overlay: overlay@a: the cluster has gvisor",
        "far: node c: found no node that pods may be put on beside those for a, b; the cluster has \
         n1, n2",
        "kind: network eni: eni@a: nothing says what `eni` is on the cluster",
        "proxied: a variant: nothing says how the proxies are set up",
    ];
    let mut told = told;
    told.sort();
    assert_eq!(told.len(), starts.len(), "{told:#?}");
    for (told, start) in told.iter().zip(starts) {
        assert!(told.starts_with(start), "{told}\n{start}");
    }
}

/// Who plans without the cluster is told as much as is known.
#[test]
fn what_no_cluster_has_to_be_asked_about_is_told_without_it() {
    let mut spec = spec();
    spec.mesh.provider = MeshProvider::Istio;
    let with = |name: &str, variant: Variant, via: Via| Path {
        mesh: MeshMode::Server,
        variant: Some(variant),
        ..path(name, "pod@a", "pod@b", via)
    };
    let no_tls = Variant { name: "off".into(), mtls: false, ..Variant::plain() };
    let workers = Variant { concurrency: 4, ..Variant::plain() };
    let paths = vec![
        with("set", no_tls, Via::Direct),
        with("workers", workers, Via::Direct),
        with("own", Variant::plain(), Via::Gateway("c".into())),
        path("kind", "eni@a", "eni@b", Via::Direct),
        // What the cluster has decides.
        path("class", "pod@a", "pod+kata@b", Via::Direct),
    ];
    let plan = plan_on(&spec, paths, vec![point("rr", "hopbench")]);
    let told = without_cluster(&spec, &plan);
    let told: Vec<_> =
        told.iter().map(|need| (need.path.as_deref().unwrap(), need.why.as_str())).collect();
    let expected = [
        ("kind", "eni@a: nothing says what `eni` is on the cluster, which has host, pod, bridge"),
        ("own", "a gateway of hopbench's own is no part of istio"),
        ("set", "variant off: how the proxies of istio are set up is its control plane's"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_right_that_is_missing_stops_only_who_needs_it() {
    let mut proxied = path("proxied", "pod@a", "pod@b", Via::Direct);
    proxied.mesh = MeshMode::Both;
    proxied.variant = Some(Variant::plain());
    let paths = vec![
        path("plain", "pod@a", "pod@b", Via::ClusterIp),
        path("sandboxed", "pod@a", "pod+runsc@b", Via::Direct),
        proxied,
        path("given", "pod@a", "pod@b", Via::Gateway(String::new())),
    ];
    let plan = plan(paths, vec![point("rr", "hopbench"), point("http", "hopbench")]);
    let placement = placement(&plan);
    let discovery = discovery(&["n1", "n2"]);
    let told = |spec: &ClusterSpec, lacks: &dyn Fn(&Right) -> bool| -> Vec<String> {
        let lacking = RIGHTS.iter().filter(|right| lacks(right));
        let lacking = lacking.flat_map(|right| right.verbs.iter().map(move |verb| (right, *verb)));
        let lacking: Vec<_> = lacking.collect();
        let demand = gateways::demand(spec, &plan, |_, _| true);
        let needs = of_rights(spec, &placement, &discovery, &demand, &lacking);
        needs
            .into_iter()
            .map(|need| format!("{}: {}", need.path.unwrap_or_default(), need.why))
            .collect()
    };
    let mut spec = spec();
    let optional = |right: &Right| !right.only_for.is_empty();
    let of_paths = [
        "proxied: this user may not patch secrets (for sidecars of hopbench's own)",
        "sandboxed: this user may not create pods/exec, get pods/exec (for agents in gVisor, Kata \
         and the like, and for `peer` beside a workload)",
    ];
    assert_eq!(told(&spec, &optional), of_paths);
    assert_eq!(told(&spec, &|_| false), [""; 0]);
    let core = told(&spec, &|right| right.resource == "secrets");
    assert_eq!(core, [": this user may not create secrets", of_paths[0]]);
    let of_class = GatewaySpec { class: Some("c".into()), ..GatewaySpec::default() };
    spec.gateway = Some(GatewaySpec { parent: Some(parent()), ..GatewaySpec::default() });
    let routes = "get gateways (for `gateway: {parent: ...}` and `gateway: {class: ...}`)";
    let gateways = |right: &Right| right.resource == "gateways";
    assert_eq!(told(&spec, &gateways), [format!("given: this user may not {routes}")]);
    spec.gateway = Some(of_class);
    let both = routes.replacen("get gateways", "get gateways, create gateways", 1);
    assert_eq!(told(&spec, &gateways), [format!("given: this user may not {both}")]);
    // Each kind of route is needed for its own traffic.
    for (resource, feature) in [
        ("httproutes", "`gateway: {parent: ...}` and `gateway: {class: ...}`"),
        ("tcproutes", "bytes through a Gateway"),
    ] {
        let why = format!("create {resource}, get {resource} (for {feature})");
        let told = told(&spec, &|right| right.resource == resource);
        assert_eq!(told, [format!("given: this user may not {why}")]);
    }
    assert_eq!(told(&spec, &|right| right.resource == "grpcroutes"), [""; 0]);
    let of_ingress = GatewaySpec { ingress: Some("c".into()), ..GatewaySpec::default() };
    spec.gateway = Some(of_ingress);
    assert_eq!(told(&spec, &gateways), [""; 0]);
    let ingresses =
        "given: this user may not create ingresses, get ingresses (for `gateway: {ingress: ...}`)";
    assert_eq!(told(&spec, &|right| right.resource == "ingresses"), [ingresses]);
    spec.gateway = None;
    spec.network_policy = true;
    let whole = ": this user may not create networkpolicies (for `network-policy: true`)";
    assert_eq!(told(&spec, &optional), [&[whole][..], &of_paths].concat());
}

#[test]
fn fewer_nodes_are_advised_only_where_there_are_too_few() {
    let mut spec = spec();
    let remedies = |spec: &ClusterSpec, to: &str, nodes: &[&str]| -> Vec<String> {
        let placement = placement(&plan(
            vec![path("p", "pod@a", to, Via::Direct)],
            vec![point("rr", "hopbench")],
        ));
        let discovery = discovery(nodes);
        let assigned = assign(&spec.nodes, &placement.nodes(), &discovery.nodes);
        missing(spec, &placement, &discovery, &assigned)
            .into_iter()
            .map(|need| need.remedy)
            .collect()
    };
    assert_eq!(
        remedies(&spec, "pod@b", &["n1"]),
        ["use fewer nodes, or say others under `nodes:`"]
    );
    spec.nodes[1].node = Some("gone".to_owned());
    assert_eq!(remedies(&spec, "pod@b", &["n1", "n2"]), ["say another under `nodes:`"]);
}

#[test]
fn a_patch_that_fits_no_pod_is_told_before_anything_is_made() {
    let mut spec = spec();
    spec.patch =
        Some(json!({"spec": {"containers": [{"name": "agent", "resource": {}, "imag": "x"}]}}));
    let told = needs(&spec, vec![path("p", "pod@a", "pod@b", Via::Direct)], &["n1", "n2"]);
    assert_eq!(told.len(), 1);
    assert!(
        told[0].starts_with(": a patch that fits: a Pod has no field `spec.containers[0].imag`"),
        "{told:?}"
    );
}

#[test]
fn cells_that_cannot_be_measured_say_why() {
    let mut spec = spec();
    let cell = |program: &str, workload: &str, via: Via, engine| {
        let mut point = point(workload, program);
        point.job.engine = engine;
        (path("p", "pod@a", "pod+runsc@b", via), point)
    };
    let why = |spec: &ClusterSpec, (path, point): (Path, Point)| {
        unsupported(spec, &path, &point).unwrap_or_default()
    };
    let epoll = EngineKind::Epoll;
    assert_eq!(why(&spec, cell("hopbench", "rr", Via::ClusterIp, epoll)), "");
    assert!(
        why(&spec, cell("hopbench", "ping", Via::ClusterIp, epoll))
            .starts_with("ICMP has no ports")
    );
    assert!(why(&spec, cell("nginx", "http", Via::Direct, epoll)).contains("give its image under"));
    let image = "nginx:1".to_owned();
    let nginx = ServerImage { image, port: 80, cpu_millis: None, args: vec![], request: None };
    spec.servers.insert("nginx".into(), nginx);
    assert_eq!(why(&spec, cell("nginx", "http", Via::Direct, epoll)), "");
    assert_eq!(
        why(&spec, cell("hopbench", "rr", Via::Direct, EngineKind::Uring)),
        "gVisor has no io_uring"
    );
}

#[test]
fn a_tool_needs_an_image_and_the_right_to_start_it() {
    let mut spec = spec();
    let ours = point("ping", "hopbench");
    let peer = Some(Peer { tool: "ping".into(), of: "w".into() });
    let theirs = Point { peer, ..ours.clone() };
    let why = |spec: &ClusterSpec| {
        unsupported(spec, &path("p", "pod@a", "pod@b", Via::Direct), &theirs).unwrap_or_default()
    };
    assert!(
        why(&spec).starts_with("nothing says where `ping` is on the cluster"),
        "{}",
        why(&spec)
    );
    spec.peers = Some(PeerImage { image: "tools:1".into() });
    assert_eq!(why(&spec), "");
    assert_eq!(forbidden(&ours), None);
    assert!(
        forbidden(&theirs).unwrap().starts_with("this user may not create pods/exec, by which")
    );
}

fn parent() -> ParentGateway {
    ParentGateway { namespace: "infra".into(), name: "public".into() }
}

/// A path into the gateway of this name; empty: the only one.
fn into(name: &str, gateway: &str) -> Path {
    let gateway_name = (!gateway.is_empty()).then(|| gateway.to_owned());
    Path { gateway_name, ..path(name, "pod@a", "pod@b", Via::Gateway(String::new())) }
}

#[test]
fn each_gateway_is_asked_about_once_and_stops_only_its_own_paths() {
    let mut spec = spec();
    spec.gateway = Some(GatewaySpec { parent: Some(parent()), ..GatewaySpec::default() });
    let of_class =
        |class: &str| GatewaySpec { class: Some(class.into()), ..GatewaySpec::default() };
    spec.gateways = BTreeMap::from([
        ("same".to_owned(), GatewaySpec { parent: Some(parent()), ..GatewaySpec::default() }),
        ("one".to_owned(), of_class("c")),
        ("other".to_owned(), of_class("c")),
        (
            "at".to_owned(),
            GatewaySpec { address: Some("203.0.113.7:80".into()), ..GatewaySpec::default() },
        ),
    ]);
    let names = [("a", ""), ("b", "same"), ("c", "one"), ("d", "other"), ("e", "at"), ("f", "one")];
    let paths = names.map(|(name, gateway)| into(name, gateway)).into();
    let plan = plan(paths, vec![point("http", "hopbench"), point("rr", "hopbench")]);
    let placement = placement(&plan);
    let demand = gateways::demand(&spec, &plan, |_, _| true);
    let mut asked = Vec::new();
    let run = RunIdentity {
        name: "k2v9xq1bzr".into(),
        namespace: "run".into(),
        is_guest: false,
        owner: "uid".into(),
    };
    let closed = Closed::of(&spec, &placement, &demand, |routing, wanted| {
        let Routing::Route(gateway) = routing else { panic!("{routing:?}") };
        let place = gateway.place(&run).to_string();
        let sent: Vec<Traffic> = wanted.iter().map(|(traffic, _)| *traffic).collect();
        asked.push(format!("{place} {sent:?}"));
        match place.as_str() {
            "run/gateway-one" => Err(Unmet {
                why: "there is no such class".to_owned(),
                remedy: "another".to_owned(),
            }),
            // The second of its paths finds no listener for bytes.
            "infra/public" => Ok(vec![None, None, None, Some("no more".to_owned())]),
            _ => Ok(vec![None; wanted.len()]),
        }
    });
    assert_eq!(
        asked,
        [
            "infra/public [Http, Tcp, Http, Tcp]",
            "run/gateway-one [Http, Tcp, Http, Tcp]",
            "run/gateway-other [Http, Tcp]"
        ]
    );
    let needs = closed.paths;
    assert!(needs.iter().all(|need| need.remedy == "another"), "{needs:?}");
    let told: Vec<_> = needs.into_iter().map(|need| need.path.unwrap()).collect();
    assert_eq!(told, ["c", "f"]);
    let cell = (("b".to_owned(), Traffic::Tcp), "no more".to_owned());
    assert_eq!(closed.cells, BTreeMap::from([cell]));
}

#[test]
fn a_route_takes_what_names_its_host_or_has_a_listener_for_itself() {
    let at = |gateway: GatewaySpec, workload: &str, params: Value| {
        let mut spec = spec();
        spec.gateway = Some(gateway);
        unsupported(&spec, &into("in", ""), &asking(workload, params)).unwrap_or_default()
    };
    let parent = || GatewaySpec { parent: Some(parent()), ..GatewaySpec::default() };
    let why = |workload: &str, params: Value| at(parent(), workload, params);
    assert_eq!(why("http", json!({"headers": ["X-Host: a"]})), "");
    let host = || json!({"headers": ["HOST: a"]});
    assert!(why("http", host()).starts_with("found `Host` among its headers"));
    // Nobody reads it in TLS, which has a name of its own.
    let mut hidden = host();
    hidden["tls"] = true.into();
    assert_eq!(why("http", hidden.clone()), "");
    hidden["tls_name"] = "a.example".into();
    assert!(why("http", hidden).starts_with("found `tls-name`"));
    for (workload, params) in [
        ("http", json!({"http2": true})),
        ("grpc", json!({"http2": true})),
        ("grpc", json!({"http2": true, "tls": true})),
        ("rr", json!({})),
        ("stream", json!({"tls": true})),
    ] {
        assert_eq!(why(workload, params.clone()), "", "{workload} {params}");
        let ingress = GatewaySpec { ingress: Some("c".into()), ..GatewaySpec::default() };
        let why = at(ingress, workload, params.clone());
        assert!(why.starts_with("an Ingress takes HTTP/1.1 only"), "{workload} {params}: {why}");
        let address = Some("203.0.113.7:80".to_owned());
        let why = at(GatewaySpec { address, ..GatewaySpec::default() }, workload, params.clone());
        let is_told = params["http2"] == true && params["tls"] != true;
        assert_eq!(why.starts_with("nothing says whether the gateway at 203.0"), is_told, "{why}");
    }
    assert!(why("rr", json!({"udp": true})).starts_with("a gateway takes TCP only"));
}

/// A point of a workload with these parameters, with the kind that its jobs carry.
fn asking(workload: &str, params: Value) -> Point {
    let kind = WorkloadKind {
        transport: Transport::Http,
        pattern: Pattern::Exchanges,
        ..WorkloadKind::PLAIN
    };
    let mut point = point(workload, "hopbench");
    point.job.kind = (workload == "grpc").then_some(kind);
    point.job.params = params.into();
    point
}

/// The protocols of `mesh-protocols`, with sidecars of a mesh of the cluster and behind its
/// gateway.
#[test]
fn every_protocol_passes_a_mesh_and_a_gateway_of_the_cluster() {
    let params = |tls: bool, http2: bool| json!({"tls": tls, "http2": http2});
    for provider in [MeshProvider::Envoy, MeshProvider::Istio, MeshProvider::Linkerd] {
        let mut spec = spec();
        spec.mesh.provider = provider;
        spec.gateway = Some(GatewaySpec { class: Some("c".into()), ..GatewaySpec::default() });
        for (workload, http2) in [("http", false), ("http", true), ("grpc", true)] {
            for tls in [false, true] {
                let point = asking(workload, params(tls, http2));
                for (mode, via) in [
                    (MeshMode::Server, Via::Direct),
                    (MeshMode::Both, Via::ClusterIp),
                    (MeshMode::Server, Via::Gateway(String::new())),
                ] {
                    let variant = Some(Variant::plain());
                    let path = Path { mesh: mode, variant, ..path("p", "pod@a", "pod@b", via) };
                    assert_eq!(unsupported(&spec, &path, &point), None, "{provider:?} {workload}");
                }
            }
        }
    }
}
