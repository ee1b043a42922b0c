//! Meshes on a real cluster, through the binary: every way and mode takes the proxies that it
//! names, and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use hopbench_model::{Record, RunFile};
use serde_json::{Value, json};

use crate::ground::{ANY_THREE, assert_sound, ground};

/// The records of a run of this scenario's paths and workloads, and what it says of itself; `None`:
/// there is no cluster or no Envoy on it, which is said.
fn measured(test: &str, mesh: &str, rest: &str) -> Option<(Vec<Record>, RunFile)> {
    let ground = ground(test)?;
    if !ground.has_envoy(test) {
        return None;
    }
    let testbed = format!("{ANY_THREE}, mesh: {mesh}");
    let records = ground.measured(test, &testbed, &format!("rounds: 1\ntime: 500ms\n{rest}"));
    let run = ground.run_file();
    Some((records, run))
}

/// The proxies of which the evidence says that they took the traffic.
fn taking(record: &Record) -> BTreeSet<&str> {
    let moved = record.proof.iter().filter(|proof| {
        let evidence = &proof.evidence;
        let still = ["not on this path", "no proxy is on this path", "bypasses proxy"];
        !still.iter().any(|words| evidence.starts_with(words))
    });
    let names = ["client-sidecar", "gateway", "server-sidecar", "policy", "telemetry"];
    let found = moved.filter_map(|proof| {
        names.into_iter().find(|name| proof.hop.split('#').next() == Some(name))
    });
    found.collect()
}

/// Every trial was proved and is sound, and those proxies took its traffic that its path and
/// variant name.
fn assert_all(records: &[Record], wanted: &BTreeMap<&str, &[&str]>, each: usize) {
    assert_eq!(records.len(), wanted.len() * each);
    for record in records {
        assert_sound(record);
        let what = format!("{} {}", record.path, record.workload);
        let named: BTreeSet<&str> = wanted[record.path.as_str()].iter().copied().collect();
        let named = if record.workload == "udp" { BTreeSet::new() } else { named };
        assert_eq!(taking(record), named, "{what}: {:#?}", record.proof);
    }
}

const ENVOY: &str = "{provider: envoy, image: \"hopbench.test/envoy:1\"}";
const CLIENT: &[&str] = &["client-sidecar"];
const SERVER: &[&str] = &["server-sidecar"];
const BOTH: &[&str] = &["client-sidecar", "server-sidecar"];

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn every_way_and_mode_passes_the_sidecars_that_it_names() {
    let ways = [("direct", ""), ("svc", " via cluster-ip"), ("np", " via node-port@c")];
    let modes: [(&str, &[&str]); 4] =
        [("none", &[]), ("client", CLIENT), ("server", SERVER), ("both", BOTH)];
    let mut wanted: Vec<(String, String, &[&str])> = Vec::new();
    for (way, via) in ways {
        for (mode, proxies) in modes {
            wanted.push((
                format!("{way}-{mode}"),
                format!("pod@a -> pod@b{via} mesh {mode}"),
                proxies,
            ));
        }
    }
    wanted.push(("gw".into(), "pod@a -> pod@b via gateway@c".into(), &["gateway"]));
    wanted.push((
        "gw-server".into(),
        "pod@a -> pod@b via gateway@c mesh server".into(),
        &["gateway", "server-sidecar"],
    ));
    wanted.push(("to-host".into(), "pod@a -> host@b mesh client".into(), CLIENT));
    let gateways = "{from: pod@a, to: pod@b, via: gateway@c, gateways: 2, mesh: server}";
    wanted.push(("gw-2".into(), gateways.into(), &["gateway", "server-sidecar"]));
    let set = "pod@a -> pod@[b, c] via cluster-ip mesh server";
    wanted.push(("set".into(), set.into(), SERVER));
    let paths: String =
        wanted.iter().map(|(name, path, _)| format!("  {name}: {path}\n")).collect();
    let rest = format!(
        "paths:\n{paths}workloads: {{rr: {{rr: {{}}}}, stream: {{stream: {{connections: 2}}}}, \
         http: {{http: {{connections: 2}}}}, grpc: {{grpc: {{connections: 2}}}}}}\n"
    );
    let Some((records, _)) = measured("ways-and-modes", ENVOY, &rest) else { return };
    let wanted = wanted.iter().map(|(name, _, proxies)| (name.as_str(), *proxies)).collect();
    assert_all(&records, &wanted, 4);
    for record in records.iter().filter(|record| record.path == "set") {
        let servers = record.cost.members.iter().filter(|member| member.role == "server");
        let nodes: BTreeSet<&str> = servers.map(|server| server.node.as_str()).collect();
        assert_eq!(nodes, ["b", "c"].into(), "{}: {:#?}", record.workload, record.cost.members);
    }
}

