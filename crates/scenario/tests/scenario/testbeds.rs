//! Testbeds: what a scenario says of them, what the command line chooses, and what is taken over
//! from a lab.

mod bad;

use std::collections::BTreeMap;

use hopbench_model::{
    ClusterNode, ClusterSpec, GatewaySpec, HostsSpec, IpFamily, MeshProvider, PeerImage, Plan,
    PodNetwork, PrometheusSpec, SECOND, ServerImage, TestbedSpec, Via,
};
use hopbench_scenario::{ClusterOverrides, Overrides, SHIPPED, read_testbed};
use serde_json::json;

use crate::common::{CLUSTER, lines, on, plan, resolved, testbed, testbed_file, try_with};

fn prod() -> ClusterOverrides {
    ClusterOverrides { context: Some("prod".to_owned()), ..ClusterOverrides::default() }
}

fn cluster(spec: &TestbedSpec) -> &ClusterSpec {
    match spec {
        TestbedSpec::Kubernetes(cluster) => cluster,
        other => panic!("no cluster: {other:?}"),
    }
}

fn hosts(spec: &TestbedSpec) -> &HostsSpec {
    match spec {
        TestbedSpec::Hosts(hosts) => hosts,
        other => panic!("no hosts: {other:?}"),
    }
}

fn node(name: &str) -> ClusterNode {
    let (name, labels) = (name.to_owned(), BTreeMap::new());
    ClusterNode { name, node: None, labels, zone: None, link_bits_per_s: None }
}

fn in_zone(name: &str, zone: &str) -> ClusterNode {
    ClusterNode { zone: Some(zone.to_owned()), ..node(name) }
}

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn problems(text: &str, overrides: &Overrides) -> String {
    lines(&try_with(text, overrides).expect_err("nothing is wrong"))
}

#[test]
fn a_cluster_of_which_nothing_is_said() {
    for testbed in ["kubernetes", "{kubernetes: }", "{kubernetes: {}}"] {
        let plan = plan(&on(&format!(
            "testbed: {testbed}\npaths: {{p: pod@b -> bridge@a via node-port@c}}"
        )));
        let spec = cluster(&plan.testbed);
        assert_eq!(spec.image, format!("hopbench:{}", env!("CARGO_PKG_VERSION")));
        assert_eq!((spec.pull_policy.as_str(), spec.context.as_deref()), ("IfNotPresent", None));
        assert_eq!(spec.nodes, [node("a"), node("b"), node("c")]);
        assert_eq!(spec.runtimes, texts(&[("runsc", "gvisor")]));
        assert!(spec.networks.is_empty() && spec.servers.is_empty() && spec.patch.is_none());
        assert_eq!(spec.peers, None);
        assert_eq!(
            (spec.mesh.provider, spec.mesh.revision.as_deref()),
            (MeshProvider::Envoy, None)
        );
        assert!(spec.mesh.families.is_empty());
        assert!(spec.mesh.image.contains("envoy"), "{}", spec.mesh.image);
        assert!(spec.gateway.is_none() && spec.prometheus.is_none() && !spec.network_policy);
        assert_eq!(spec.start_timeout_ns, 120 * SECOND);
    }
}

