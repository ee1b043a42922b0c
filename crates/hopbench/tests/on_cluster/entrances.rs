//! Ways into a real cluster from outside, through the binary: a load balancer's address, one that
//! somebody names, and a route at a Gateway.

use hopbench_kube::{Access, labels};
use hopbench_model::{MeteredCost, Proof, Record};
use hopbench_sys::clock;
use k8s_openapi::api::core::v1::Service;
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use serde_json::json;

use crate::ground::{ANY_THREE, assert_sound, ground};

/// An address of the nodes' network that nobody has: kube-proxy knows it for a load balancer's.
const BALANCER: &str = "10.199.0.50";
/// The address of the cluster's Gateway, and of the node that its Envoy is on.
const GATEWAY: &str = "10.199.0.226";
const ENVOY: &str = "10.199.0.13";
/// A node's address, and a port of all nodes.
const OUTSIDE: (&str, u16) = ("10.199.0.13", 30777);

/// Does what a cloud does for a Service, and what the owner of a cluster does who opens a port: for
/// the first run that asks for a load balancer within a minute.
fn open(access: &Access) {
    let until = clock::now() + 60_000_000_000;
    let all: Api<Service> = Api::all(access.client.clone());
    let ours = ListParams::default().labels(&labels::of_all());
    let balanced = loop {
        let found = access.ask("services", all.list(&ours)).unwrap().items;
        let is = |service: &Service| {
            service.spec.as_ref().unwrap().type_.as_deref() == Some("LoadBalancer")
        };
        if let Some(service) = found.into_iter().find(is) {
            break service;
        }
        assert!(clock::now() < until, "nobody asked for a load balancer");
        clock::sleep_until(clock::now() + 200_000_000);
    };
    let (namespace, name) = (balanced.metadata.namespace.unwrap(), balanced.metadata.name.unwrap());
    let services: Api<Service> = Api::namespaced(access.client.clone(), &namespace);
    let status = Patch::Merge(json!({"status": {"loadBalancer": {"ingress": [{"ip": BALANCER}]}}}));
    access
        .ask("an address", services.patch_status(&name, &PatchParams::default(), &status))
        .unwrap();
    let port: Service = serde_json::from_value(json!({
        "metadata": {"name": "outside"},
        "spec": {
            "type": "NodePort",
            "selector": {"hopbench.dev/pod": "pod-b"},
            "ports": [{"port": 7474, "targetPort": "agent", "nodePort": OUTSIDE.1}],
        },
    }))
    .unwrap();
    access.ask("a port", services.create(&PostParams::default(), &port)).unwrap();
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn load_balancers_and_addresses_of_others_lead_to_the_servers() {
    let Some(ground) = ground("entrances of a cluster") else { return };
    let (address, port) = OUTSIDE;
    let rest = format!(
        "rounds: 1\ntime: 1s\npaths:\n  balanced: pod@a -> pod@b via load-balancer\n  \
         outside: pod@a -> pod@b via address@{address}:{port}\n\
         workloads: {{rr: {{rr: {{}}}}, stream: {{stream: {{}}}}}}\n"
    );
    let access = ground.access();
    let opener = std::thread::spawn(move || open(&access));
    let records = ground.measured("entrances", ANY_THREE, &rest);
    opener.join().unwrap();
    assert_eq!(records.len(), 4);
    for record in &records {
        let what = format!("{} {}", record.path, record.workload);
        for proof in &record.proof {
            println!("{what}: {}: {}", proof.hop, proof.evidence);
        }
        assert_sound(record);
        let target = if record.path == "balanced" {
            format!("{BALANCER}:7474")
        } else {
            format!("{address}:{port}")
        };
        let led = |evidence: &str| evidence.ends_with(&format!("to {target}"));
        assert!(
            record.proof.iter().any(|proof| proof.hop == "client" && led(&proof.evidence)),
            "{what}: {target}"
        );
    }
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn both_families_are_measured_side_by_side() {
    let Some(ground) = ground("both families") else { return };
    let rest = "rounds: 1\ntime: 500ms\npaths:\n  four: {from: pod@a, to: pod@b, family: ipv4}\n  \
         six: {from: pod@a, to: pod@b, family: ipv6}\n  \
         service: {from: pod@a, to: pod@b, via: cluster-ip, family: ipv6}\n  \
         port: {from: host@a, to: pod@b, via: node-port@c, family: ipv6}\n\
         workloads: {ask: {rr: {}}, bulk: {stream: {}}, dgram: {udp: {rate: 1Mbit}}}\n";
    let records = ground.measured("families", ANY_THREE, rest);
    assert_eq!(records.len(), 12);
    for record in &records {
        assert_sound(record);
        let to = if record.path == "four" { "to 10.244." } else { "to [fd68:" };
        let went = |said: &str| said.contains(to);
        let client = record.proof.iter().filter(|proof| proof.hop == "client");
        let said: Vec<&str> = client.map(|proof| proof.evidence.as_str()).collect();
        assert!(said.iter().any(|said| went(said)), "{}: {said:?}", record.path);
    }
    // No end is on the node that `port` enters. Nothing waits for the agent there, so that the
    // first trial may do without.
    let facts = ground.run_file().testbed;
    assert_eq!(facts["pod pod@c/onlooker node"], facts["node c"]);
    let last = records.iter().rfind(|record| record.path == "port").unwrap();
    let onlooker = last.settings.get("onlooker pod@c/onlooker");
    assert_eq!(onlooker, None, "{:?}", last.settings);
    let is_entered = |cost: &MeteredCost| {
        (cost.who.as_str(), cost.what.as_str(), cost.source.as_str()) == ("c", "node", "agent")
    };
    // Where all nodes are one machine, an end has read it.
    let is_read = last.cost.metered.iter().any(is_entered);
    assert_eq!(is_read, !last.cost.one_machine, "{:#?}", last.cost.metered);
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_route_at_a_gateway_leads_to_the_servers_and_goes_with_the_run() {
    let Some(ground) = ground("a route at a Gateway") else { return };
    let testbed = format!("{ANY_THREE}, gateway: {{parent: projectcontour/contour}}");
    let rest = "rounds: 2\ntime: 1s\nbaseline: direct\npaths:\n  direct: pod@a -> pod@b\n  \
                routed: pod@a -> pod@b via gateway\n\
                workloads: {ask: {http: {rate: 200, connections: 4}}}\n";
    let records = ground.measured("routed", &testbed, rest);
    assert_eq!(records.len(), 6, "the baseline twice");
    records.iter().for_each(assert_sound);
    let routed: Vec<_> = records.iter().filter(|record| record.path == "routed").collect();
    assert_eq!(routed.len(), 2);
    for record in routed {
        let evidence = |hop: &str| -> Vec<&str> {
            let of_hop = record.proof.iter().filter(|proof| proof.hop == hop);
            of_hop.map(|proof| proof.evidence.as_str()).collect()
        };
        let [gateway] = evidence("gateway")[..] else { panic!("{:#?}", record.proof) };
        assert!(gateway.starts_with(&format!("Gateway projectcontour/contour ({GATEWAY}:80)")));
        assert!(gateway.ends_with("is Accepted"), "{gateway}");
        assert!(evidence("client").iter().any(|said| said.ends_with(&format!("to {GATEWAY}:80"))));
        // Its Envoy connects by itself, from the node that it is on.
        assert!(evidence("peer").iter().all(|said| said.contains(ENVOY)), "{:?}", evidence("peer"));
    }
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_gateway_is_not_entered_by_a_family_that_it_does_not_have() {
    let Some(ground) = ground("a family at a Gateway") else { return };
    let testbed = format!("{ANY_THREE}, gateway: {{parent: projectcontour/contour}}");
    let rest = "rounds: 1\ntime: 500ms\npaths:\n  \
                four: {from: pod@a, to: pod@b, via: gateway, family: ipv4}\n  \
                six: {from: pod@a, to: pod@b, via: gateway, family: ipv6}\n\
                workloads: {ask: {http: {rate: 200}}}\n";
    let records = ground.measured("family-at-gateway", &testbed, rest);
    let [record] = &records[..] else { panic!("{records:#?}") };
    assert_sound(record);
    assert_eq!(record.path, "four");
    let run = ground.run_file();
    let [skipped] = &run.skipped[..] else { panic!("{:?}", run.skipped) };
    assert_eq!(skipped.path, "six");
    let why = format!("has no IPv6 address in its status, which has {GATEWAY}");
    assert!(skipped.reason.contains(&why), "{}", skipped.reason);
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn sidecars_behind_a_gateway_count_what_came_through_it() {
    let test = "sidecars behind a Gateway";
    // The first of them has the Gateway's listener for bytes.
    let rest = "rounds: 1\ntime: 1s\npaths:\n  a-behind: pod@a -> pod@b via gateway mesh server\n  \
         b-alone: pod@a -> pod@b via gateway\nworkloads:\n  \
         ask: {http: {rate: 200, connections: 4}}\n  \
         call: {grpc: {rate: 200, connections: 2, streams: 2}}\n  bytes: {rr: {connections: 2}}\n";
    for mesh in ["{image: \"hopbench.test/envoy:1\"}", "{provider: istio}"] {
        let Some(ground) = ground(test) else { return };
        if !ground.has_envoy(test) {
            return;
        }
        let testbed =
            format!("{ANY_THREE}, gateway: {{parent: projectcontour/contour}}, mesh: {mesh}");
        let records = ground.measured("behind", &testbed, rest);
        assert_eq!(records.len(), 5, "{mesh}");
        for record in &records {
            assert_sound(record);
            let evidence = |hop: &str| -> Vec<&str> {
                let of_hop = record.proof.iter().filter(|proof| proof.hop == hop);
                of_hop.map(|proof| proof.evidence.as_str()).collect()
            };
            let [sidecar] = evidence("server-sidecar")[..] else { panic!("{:#?}", record.proof) };
            if record.path == "a-behind" {
                assert!(sidecar.ends_with("to the gateway"), "{mesh}: {sidecar}");
                assert!(evidence("peer").iter().all(|said| said.ends_with("its own sidecar")));
            } else {
                assert!(sidecar.starts_with("not on this path"), "{mesh}: {sidecar}");
            }
        }
    }
}

/// The only proof of this hop.
fn proof<'a>(record: &'a Record, hop: &str) -> &'a Proof {
    let of_hop: Vec<&Proof> = record.proof.iter().filter(|proof| proof.hop == hop).collect();
    let [proof] = of_hop[..] else { panic!("{}: {:#?}", record.workload, record.proof) };
    proof
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn each_protocol_enters_a_gateway_by_a_route_of_its_own() {
    let Some(ground) = ground("protocols at a Gateway") else { return };
    let testbed = format!("{ANY_THREE}, gateway: {{parent: projectcontour/contour}}");
    let rest = "rounds: 1\ntime: 1s\npaths:\n  in: pod@a -> pod@b via gateway\nworkloads:\n  \
         one: {http: {rate: 200, connections: 4}}\n  \
         two: {http: {rate: 200, connections: 2, streams: 2, http2: true}}\n  \
         call: {grpc: {rate: 200, connections: 2, streams: 2}}\n  \
         hidden: {http: {rate: 200, connections: 2, tls: true}}\n  \
         hidden-call: {grpc: {rate: 200, connections: 2, tls: true}}\n  \
         bytes: {rr: {connections: 2}}\n  \
         new: {crr: {}}\n  \
         safe: {stream: {tls: true}}\n";
    let records = ground.measured("protocols", &testbed, rest);
    assert_eq!(records.len(), 8);
    for record in &records {
        assert_sound(record);
        let (port, route) = match record.workload.as_str() {
            "one" => (80, "HTTPRoute path0-in"),
            "two" => (80, "HTTPRoute h2c-path0-in"),
            "call" => (80, "GRPCRoute grpc-path0-in"),
            "hidden" | "hidden-call" => (443, "TLSRoute tls-path0-in"),
            _ => (9000, "TCPRoute tcp-path0-in"),
        };
        let gateway = &proof(record, "gateway").evidence;
        let wanted = format!(
            "Gateway projectcontour/contour ({GATEWAY}:{port}) is Programmed; {route} is Accepted"
        );
        assert_eq!(*gateway, wanted, "{}", record.workload);
        let peer = &proof(record, "peer").evidence;
        assert!(peer.contains(ENVOY), "{}: {peer}", record.workload);
    }
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_gateway_of_a_class_listens_for_all_that_is_sent_and_another_has_one_listener_for_bytes() {
    let Some(ground) = ground("listeners of Gateways") else { return };
    let testbed = format!(
        "{ANY_THREE}, gateways: {{given: {{parent: projectcontour/contour}}, \
         made: {{class: contour-provisioned}}}}"
    );
    let rest = "rounds: 1\ntime: 1s\npaths:\n  given: pod@a -> pod@b via gateway@given\n  \
         made: pod@a -> pod@b via gateway@made\n  more: pod@a -> pod@b via gateway@given\n  \
         other: pod@c -> pod@b via gateway@made\nworkloads:\n  \
         call: {grpc: {rate: 200, connections: 2}}\n  bytes: {rr: {}}\n";
    let records = ground.measured("listeners", &testbed, rest);
    let mut ports: Vec<(&str, &str, bool)> = Vec::new();
    for record in &records {
        assert_sound(record);
        let gateway = &proof(record, "gateway").evidence;
        let is_second = gateway.contains(":9001)");
        assert!(is_second || gateway.contains(":80)") || gateway.contains(":9000)"), "{gateway}");
        ports.push((record.path.as_str(), record.workload.as_str(), is_second));
    }
    ports.sort_unstable();
    let wanted = [
        ("given", "bytes", false),
        ("given", "call", false),
        ("made", "bytes", false),
        ("made", "call", false),
        ("more", "call", false),
        ("other", "bytes", true),
        ("other", "call", false),
    ];
    assert_eq!(ports, wanted);
    let run = ground.run_file();
    let [skipped] = &run.skipped[..] else { panic!("{:?}", run.skipped) };
    assert_eq!((skipped.path.as_str(), skipped.workload.as_str()), ("more", "bytes"));
    assert!(skipped.reason.contains("a TCPRoute takes all of a listener"), "{}", skipped.reason);
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn gateways_that_are_there_and_those_of_a_class_are_compared_in_one_run() {
    let Some(ground) = ground("Gateways of a class") else { return };
    let testbed = format!(
        "{ANY_THREE}, gateways: {{given: {{parent: projectcontour/contour}}, made: {{class: \
         contour-provisioned}}, ruled: {{ingress: web}}}}"
    );
    let rest = "rounds: 1\ntime: 5s\nbaseline: direct\na-a: false\npaths:\n  \
                direct: pod@a -> pod@b\n  \
                given: pod@a -> pod@b via gateway@given\n  \
                far: pod@c -> pod@b via gateway@given\n  \
                made: pod@a -> pod@b via gateway@made\n  ruled: pod@a -> pod@b via gateway@ruled\n\
                workloads: {ask: {http: {rate: 200, connections: 4}}}\n";
    let records = ground.measured("made", &testbed, rest);
    let mut paths: Vec<&str> = records.iter().map(|record| record.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["direct", "far", "given", "made", "ruled"]);
    for record in &records {
        println!("{}: {:#?} {:?}", record.path, record.proof, record.cost.proxies);
        assert_sound(record);
        let evidence = |hop: &str| -> Vec<&str> {
            let of_hop = record.proof.iter().filter(|proof| proof.hop == hop);
            of_hop.map(|proof| proof.evidence.as_str()).collect()
        };
        match record.path.as_str() {
            "direct" => assert!(evidence("gateway").is_empty()),
            "ruled" => {
                let [gateway] = evidence("gateway")[..] else { panic!("{:#?}", record.proof) };
                assert!(gateway.starts_with("Ingress "), "{gateway}");
                assert!(gateway.ends_with(&format!("({GATEWAY}:80) of class web is there")));
                assert!(evidence("peer").iter().all(|said| said.contains(ENVOY)));
            }
            "made" => {
                let [gateway] = evidence("gateway")[..] else { panic!("{:#?}", record.proof) };
                for words in ["of class contour-provisioned is Programmed", "is Accepted"] {
                    assert!(gateway.contains(words), "{gateway}");
                }
                assert!(evidence("peer").iter().all(|said| said.ends_with("the gateway")));
                let [cost] = &record.cost.proxies[..] else { panic!("{:?}", record.cost.proxies) };
                assert_eq!((cost.name.as_str(), cost.named), ("gateway", true));
                for figure in ["cores", "memory_bytes"] {
                    let told = record.settings.get("proxy_gateway");
                    assert!(cost.figures.get(figure).is_some_and(|f| *f > 0.0), "{told:?}");
                }
            }
            _ => {
                let [gateway] = evidence("gateway")[..] else { panic!("{:#?}", record.proof) };
                assert!(gateway.starts_with("Gateway projectcontour/contour ("), "{gateway}");
                assert!(record.cost.proxies.is_empty(), "others may use it, too");
            }
        }
    }
}