/// The same pods carry the paths of both families.
#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn sidecars_and_gateways_carry_ipv6() {
    let six = |rest: &str| format!("{{from: pod@a, to: pod@b, family: ipv6, {rest}}}");
    let gateways: &[&str] = &["gateway", "server-sidecar"];
    // The beginning of the address that the clients connect to.
    let (own, pods, services, nodes) = ("[::1]:18", "[fd68:244:", "[fd68:96:", "[fd68:199:");
    let wanted: [(&str, String, &[&str], &str); 10] = [
        ("four", "pod@a -> pod@b mesh both".into(), BOTH, "127.0.0.1:18"),
        ("six", six("mesh: both"), BOTH, own),
        ("client", six("mesh: client"), CLIENT, own),
        ("server", six("mesh: server"), SERVER, pods),
        ("svc", six("via: cluster-ip, mesh: both"), BOTH, own),
        ("svc-server", six("via: cluster-ip, mesh: server"), SERVER, services),
        ("np", six("via: node-port@c, mesh: server"), SERVER, nodes),
        ("gw", six("via: gateway@c"), &["gateway"], pods),
        ("gw-2", six("via: gateway@c, gateways: 2, mesh: server"), gateways, services),
        ("to-host", six("mesh: client").replace("pod@b", "host@b"), CLIENT, own),
    ];
    let paths: String =
        wanted.iter().map(|(name, path, ..)| format!("  {name}: {path}\n")).collect();
    let rest = format!(
        "paths:\n{paths}workloads: {{rr: {{rr: {{}}}}, stream: {{stream: {{}}}}, \
         http: {{http: {{connections: 2}}}}}}\n"
    );
    let Some((records, _)) = measured("mesh-by-ipv6", ENVOY, &rest) else { return };
    let proxies = wanted.iter().map(|(name, _, proxies, _)| (*name, *proxies)).collect();
    assert_all(&records, &proxies, 3);
    for record in &records {
        let what = format!("{} {}", record.path, record.workload);
        let evidence = |hop: &str| -> Vec<&str> {
            let of_hop = record.proof.iter().filter(|proof| proof.hop == hop);
            of_hop.map(|proof| proof.evidence.as_str()).collect()
        };
        let (.., to) = wanted.iter().find(|(name, ..)| *name == record.path).unwrap();
        let led = evidence("client").iter().any(|said| said.contains(&format!("to {to}")));
        assert!(led, "{what}: {:?}", evidence("client"));
        let is_ipv6 = record.path != "four";
        let placed = evidence("server");
        assert!(placed.iter().any(|said| said.contains("fd68:") == is_ipv6), "{what}: {placed:?}");
        // A sidecar speaks to its own pod by IPv4.
        let is_behind = record.path == "four" || taking(record).contains("server-sidecar");
        let [peer] = evidence("peer")[..] else { panic!("{what}: {:#?}", record.proof) };
        let seen = if is_behind { "127.0.0.1" } else { "fd68:" };
        assert!(peer.starts_with(&format!("the server saw {seen}")), "{what}: {peer}");
    }
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn services_that_proxies_ask_are_asked_on_paths_by_ipv6() {
    let rest = "mesh: {variants: [policy-check, policy-report]}\n\
                paths: {six: {from: pod@a, to: pod@b, family: ipv6, mesh: both}}\n\
                workloads: {rr: {rr: {}}, http: {http: {connections: 2}}}\n";
    let Some((records, _)) = measured("asked-by-ipv6", ENVOY, rest) else { return };
    let checked: &[&str] = &["client-sidecar", "server-sidecar", "policy"];
    let told: &[&str] = &["client-sidecar", "server-sidecar", "telemetry"];
    assert_all(&records, &[("six.policy-check", checked), ("six.policy-report", told)].into(), 2);
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn every_variant_works_and_asks_whom_it_names() {
    let rest = "mesh: {variants: [plain, stats, access-log, policy-check, policy-report, no-mtls, \
                http2]}\n\
                paths: {both: pod@a -> pod@b mesh both}\n\
                workloads: {rr: {rr: {}}, http: {http: {connections: 2}}}\n";
    let Some((records, _)) = measured("variants", ENVOY, rest) else { return };
    let checked: &[&str] = &["client-sidecar", "server-sidecar", "policy"];
    let told: &[&str] = &["client-sidecar", "server-sidecar", "telemetry"];
    let wanted: [(&str, &[&str]); 7] = [
        ("both.plain", BOTH),
        ("both.stats", BOTH),
        ("both.access-log", BOTH),
        ("both.policy-check", checked),
        ("both.policy-report", told),
        ("both.no-mtls", BOTH),
        ("both.http2", BOTH),
    ];
    assert_all(&records, &wanted.into(), 2);
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn sidecars_work_in_sandboxes_and_datagrams_pass_by_them() {
    if ground("sandboxes").is_none_or(|ground| !ground.has_gvisor("sandboxes")) {
        return;
    }
    let rest = "paths: {gvisor: pod+runsc@a -> pod+runsc@b mesh both}\n\
                workloads: {rr: {rr: {}}, http: {http: {connections: 2}}, udp: {udp: {rate: \
                1Mbit}}}\n";
    let Some((records, _)) = measured("sandboxes", ENVOY, rest) else { return };
    assert_all(&records, &[("gvisor", BOTH)].into(), 3);
}

/// The test cluster has somebody in the place of Istio's injector.
#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn istio_s_labels_bring_sidecars_that_take_what_their_mode_says() {
    let rest = "paths:\n  none: pod@a -> pod@b\n  client: pod@a -> pod@b mesh client\n  \
                server: pod@a -> pod@b mesh server\n  \
                both: pod@a -> pod@b mesh both\n  svc: pod@a -> pod@b via cluster-ip mesh both\n  \
                np: pod@a -> pod@b via node-port@c mesh server\n\
                workloads: {rr: {rr: {}}, http: {http: {connections: 2}}, \
                http2: {http: {connections: 2, streams: 2, http2: true}}, \
                grpc: {grpc: {connections: 2}}}\n";
    let Some((records, run)) = measured("istio", "{provider: istio}", rest) else { return };
    let wanted: [(&str, &[&str]); 6] = [
        ("none", &[]),
        ("client", CLIENT),
        ("server", SERVER),
        ("both", BOTH),
        ("svc", BOTH),
        ("np", SERVER),
    ];
    assert_all(&records, &wanted.into(), 4);
    // One pod serves all modes, and says what was put into it.
    let text = serde_json::to_string(&run.testbed).unwrap();
    assert!(text.contains("istio-proxy: hopbench.test/envoy:1, at most 2 cpu"), "{text}");
    assert!(text.contains("NET_ADMIN for istio-init"), "{text}");
}

/// It has one port for all modes.
#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn sidecars_of_istio_take_a_server_program_in_the_modes_that_name_them() {
    let test = "istio-nginx";
    let Some(ground) = ground(test) else { return };
    if !ground.has_envoy(test) {
        return;
    }
    let nginx = "{image: \"hopbench.test/nginx:1\", port: 8080, request: \"/bytes/{bytes}\"}";
    let testbed = format!(
        "{ANY_THREE}, mesh: {{provider: istio}}, servers: {{nginx: {nginx}}}, \
         gateway: {{parent: projectcontour/contour}}"
    );
    // The agent answers on the same paths.
    let rest = "rounds: 1\ntime: 500ms\npaths:\n  none: pod@a -> pod@b\n  \
                client: pod@a -> pod@b mesh client\n  server: pod@a -> pod@b mesh server\n  \
                both: pod@a -> pod@b mesh both\n  svc-none: pod@a -> pod@b via cluster-ip\n  \
                svc-client: pod@a -> pod@b via cluster-ip mesh client\n  \
                svc-server: pod@a -> pod@b via cluster-ip mesh server\n  \
                svc-both: pod@a -> pod@b via cluster-ip mesh both\n  \
                np: pod@a -> pod@b via node-port@c mesh server\n  \
                gw: pod@a -> pod@b via gateway mesh server\nworkloads:\n  \
                nginx: {http: {connections: 2, server: nginx, response: 1KiB}}\n  \
                agent: {http: {connections: 2}}\n";
    let records = ground.measured(test, &testbed, rest);
    let wanted: [(&str, &[&str]); 10] = [
        ("none", &[]),
        ("client", CLIENT),
        ("server", SERVER),
        ("both", BOTH),
        ("svc-none", &[]),
        ("svc-client", CLIENT),
        ("svc-server", SERVER),
        ("svc-both", BOTH),
        ("np", SERVER),
        // The cluster's own, whose evidence is not that it counted.
        ("gw", &["gateway", "server-sidecar"]),
    ];
    assert_all(&records, &wanted.into(), 2);
    for record in &records {
        let what = format!("{} {}", record.path, record.workload);
        let mut led = record.proof.iter().filter(|proof| proof.hop == "client");
        let is_own = led.any(|proof| proof.evidence.ends_with(":8080"));
        let is_entered_elsewhere = ["np", "gw"].contains(&record.path.as_str());
        let wanted = record.workload == "nginx" && !is_entered_elsewhere;
        assert_eq!(is_own, wanted, "{what}: {:#?}", record.proof);
    }
    let facts = ground.run_file().testbed;
    let ends = ["pod@a", "pod@a/mesh", "pod@b:nginx", "pod@b/mesh:nginx"];
    for (pod, has_sidecar) in ends.into_iter().zip([false, true, false, true]) {
        assert!(facts.contains_key(&format!("pod {pod} node")), "{pod}: {facts:#?}");
        let proxy = facts.get(&format!("pod {pod} proxy"));
        assert_eq!(proxy.is_some(), has_sidecar, "{pod}: {proxy:?}");
    }
}