#[test]
fn a_cluster_of_which_everything_is_said() {
    let text = on(&format!(
        "testbed:\n  kubernetes:{CLUSTER}paths: {{p: macvlan+kata@a -> eni@d, q: overlay@c -> \
         pod@b}}"
    ));
    let plan = plan(&text);
    let spec = cluster(&plan.testbed);
    assert_eq!(spec.context.as_deref(), Some("staging"));
    assert_eq!(
        (spec.image.as_str(), spec.pull_policy.as_str()),
        ("example.org/tools/hopbench:1", "Never")
    );
    let a = ClusterNode { node: Some("worker-1.example".to_owned()), ..node("a") };
    let b = ClusterNode {
        labels: texts(&[("pool", "fast"), ("example.org/numa", "1")]),
        ..in_zone("b", "z1")
    };
    assert_eq!(spec.nodes, [a, b, in_zone("c", "z2"), node("d")]);
    let overlay = PodNetwork { runtime_class: Some("overlay".to_owned()), ..PodNetwork::default() };
    let macvlan = PodNetwork {
        runtime_class: None,
        annotations: texts(&[
            ("k8s.v1.cni.cncf.io/networks", "[{\"name\": \"m\"}]"),
            ("example.org/on", "true"),
        ]),
        labels: texts(&[("app", "x")]),
        interface: Some("net1".to_owned()),
        patch: Some(json!({"spec": {"hostNetwork": false}})),
    };
    let named = |(name, network): (&str, PodNetwork)| (name.to_owned(), network);
    let networks =
        [("overlay", overlay), ("macvlan", macvlan), ("eni", PodNetwork::default())].map(named);
    assert_eq!(spec.networks, BTreeMap::from(networks));
    assert_eq!(spec.runtimes, texts(&[("runsc", "sandbox"), ("kata", "kata-qemu")]));
    let nginx = ServerImage {
        image: "nginx:1.28".to_owned(),
        port: 8080,
        cpu_millis: Some(500),
        args: vec!["-g".to_owned(), "1".to_owned()],
        request: Some("/bytes/{bytes}".to_owned()),
    };
    let own = ServerImage {
        image: "web".to_owned(),
        port: 80,
        cpu_millis: None,
        args: Vec::new(),
        request: None,
    };
    assert_eq!(
        spec.servers,
        BTreeMap::from([("nginx".to_owned(), nginx), ("own".to_owned(), own)])
    );
    assert_eq!(spec.peers, Some(PeerImage { image: "tools:1".to_owned() }));
    let patch = json!({
        "spec": {"tolerations": [{"key": "a", "operator": "Exists"}], "priority": 5, "name": "5"},
    });
    assert_eq!(spec.patch, Some(patch));
    assert_eq!(
        (spec.mesh.provider, spec.mesh.revision.as_deref()),
        (MeshProvider::Istio, Some("canary"))
    );
    assert_eq!(spec.mesh.families, IpFamily::ALL.into());
    let gateway = GatewaySpec {
        address: Some("gw.example:80".to_owned()),
        namespace: Some("ingress".to_owned()),
        labels: texts(&[("app", "gateway")]),
        ..GatewaySpec::default()
    };
    assert_eq!(spec.gateway, Some(gateway));
    let (namespace, name) = ("monitoring".to_owned(), "prometheus".to_owned());
    assert_eq!(spec.prometheus, Some(PrometheusSpec::Service { namespace, name, port: 9090 }));
    assert!(spec.network_policy);
    assert_eq!(spec.start_timeout_ns, 90 * SECOND);
}

#[test]
fn hosts_are_where_their_agents_are() {
    let block = "{nodes: {a: 10.0.0.1, 'b.example': '[::1]:7000', c: {control: worker-1, \
                 address: '10.1.0.1:7475', token-file: own}}, token-file: t}";
    let plan = plan(&on(&format!(
        "testbed: {{hosts: {block}}}\npaths: {{p: host@a -> host@b.example via address@x:80}}"
    )));
    let spec = hosts(&plan.testbed);
    let all: Vec<_> = spec
        .nodes
        .iter()
        .map(|h| (h.name.as_str(), h.control.as_str(), h.address.as_deref()))
        .collect();
    let expected = [
        ("a", "10.0.0.1", None),
        ("b.example", "[::1]:7000", None),
        ("c", "worker-1", Some("10.1.0.1:7475")),
    ];
    assert_eq!((all.as_slice(), spec.token_file.as_deref()), (&expected[..], Some("t")));
    let own: Vec<_> = spec.nodes.iter().map(|host| host.token_file.as_deref()).collect();
    assert_eq!(own, [None, None, Some("own")]);
    assert_eq!(plan.paths[0].via, Via::Address("x:80".to_owned()));
}

/// The first is the usual one, the command line's word counts more, and a file's block more than
/// the scenario's.
#[test]
fn of_several_testbeds_one_is_chosen() {
    let text =
        on("testbed: {kubernetes: {image: own}, lab: {nodes: 2}, hosts: {nodes: {a: x, b: y}}}\n\
                   paths: {p: host@a -> host@b}");
    let name = |overrides: &Overrides| resolved(&text, overrides).plan.testbed.name();
    assert_eq!(name(&Overrides::default()), "kubernetes");
    for chosen in ["lab", "kubernetes", "hosts"] {
        assert_eq!(name(&testbed(chosen)), chosen);
    }
    assert_eq!(cluster(&resolved(&text, &testbed("kubernetes")).plan.testbed).image, "own");
    let of_file = resolved(&text, &testbed_file("{kubernetes: {image: other}, lab: }"));
    assert_eq!(cluster(&of_file.plan.testbed).image, "other");
    assert_eq!(
        hosts(&resolved(&text, &testbed_file("hosts: {nodes: {a: z, b: y}}")).plan.testbed).nodes
            [0]
        .control,
        "z"
    );
    assert_eq!(name(&testbed_file("lab")), "lab");
    // Of a testbed of which the scenario says nothing.
    let none = on("paths: {p: host@a -> host@b}");
    assert_eq!(resolved(&none, &Overrides::default()).plan.testbed.name(), "lab");
    assert_eq!(
        cluster(&resolved(&none, &testbed("kubernetes")).plan.testbed).nodes,
        [node("a"), node("b")]
    );
    let said = problems(&none, &testbed("hosts"));
    assert_eq!(
        said,
        "--testbed: found `hosts`, expected a scenario that says the machines with their agents, \
         like testbed: {hosts: {nodes: {a: 10.0.0.1, b: 10.0.0.2}}}"
    );
    assert!(problems(&none, &testbed("kubernets")).ends_with("did you mean `kubernetes`?"));
}

#[test]
fn a_testbed_can_be_read_alone() {
    let file = |text: &str| testbed_file(text).testbed.expect("a file");
    let named = |name: &str| testbed(name).testbed.expect("a name");
    let alone = read_testbed(&file("kubernetes: {image: x, nodes: {b: , a: {zone: z1}}}"), &prod())
        .expect("a testbed");
    let spec = cluster(&alone);
    assert_eq!((spec.image.as_str(), spec.context.as_deref()), ("x", Some("prod")));
    assert_eq!(spec.nodes, [node("b"), in_zone("a", "z1")]);
    assert!(
        cluster(
            &read_testbed(&named("kubernetes"), &ClusterOverrides::default()).expect("a testbed")
        )
        .nodes
        .is_empty()
    );
    assert_eq!(
        read_testbed(&named("lab"), &ClusterOverrides::default()).expect("a testbed").name(),
        "lab"
    );
    let said = lines(
        &read_testbed(&file("kubernetes: {imag: x}"), &ClusterOverrides::default())
            .expect_err("a misspelt key"),
    );
    assert!(said.starts_with("bed.yaml:1:14: kubernetes.imag: found `imag`"), "{said}");
    assert!(
        lines(&read_testbed(&named("lab"), &prod()).expect_err("no context"))
            .starts_with("--context: ")
    );
}

#[test]
fn what_is_wrong_with_a_file_is_told_of_the_file() {
    let text = on("testbed: lab\npaths: {p: host@a -> host@b}\nrounds: 0");
    assert_eq!(
        problems(&text, &testbed_file("kubernetes:\n  imag: x\n")),
        "bed.yaml:2:3: kubernetes.imag: found `imag`, expected one of context, image, pull-policy, \
         pull-secret, nodes, networks, runtimes, servers, peers, patch, objects, mesh, gateway, \
         gateways, prometheus, network-policy, start-timeout, allow-commands; did you mean \
         `image`?\n\
         x.yaml:4:9: rounds: found `0`, expected 1 to 1000"
    );
    let text = on("paths: {p: host@a -> host@b}");
    assert_eq!(
        problems(&text, &testbed_file("name: x\n")),
        "bed.yaml:1:1: name: found `name`, expected one of lab, kubernetes, hosts"
    );
    // Of what testbed the scenario's words are is not known then.
    let text = on("paths: {p: pod@a -> pod@b via gateway}");
    assert_eq!(
        problems(&text, &testbed_file("testbed: {kubernetes: {image: x}}")),
        "bed.yaml:1:1: testbed: found `testbed`, expected the name of a testbed: a file begins \
         with `kubernetes:`, without `testbed:` above it"
    );
    assert_eq!(
        problems(&text, &testbed_file("image: x")),
        "bed.yaml:1:1: image: found `image`, expected the name of its testbed above it, like \
         kubernetes: {image: NAME}"
    );
    assert!(problems(&text, &testbed_file("")).starts_with("bed.yaml: found an empty file"));
    assert!(problems(&text, &testbed_file("a: {")).starts_with("bed.yaml:1:"));
}