/// The settings of the test cluster for any scenario.
fn own_testbed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cluster/testbed.yaml")
}

/// What `hopbench plan` says of a scenario, which leaves nothing out.
fn planned(scenario: &str, testbed: &Path) -> Value {
    let kubeconfig = std::env::var_os("HOPBENCH_CLUSTER_KUBECONFIG").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hopbench"));
    command.args(["plan", scenario, "--format", "json", "--testbed"]).arg(testbed);
    let ended = command.env("KUBECONFIG", &kubeconfig).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    let told: Value = serde_json::from_slice(&ended.stdout).expect(&said);
    for key in ["missing", "unsupported"] {
        assert_eq!(told[key], json!([]), "{scenario}, {}: {key}", testbed.display());
    }
    told
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn no_path_of_either_family_is_left_out_of_a_plan() {
    let Some(_ground) = ground("families-planned") else { return };
    let told = planned("ip-families", &own_testbed());
    assert!(told["cells"].as_u64().unwrap() >= 30, "8 paths, 3 workloads and one for 6 of them");
}

/// Through the sidecars and the gateway of hopbench's own, and through those of others.
#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn no_protocol_is_left_out_of_a_plan_for_meshes() {
    let test = "mesh-protocols";
    let Some(ground) = ground(test) else { return };
    if !ground.has_envoy(test) {
        return;
    }
    let others = ground.file("others.yaml");
    let text = "kubernetes: {mesh: istio, gateway: {class: contour-provisioned}}\n";
    std::fs::write(&others, text).unwrap();
    for testbed in [own_testbed(), others] {
        let told = planned("mesh-protocols", &testbed);
        assert!(told["cells"].as_u64().unwrap() >= 32, "4 paths, 8 workloads: {}", told["cells"]);
    }
}