#[test]
fn a_context_is_for_clusters() {
    let context = |testbed: &str, overrides: Overrides| {
        let text = on(&format!("testbed: {testbed}\npaths: {{p: host@a -> host@b}}"));
        try_with(&text, &Overrides { cluster: prod(), ..overrides })
    };
    let of = |resolved: Result<hopbench_scenario::Resolved, _>| {
        let resolved: Result<_, Vec<hopbench_scenario::ScenarioProblem>> = resolved;
        cluster(&resolved.expect("a plan").plan.testbed).context.clone()
    };
    assert_eq!(
        of(context("{kubernetes: {context: staging}}", Overrides::default())).as_deref(),
        Some("prod")
    );
    assert_eq!(of(context("lab", testbed("kubernetes"))).as_deref(), Some("prod"));
    let said = lines(&context("lab", Overrides::default()).expect_err("a lab has none"));
    assert_eq!(
        said,
        "--context: found `prod`, expected the testbed kubernetes, which has contexts"
    );
}

/// A namespace that the run makes cannot have a Secret that somebody made before.
#[test]
fn secrets_for_images_need_a_namespace_that_is_given() {
    let text = |block: &str| {
        on(&format!("testbed: {{lab: , kubernetes: {{{block}}}}}\npaths: {{p: host@a -> host@b}}"))
    };
    let given = |block: &str| {
        let namespace = Some("team".to_owned());
        let reached = ClusterOverrides { namespace, ..ClusterOverrides::default() };
        let overrides = Overrides { cluster: reached, ..testbed("kubernetes") };
        cluster(&resolved(&text(block), &overrides).plan.testbed).clone()
    };
    assert_eq!(given("pull-secret: registry").pull_secrets, ["registry"]);
    assert_eq!(given("pull-secret: [registry, mirror.b]").pull_secrets, ["registry", "mirror.b"]);
    assert!(given("").pull_secrets.is_empty());
    let block = "pull-secret: [registry, mirror]";
    let told = problems(&text(block), &testbed("kubernetes"));
    let start = "--namespace: found none, expected the namespace that has the Secret `registry` of";
    assert!(told.starts_with(start) && told.contains("give `--namespace NAME`"), "{told}");
    let file = testbed_file(&format!("kubernetes: {{{block}}}"));
    assert_eq!(problems(&text(""), &file), told);
    let alone = read_testbed(&file.testbed.expect("a file"), &ClusterOverrides::default());
    assert_eq!(lines(&alone.expect_err("no namespace")), told);
    assert_eq!(resolved(&text(block), &testbed("lab")).plan.testbed.name(), "lab");
}

#[test]
fn a_cluster_in_place_of_a_lab_has_its_nodes_and_zones() {
    let text = |lab: &str| on(&format!("testbed: {{lab: {{{lab}}}}}\nplaces: [host]"));
    let nodes = |lab: &str| {
        let resolved = resolved(&text(lab), &testbed("kubernetes"));
        (cluster(&resolved.plan.testbed).nodes.clone(), resolved.notes)
    };
    let none = Vec::<String>::new();
    assert_eq!(
        nodes("nodes: 3"),
        (vec![node("a"), node("b")], none.clone()),
        "those that paths name"
    );
    assert_eq!(
        nodes("nodes: [client, server]"),
        (vec![node("client"), node("server")], none.clone())
    );
    let zones = "nodes: {a: {zone: one}, b: {zone: two}, c: {zone: two}}";
    assert_eq!(nodes(zones), (vec![in_zone("a", "one"), in_zone("b", "two")], none.clone()));
    assert_eq!(
        nodes("nodes: {a: {zone: one}, b: }").0,
        [in_zone("a", "one"), in_zone("b", "zone")]
    );
    let shaped = nodes(
        "nodes: {a: {link: 1Gbit}, b: {zone: two}}, mtu: 9000, zone-link: 1Gbit, zone-delay: 2ms",
    );
    let note = "link, mtu, zone-link, zone-delay of the lab: not on the testbed kubernetes, whose \
                network is as it is";
    assert_eq!(shaped, (vec![in_zone("a", "zone"), in_zone("b", "two")], vec![note.to_owned()]));
    assert_eq!(
        resolved(&text("nodes: 2, link: 1Gbit"), &Overrides::default()).notes,
        none,
        "a lab keeps them"
    );
}

#[test]
fn what_a_cluster_says_of_a_node_counts_more_than_the_lab() {
    let lab = "nodes: {a: {zone: one}, b: {zone: one}, c: {zone: two}}";
    let says = "nodes: {a: {name: w1, link: 25Gbit}, b: {zone: z9}, c: {labels: {x: y}}, other: }";
    let text = on(&format!(
        "testbed: {{lab: {{{lab}}}, kubernetes: {{{says}}}}}\n\
         paths: {{p: pod@c -> pod@b via node-port@a, q: pod@a -> pod@d}}"
    ));
    // `d` is none of the lab's: on a cluster it is any other.
    let resolved = resolved(&text, &testbed("kubernetes"));
    let a = ClusterNode {
        node: Some("w1".to_owned()),
        link_bits_per_s: Some(25_000_000_000),
        ..node("a")
    };
    let c = ClusterNode { labels: texts(&[("x", "y")]), ..in_zone("c", "two") };
    assert_eq!(cluster(&resolved.plan.testbed).nodes, [a, in_zone("b", "z9"), c, node("d")]);
    assert_eq!(resolved.notes, ["node other of the testbed: no path names it"]);
}

#[test]
fn the_slowest_link_that_is_said_is_that_of_a_path() {
    let plan = plan(&on(
        "testbed: {kubernetes: {nodes: {a: {link: 25Gbit}, b: {link: 10Gbit}, c: {link: 1Gbit}}}}\n\
         paths: {both: pod@a -> pod@b, one: pod@d -> pod@a, same: pod@b -> pod@b,\
         third: pod@a -> pod@b via node-port@c, unsaid: pod@d -> pod@e}",
    ));
    let said = plan.paths.iter().map(|path| {
        let gbit = cluster(&plan.testbed).link_bits_per_s(path).map(|rate| rate / 1_000_000_000);
        (path.name.as_str(), gbit)
    });
    assert_eq!(
        said.collect::<Vec<_>>(),
        [
            ("both", Some(10)),
            ("one", Some(25)),
            ("same", None),
            ("third", Some(1)),
            ("unsaid", None)
        ]
    );
}

#[test]
fn each_node_of_a_set_has_a_pod() {
    let plan = plan(&on("paths:\n  spread: bridge@a -> bridge@[b, c] via cluster-ip\n  \
         many: {from: 'bridge@[a, b]', to: bridge@c, clients: 5}\n  \
         gates: bridge@a -> bridge@[b, c] via gateway@[d, e]\n  \
         five: {from: bridge@a, to: bridge@b, via: gateway@d, gateways: 5}"));
    let said = plan.paths.iter().map(|path| {
        let ends = format!("{} -> {} {}", path.from, path.to, path.way());
        (ends, path.clients, path.backends)
    });
    let expected = [
        ("bridge@a -> bridge@[b, c] cluster-ip", 1, 2),
        ("bridge@[a, b] -> bridge@c direct", 5, 1),
        ("bridge@a -> bridge@[b, c] gateway@[d, e] x 2", 1, 2),
        ("bridge@a -> bridge@b gateway@d x 5", 1, 1),
    ];
    assert_eq!(
        said.collect::<Vec<_>>(),
        expected.map(|(ends, clients, backends)| (ends.to_owned(), clients, backends))
    );
    assert_eq!(plan.testbed.nodes(), ["a", "b", "c", "d", "e"]);
}