/// What the proxies of a record cost, by their names.
fn costs(record: &Record) -> BTreeMap<&str, &BTreeMap<String, f64>> {
    record.cost.proxies.iter().map(|proxy| (proxy.name.as_str(), &proxy.figures)).collect()
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn what_sidecars_cost_is_read_by_the_agents_beside_them() {
    let test = "sidecars-cost";
    let rest = "rounds: 3\ntime: 50ms\npaths: {both: pod@a -> pod@b mesh both}\n\
                workloads: {http: {http: {connections: 2}}}\n";
    for mesh in [ENVOY, "{provider: istio}"] {
        let Some(ground) = ground(test) else { return };
        if !ground.has_envoy(test) {
            return;
        }
        let records = ground.measured(test, &format!("{ANY_THREE}, mesh: {mesh}"), rest);
        assert_eq!(records.len(), 3);
        for record in &records {
            assert_sound(record);
            let costs = costs(record);
            assert_eq!(costs.len(), 2, "{costs:?}");
            for (name, figures) in costs {
                assert!(figures["cores"] > 0.01 && figures["cpu_s"] > 0.0, "{name}: {figures:?}");
                assert!(figures["rss_bytes"] > 1e6, "{name}: {figures:?}");
                // By no meter of others, whose windows are longer.
                assert!(!figures.contains_key("metered_window_s"), "{name}: {figures:?}");
                assert_eq!(record.settings.get(&format!("proxy_{name}")), None);
            }
            assert!(record.metrics["proxy_rss_bytes"] > 2e6, "{:?}", record.metrics);
            assert!(record.metrics["proxy_cores"] > 0.02, "{:?}", record.metrics);
        }
    }
}

/// The server program of the paths whose servers are no agents.
const NGINX: &str =
    "servers: {nginx: {image: \"hopbench.test/nginx:1\", port: 8080, request: \"/bytes/{bytes}\"}}";

/// A path through gateways and a sidecar to nginx, with these further keys of it and of its
/// workload.
fn to_nginx(of_path: &str, of_workload: &str) -> String {
    format!(
        "paths: {{in: {{from: pod@a, to: pod@b, via: gateway@c, mesh: server{of_path}}}}}\n\
         workloads: {{http: {{http: {{server: nginx, response: 1KiB, connections: 4{of_workload}\
         }}}}}}\n"
    )
}

/// The second of its day in which a trial began.
fn second(record: &Record) -> u32 {
    let parts = record.started_at[11..19].split(':');
    parts.fold(0, |sum, part| 60 * sum + part.parse::<u32>().unwrap())
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn what_gateways_services_and_programs_cost_is_read_by_the_agents_beside_them() {
    let test = "gateways-cost";
    let Some(ground) = ground(test) else { return };
    if !ground.has_envoy(test) {
        return;
    }
    let testbed = format!("{ANY_THREE}, mesh: {ENVOY}, {NGINX}");
    let asks = "mesh: {variants: {asks: {policy-check: true, policy-report: true}}}";
    let rest = format!("rounds: 4\ntime: 250ms\n{asks}\n{}", to_nginx(", gateways: 2", ""));
    let records = ground.measured(test, &testbed, &rest);
    assert_eq!(records.len(), 4);
    for record in &records {
        assert_sound(record);
        let costs = costs(record);
        let names: BTreeSet<&str> = costs.keys().copied().collect();
        let all = ["gateway", "gateway#2", "policy", "server-sidecar", "telemetry"];
        assert_eq!(names, all.into(), "{costs:?}");
        for (name, figures) in costs {
            assert!(figures["cores"] > 0.0 && figures["cpu_s"] > 0.0, "{name}: {figures:?}");
            assert!(figures["rss_bytes"] > 1e6, "{name}: {figures:?}");
            // By no meter of others, whose windows are longer.
            assert!(!figures.contains_key("metered_window_s"), "{name}: {figures:?}");
            assert_eq!(record.settings.get(&format!("proxy_{name}")), None);
        }
        let server = &record.cost.server;
        assert!(server["cores"] > 0.01 && server["rss_bytes"] > 1e6, "{server:?}");
        assert_eq!(record.settings.get("server_program"), None);
        assert!(!record.limited_because.contains("nobody metered the server"), "{record:?}");
    }
    // A trial that waited for a kubelet would take 8 s and more.
    let took_s = (second(&records[3]) + 86_400 - second(&records[0])) % 86_400;
    assert!(took_s < 15, "{took_s} s");
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn agents_and_the_clusters_meters_agree_on_what_is_beside_agents() {
    let test = "beside-metered";
    let Some(ground) = ground(test) else { return };
    if !ground.has_envoy(test) {
        return;
    }
    let testbed = format!("{ANY_THREE}, mesh: {ENVOY}, {NGINX}");
    let rest = format!("rounds: 1\ntime: 60s\n{}", to_nginx("", ", rate: 500"));
    let records = ground.measured(test, &testbed, &rest);
    let record = &records[0];
    assert_sound(record);
    let costs = costs(record);
    let is_whole = |start: f64, length: f64| start.abs() < 6.0 && length > 48.0 && length < 72.0;
    let mut compared = BTreeSet::new();
    for metered in &record.cost.metered {
        let own = match metered.what.as_str() {
            "proxy" => costs[metered.who.as_str()]["cpu_s"],
            "program" => record.cost.server["user_s"] + record.cost.server["system_s"],
            _ => continue,
        };
        if !is_whole(metered.starts_at_s, metered.window_s) {
            continue;
        }
        // Of the same load, in a window of the meter's own.
        let theirs = metered.figures["cpu_s"];
        let apart = (own - theirs).abs();
        assert!(apart <= 0.15 * own.max(theirs) + 0.05, "{own} s, {metered:?}");
        compared.insert(metered.what.as_str());
        compared.insert(metered.who.as_str());
    }
    for what in ["gateway", "server-sidecar", "program"] {
        assert!(compared.contains(what), "{what}: {:#?}", record.cost.metered);
    }
}

/// The pods say so, as where a policy of the cluster forbids it.
#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn what_shares_nothing_with_agents_is_metered_by_the_cluster() {
    let test = "containers-apart";
    let Some(ground) = ground(test) else { return };
    if !ground.has_envoy(test) {
        return;
    }
    let apart = "patch: {spec: {shareProcessNamespace: false}}";
    let testbed = format!("{ANY_THREE}, mesh: {ENVOY}, {NGINX}, {apart}");
    let rest = format!("rounds: 1\ntime: 12s\n{}", to_nginx("", ", rate: 500"));
    let records = ground.measured(test, &testbed, &rest);
    let record = &records[0];
    assert_sound(record);
    for (name, figures) in costs(record) {
        assert!(figures["cores"] > 0.0 && figures["metered_window_s"] > 0.0, "{name}: {figures:?}");
        assert!(figures["memory_bytes"] > 1e6, "{name}: {figures:?}");
    }
    // Tables read this one, whoever metered it.
    assert!(record.metrics["proxy_rss_bytes"] > 2e6, "{:?}", record.metrics);
    assert!(record.settings["server_program"].starts_with("by "), "{:?}", record.settings);
    assert!(record.cost.server["cores"] > 0.0, "{:?}", record.cost.server);
}