#[test]
fn nodes_can_be_called_as_the_cluster_calls_them() {
    let long = "ip-10-0-0-1.eu-west-1.compute.internal";
    let plan = plan(&on(&format!(
        "testbed: kubernetes\npaths: {{p: pod@{long} -> pod@n1 via node-port@a-rather-long-name}}"
    )));
    let real = |name: &str| ClusterNode { node: Some(name.to_owned()), ..node(name) };
    assert_eq!(cluster(&plan.testbed).nodes, [real("a-rather-long-name"), real(long), node("n1")]);
}

#[test]
fn a_gateway_that_is_there_needs_no_node() {
    let text = |gateway: &str| {
        on(&format!(
            "testbed: {{kubernetes: {{{gateway}}}}}\n\
             paths: {{p: pod@a -> pod@b via gateway@c mesh server, q: pod@a -> pod@b via \
             gateway@c}}"
        ))
    };
    let own = plan(&text(""));
    assert_eq!(own.paths[0].via, Via::Gateway("c".to_owned()));
    assert_eq!(own.testbed.nodes(), ["a", "b", "c"]);
    let given =
        plan(&text("gateway: {address: '203.0.113.7:80'}").replace("gateway@c}", "gateway}"));
    for path in &given.paths {
        assert_eq!((path.via.clone(), path.variant.is_some()), (Via::Gateway(String::new()), true));
    }
    assert_eq!(given.paths[0].way(), "gateway, mesh server");
    assert_eq!(given.testbed.nodes(), ["a", "b"]);
    // Names are as elsewhere, so that runs on several testbeds can be laid side by side.
    let places = "places: {kinds: [pod], nodes: a -> b, via: gateway@c}";
    let named =
        plan(&on(&format!("testbed: {{kubernetes: {{gateway: {{address: 'x:80'}}}}}}\n{places}")));
    assert_eq!(named.paths[0].name, "pod-pod.gateway-c");
}

#[test]
fn paths_choose_among_several_gateways() {
    let gateways = "gateways: {public: {parent: infra/public}, own: {class: contour}}";
    let text = |via: &str| {
        on(&format!(
            "testbed: {{kubernetes: {{{gateways}}}}}\n\
             paths: {{p: pod@a -> pod@b via gateway@public, q: 'pod@a -> pod@b via {via}'}}"
        ))
    };
    let own = plan(&text("gateway@own"));
    let of = |plan: &Plan, at: usize| {
        let path = &plan.paths[at];
        (path.via.clone(), path.gateway_name.clone())
    };
    let named = |name: &str| (Via::Gateway(String::new()), Some(name.to_owned()));
    assert_eq!([of(&own, 0), of(&own, 1)], [named("public"), named("own")]);
    assert_eq!(own.testbed.nodes(), ["a", "b"]);
    let spec = cluster(&own.testbed);
    let class = spec.gateway_of(&own.paths[1]).and_then(|gateway| gateway.class.as_deref());
    assert_eq!(class, Some("contour"));
    // Any other name is a node's, with a gateway of our own.
    assert_eq!(of(&plan(&text("gateway@c")), 1), (Via::Gateway("c".to_owned()), None));
    let told = problems(&text("gateway@[own, c]"), &Overrides::default());
    assert!(told.contains("found gateway `own`, expected nodes in a set"), "{told}");
    let several = text("direct").replace(
        "q: 'pod@a -> pod@b via direct'",
        "q: {from: pod@a, to: pod@b, via: gateway@own, gateways: 2}",
    );
    let told = problems(&several, &Overrides::default());
    assert!(told.contains("expected via: gateway@NODE with it"), "{told}");
    let told = problems(&text("gateway"), &Overrides::default());
    assert!(told.contains("gateway@NODE, gateway@own, gateway@public, load-balancer"), "{told}");
}

#[test]
fn sidecars_and_runtimes_go_together_on_a_cluster() {
    let text = on(
        "testbed: {lab: , kubernetes: }\npaths: {p: bridge+runsc@a -> bridge+runsc@b mesh both}",
    );
    assert!(problems(&text, &Overrides::default()).contains("a pod without a runtime"));
    let plan = resolved(&text, &testbed("kubernetes")).plan;
    assert_eq!(plan.paths[0].to.runtime.as_deref(), Some("runsc"));
}

#[test]
fn servers_are_asked_as_the_testbed_says() {
    let request = |servers: &str, http: &str| {
        let text = format!(
            "name: x\ntestbed: {{kubernetes: {{servers: {{{servers}}}}}}}\n\
             paths: {{p: pod@a -> pod@b}}\n\
             workloads: {{w: {{http: {{{http}}}}}}}\n"
        );
        let server = plan(&text).points[0].server.clone();
        (server.program, server.request)
    };
    let owned = |program: &str, request: &str| (program.to_owned(), request.to_owned());
    let web = "web: {image: web, request: '/files/{bytes}?x'}, fixed: \
               {image: web, request: /index.html}, none: {image: x}";
    assert_eq!(request(web, "server: web, response: 2kB"), owned("web", "/files/2000?x"));
    assert_eq!(request(web, "server: web"), owned("web", "/"));
    assert_eq!(request(web, "server: web, path: /own"), owned("web", "/own"));
    assert_eq!(request(web, "server: fixed"), owned("fixed", "/index.html"));
    assert_eq!(request(web, "server: none"), owned("none", "/"));
    // What the testbed does not have it says itself, of each cell.
    assert_eq!(request(web, "server: nginx, response: 1KiB"), owned("nginx", "/bytes/1024"));
    assert_eq!(request(web, "response: 1KiB"), owned("hopbench", "/?size=1024"));
}

/// With only the testbed changed: the same paths, points and cells.
#[test]
fn every_shipped_scenario_has_the_same_cells_on_a_cluster() {
    // In a lab, a further subject has nodes of its own.
    let is_alike = |text: &str| !text.contains("subjects:");
    for scenario in SHIPPED.iter().filter(|scenario| is_alike(scenario.text)) {
        let lab = plan(scenario.text);
        let resolved = resolved(scenario.text, &testbed("kubernetes"));
        let on_cluster = resolved.plan;
        let spec = cluster(&on_cluster.testbed);
        let rest = |plan: &Plan| {
            let mut plan = plan.clone();
            if plan.budget_ns.is_some() {
                // Trials are longer where it takes longer to begin one.
                for point in &mut plan.points {
                    point.job.timing = lab.points[0].job.timing;
                    point.search.iter_mut().for_each(|search| search.short = None);
                }
            }
            let rounds = (plan.rounds, plan.budget_ns, plan.stop);
            (
                plan.name,
                plan.paths,
                plan.points,
                plan.cells,
                rounds,
                plan.baseline,
                plan.twin,
                plan.seed,
            )
        };
        assert_eq!(rest(&on_cluster), rest(&lab), "{}", scenario.name);
        let mut named: Vec<&str> = lab.paths.iter().flat_map(hopbench_model::Path::nodes).collect();
        named.sort_unstable();
        named.dedup();
        let mut nodes = on_cluster.testbed.nodes();
        nodes.sort_unstable();
        assert_eq!(nodes, named, "{}", scenario.name);
        let zones: Vec<_> = spec.nodes.iter().filter_map(|node| node.zone.as_deref()).collect();
        let links = scenario.text.contains("link");
        match scenario.name {
            "cni-matrix" => assert_eq!(zones, ["one", "one", "two"]),
            _ => assert!(zones.is_empty(), "{}: {zones:?}", scenario.name),
        }
        assert_eq!(!resolved.notes.is_empty(), links, "{}: {:?}", scenario.name, resolved.notes);
    }
}
