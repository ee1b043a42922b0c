//! The JSON Schema agrees with the reader: a validator written by others decides.

use hopbench_scenario::{SHIPPED, schema};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::common::{try_plan, vocabularies, with};

fn validator() -> Validator {
    let schema = schema(&vocabularies());
    jsonschema::meta::validate(&schema).expect("a valid schema");
    jsonschema::draft202012::new(&schema).expect("a schema of 2020-12")
}

fn json_of(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The reader takes it, or not; where it should have, this says why it did not.
fn assert_read(text: &str, right: bool) {
    let read = try_plan(text);
    let why =
        read.as_ref().err().map(|problems| crate::common::lines(problems)).unwrap_or_default();
    assert_eq!(read.is_ok(), right, "the reader: {text}{why}");
}

#[test]
fn the_shipped_scenarios_are_valid() {
    let validator = validator();
    for scenario in SHIPPED {
        let value = json_of(scenario.text);
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", scenario.name);
    }
}

/// A key that nobody knows is refused wherever it stands, and so is a value of another type.
#[test]
fn mutated_scenarios_are_not() {
    let validator = validator();
    let mut tried = 0;
    for scenario in SHIPPED {
        let value = json_of(scenario.text);
        for pointer in mappings(&value) {
            // Of names that the user gives any will do.
            let free =
                ["/paths", "/workloads", "/testbed/lab/nodes", "/places/nodes", "/mesh/variants"]
                    .contains(&pointer.as_str());
            let mut mutated = value.clone();
            mutated.pointer_mut(&pointer).expect("a mapping")
                [if free { "no name" } else { "siez" }] = json!("host@a -> host@b");
            assert!(
                !validator.is_valid(&mutated),
                "{}{pointer}: an unknown key was accepted",
                scenario.name
            );
            tried += 1;
        }
        for (pointer, wrong) in [
            ("/name", json!("a/b")),
            ("/name", json!(7)),
            ("/rounds", json!(0)),
            ("/rounds", json!("three")),
            ("/stop", json!(3)),
            ("/stop/ci", json!("narrow")),
            ("/time", json!("soon")),
            ("/workloads", json!({})),
            ("/baseline", json!(["host"])),
            ("/testbed", json!("kubernets")),
            ("/testbed", json!({"kubernetes": 3})),
        ] {
            let mut mutated = value.clone();
            // A scenario has rounds or a rule to stop by.
            let Some(value) = mutated.pointer_mut(pointer) else { continue };
            *value = wrong;
            assert!(
                !validator.is_valid(&mutated),
                "{}{pointer}: {} was accepted",
                scenario.name,
                mutated.pointer(pointer).expect("it")
            );
            tried += 1;
        }
    }
    assert!(tried > 100, "only {tried}");
}

/// JSON pointers of all mappings.
fn mappings(value: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let mut look = |prefix: String, value: &Value| {
        out.extend(mappings(value).into_iter().map(|p| format!("{prefix}{p}")));
    };
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| look(format!("/{key}"), value));
            out.push(String::new());
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, value)| look(format!("/{i}"), value));
        }
        _ => {}
    }
    out
}

/// What the reader takes the schema takes, and the other way round.
#[test]
fn both_take_the_same_workloads() {
    let validator = validator();
    for (workload, right) in [
        ("rr", true),
        ("{rr: }", true),
        ("{rr: {size: 64}}", true),
        ("{rr: {size: 1:256KiB:*64}}", true),
        ("{rr: {size: '1,64'}}", true),
        ("{rr: {size: {from: 1B, to: 1KiB, factor: 2}}}", true),
        ("{rr: {size: {from: 1B, to: 1KiB, step: 100B}}}", true),
        ("{rr: {size: [1, 4KiB], udp: true, connections: 4, rate: 0.5, schedule: poisson}}", true),
        ("{rr: {engine: [spin, epoll], cpu: 0, pacing: spin, time: 2, timeout: 10ms}}", true),
        ("{udp: {rate: [max, 50000pps, 100Mbit]}}", true),
        ("{http: {server: nginx, response: 1KiB, header: ['A: 1', 'B: 2']}}", true),
        ("{http: {path: /x, no-keep-alive: true}, paths: [p]}", true),
        ("{rr: {size: [1, 2]}, paths: p}", true),
        ("{rr: {rate: {from: 100, to: 400, factor: 2}}}", true),
        ("{rr: {size: {from: 1B, to: 1KiB}}}", false),
        ("{rr: {size: {from: 1B, to: 1KiB, factor: 2, step: 2}}}", false),
        ("{rr: {size: {from: 1B, until: 1KiB, factor: 2}}}", false),
        ("{rr: {size: []}}", false),
        ("{rr: {size: [[1]]}}", false),
        ("{rr: {size: }}", false),
        ("{rr: {siez: 1}}", false),
        ("{rr: {udp: maybe}}", false),
        ("{rr: {connections: many}}", false),
        ("{rr: {connections: -1}}", false),
        ("{rr: {engine: kqueue}}", false),
        ("{rr: {schedule: hourly}}", false),
        ("{rr: {server: nginx}}", false),
        ("{http: {server: apache}}", false),
        ("{rr: {}, stream: {}}", false),
        ("{paths: [p]}", false),
        ("{rr: 5}", false),
        ("rrr", false),
        ("[rr]", false),
    ] {
        let text = with(workload);
        assert_eq!(try_plan(&text).is_ok(), right, "the reader: {workload}");
        assert_eq!(validator.is_valid(&json_of(&text)), right, "the schema: {workload}");
    }
}

#[test]
fn both_take_the_same_searches_and_stops() {
    let validator = validator();
    let search = |search: &str| with(&format!("{{http: {{}}, search: {{{search}}}}}"));
    let datagrams = |search: &str| with(&format!("{{udp: {{}}, search: {{{search}}}}}"));
    let top = |keys: &str| format!("{keys}\n{}", with("rr"));
    for (text, right) in [
        (search("knee: {connections: [8, 16]}"), true),
        (
            search(
                "knee: {connections: 8:64:*2, threads: {from: 1, to: 4, factor: 2}, growth: 5%}, errors: 0.5%",
            ),
            true,
        ),
        (
            search(
                "slo: {p99: 5ms, rates: 100..50000, precision: 0.02}, errors: 0.01, equal-load: false",
            ),
            true,
        ),
        (search("slo: {p99.95: 5ms, rates: 0.5..1}"), true),
        (search("slo: {p: 99.5, limit: 1s, rates: 1..2}"), true),
        (search("cpu: {of: node b, ceiling: 60%, rates: 1..2}"), true),
        (search("cpu: {of: client, ceiling: 1, rates: 1..2}"), true),
        (
            datagrams("lossless: {loss: 0.1%, rates: 10Mbit..10Gbit, precision: 1%, repeats: 3}"),
            true,
        ),
        (search("knee: {}"), false),
        (search("knee: {connections: [8]}"), false),
        (search("knee: {connections: [0, 8]}"), false),
        (search("knee: {connections: [8, 16], level: 3}"), false),
        (search("slo: {p99: 5ms}"), false),
        (search("slo: {px: 5ms, rates: 1..2}"), false),
        (search("slo: {p99: 5ms, rates: 100}"), false),
        (search("slo: {p99: 5ms, rates: [1, 2]}"), false),
        (search("cpu: {of: nobody, ceiling: 60%, rates: 1..2}"), false),
        (search("cpu: {of: client, ceiling: full, rates: 1..2}"), false),
        (search("knee: {connections: [1, 2]}, slo: {p99: 5ms, rates: 1..2}"), false),
        (search("errors: 1%"), false),
        (datagrams("lossless: {rates: 1Mbit..2Mbit}"), false),
        (datagrams("lossless: {loss: 0, rates: 1Mbit..2Mbit, repeats: 0}"), false),
        (top("stop: {ci: 2%}"), true),
        (
            top("stop: {ci: 0.02, metric: throughput, min-rounds: 3, max-rounds: 20, budget: 10m}"),
            true,
        ),
        (top("stop: {ci: 2%, metric: requests_per_s, budget: 90}"), true),
        (top("stop: {ci: 2%, metric: foo_bar}"), false),
        (top("stop: {}"), false),
        (top("stop: {ci: 2}"), false),
        (top("stop: {ci: narrow}"), false),
        (top("stop: {ci: 2%, min-rounds: 2}"), false),
        (top("stop: {ci: 2%, budget: soon}"), false),
        (top("stop: {ci: 2%, until: 3}"), false),
        (top("stop: {ci: 2%}\nrounds: 3"), false),
        (top("a-a: false"), true),
        (top("a-a: perhaps"), false),
        (top("minimum-effect: 2%"), true),
        (top("minimum-effect: large"), false),
        (top("stay-connected: true"), true),
        (top("stay-connected: 7"), false),
    ] {
        assert_read(&text, right);
        assert_eq!(validator.is_valid(&json_of(&text)), right, "the schema: {text}");
    }
}

#[test]
fn both_take_the_same_paths() {
    let validator = validator();
    for (paths, right) in [
        ("paths: {p: host@a -> bridge+runsc@b via node-port@c}", true),
        (
            "paths: {p: {from: host@a, to: bridge@b, via: cluster-ip, backends: 5, clients: 20, mesh: none}}",
            true,
        ),
        ("paths: {p: host@a -> bridge@b mesh server}", true),
        ("paths: {p: bridge@a -> host@b via node-port@c mesh client}", true),
        ("paths: {p: bridge@a -> eni@b  via  cluster-ip  mesh  both}", true),
        ("paths: {p: host@a -> host@b mesh none}", true),
        ("paths: {p: host@a -> bridge+runsc@b via gateway@c}", true),
        ("paths: {p: bridge@a -> bridge@b via gateway@c mesh server}", true),
        ("paths: {p: {from: bridge@a, to: bridge@b, mesh: both, via: cluster-ip}}", true),
        (
            "paths: {p: {from: bridge+runsc@a, to: bridge@b, mesh: server, via: gateway@c, backends: 2}}",
            true,
        ),
        ("places: {kinds: bridge, via: [direct, gateway@c], mesh: [none, server]}", true),
        ("places: {kinds: [bridge], mesh: both}", true),
        ("places: [host, bridge+runsc]", true),
        ("places: {kinds: [host, eni], nodes: a -> b, via: cluster-ip}", true),
        (
            "places: {from: host, to: [host, eni], nodes: {near: a -> a, far: a -> b}, via: [direct, node-port@c]}",
            true,
        ),
        ("testbed: lab\npaths: {p: host@a -> host@b}", true),
        ("testbed: {lab: {nodes: 3, link: 10Gbit, mtu: 9000}}\npaths: {p: host@a -> host@c}", true),
        (
            "testbed: {lab: {nodes: {a: {zone: x, link: 1Gbit}, b: {zone: z}}, zone-link: 1Gbit, zone-delay: 2ms}}\npaths: {p: host@a -> host@b}",
            true,
        ),
        ("paths: {p: host+runsc@a -> bridge@b}", false),
        ("paths: {p: wifi@a -> bridge@b}", false),
        ("paths: {p: bridge+kata@a -> bridge@b}", false),
        ("paths: {p: host@A -> bridge@b}", false),
        ("paths: {p: host@a}", false),
        ("paths: {p: host@a -> bridge@b via gateway}", false),
        ("paths: {p: {from: host@a}}", false),
        ("paths: {p: {from: host@a, to: host@b, clients: 0}}", false),
        ("paths: {p: {from: host@a, to: host@b, mesh: both}}", false),
        ("paths: {p: {from: host@a, to: bridge@b, mesh: both}}", false),
        ("paths: {p: {from: bridge@a, to: host@b, mesh: both}}", false),
        ("paths: {p: {from: bridge@a, to: bridge+runsc@b, mesh: server}}", false),
        ("paths: {p: {from: bridge+runsc@a, to: bridge@b, mesh: client}}", false),
        ("paths: {p: {from: bridge@a, to: bridge@b, mesh: client, via: gateway@c}}", false),
        ("paths: {p: {from: bridge@a, to: bridge@b, mesh: some}}", false),
        ("paths: {p: {from: bridge@a, to: bridge@b, mesh: [both]}}", false),
        ("paths: {p: host@a -> bridge@b mesh client}", false),
        ("paths: {p: bridge@a -> bridge+runsc@b mesh both}", false),
        ("paths: {p: bridge@a -> bridge@b via gateway@c mesh both}", false),
        ("paths: {p: bridge@a -> bridge@b mesh both via cluster-ip}", false),
        ("paths: {p: bridge@a -> bridge@b mesh}", false),
        ("paths: {p: bridge@a -> bridge@b via gateway@C}", false),
        ("places: {kinds: [bridge], mesh: []}", false),
        ("places: {kinds: [bridge], mesh: most}", false),
        ("paths: {}", false),
        ("places: []", false),
        ("places: {kinds: [host], from: [host]}", false),
        ("places: {from: [host]}", false),
        ("testbed: {lab: {nodes: 0}}\npaths: {p: host@a -> host@b}", false),
        ("testbed: {lab: {nodes: 101}}\npaths: {p: host@a -> host@b}", false),
        ("testbed: {lab: {link: 10}}\npaths: {p: host@a -> host@b}", false),
        ("testbed: {lab: {mtu: 100}}\npaths: {p: host@a -> host@b}", false),
        ("testbed: {hosts: {}}\npaths: {p: host@a -> host@b}", false),
        ("paths: {p: host@a -> bridge@b via load-balancer}", true),
        ("paths: {p: host@a -> host@b via address@203.0.113.7:80}", true),
        ("paths: {p: host@a -> host@b via address@203.0.113.7}", false),
        ("paths: {p: host@a -> bridge@b.example}", false),
        ("paths: {p: pod@a -> bridge@b}", false),
        ("rounds: 3", false),
    ] {
        let text = crate::common::on(paths);
        assert_eq!(try_plan(&text).is_ok(), right, "the reader: {paths}");
        assert_eq!(validator.is_valid(&json_of(&text)), right, "the schema: {paths}");
    }
}

/// Of a cluster the schema does not know which names its block adds; what it refuses the reader
/// refuses, too.
#[test]
fn both_take_the_same_testbeds() {
    let validator = validator();
    let cluster = |block: &str| {
        format!("testbed: {{kubernetes: {{{block}}}}}\npaths: {{p: host@a -> pod@b}}")
    };
    let hosts =
        |block: &str| format!("testbed: {{hosts: {{{block}}}}}\npaths: {{p: host@a -> host@b}}");
    let on = |testbed: &str, path: &str| format!("testbed: {testbed}\npaths: {{p: {path}}}");
    let two = "{hosts: {nodes: {a: x, b: z}}}";
    for (text, right) in [
        (on("kubernetes", "pod+gvisor@a -> host@worker-1.example via node-port@c"), true),
        (on("kubernetes", "pod+kata@a -> bridge+runsc@b mesh both"), true),
        (
            on(
                "kubernetes",
                "{from: pod@a, to: pod+kata@b, via: load-balancer, clients: 3, backends: 2, mesh: server}",
            ),
            true,
        ),
        (on("{kubernetes: , lab: {nodes: 2}}", "pod@a -> eni@b"), true),
        (on("{kubernetes: {networks: {own: }}}", "own+x@a -> own@b via cluster-ip"), true),
        (
            on(
                "{kubernetes: {gateway: {address: 'x:80'}}}",
                "pod@a -> pod@b via gateway mesh server",
            ),
            true,
        ),
        (on("kubernetes", "pod@a -> pod@b via gateway@c mesh server"), true),
        (on("kubernetes", "host+kata@a -> pod@b"), false),
        (on("kubernetes", "pod@a -> host@b mesh server"), false),
        (on("kubernetes", "pod@a -> pod@b via gateway@c mesh both"), false),
        (on("kubernetes", "pod+Kata@a -> pod@b"), false),
        (on("kubernetes", "pod@A -> pod@b"), false),
        (on("kubernetes", "{from: host@a, to: pod@b, mesh: both}"), false),
        (on(two, "host@a -> host@b via address@x:80"), true),
        (on(two, "bridge@a -> host@b"), false),
        (on(two, "host@a -> host@b mesh server"), false),
        (on(two, "host+x@a -> host@b"), false),
        (on("[lab]", "host@a -> host@b"), false),
        (on("{}", "host@a -> host@b"), false),
        (on("hosts", "host@a -> host@b"), false),
        (on("{lab: , own: }", "host@a -> host@b"), false),
        (
            on("kubernetes", "host@a -> pod@b")
                .replace("paths: {p: host@a -> pod@b}", "places: {kinds: [pod, host+x]}"),
            false,
        ),
        (
            on("kubernetes", "host@a -> pod@b")
                .replace("paths: {p: host@a -> pod@b}", "places: {kinds: [pod, pod+x]}"),
            true,
        ),
        (
            cluster(
                "context: staging, image: 'a/b:1', pull-policy: Never, network-policy: true, start-timeout: 90s",
            ),
            true,
        ),
        (
            cluster(
                "nodes: {a: {name: worker-1.example}, b: {labels: {pool: fast}, zone: z1}, c: }",
            ),
            true,
        ),
        (
            cluster(
                "networks: {overlay: {runtime-class: x}, macvlan: {annotations: {a.b/c: '[]'}, labels: {a: b}, interface: net1, patch: {spec: {}}}, eni: }",
            ),
            true,
        ),
        (cluster("runtimes: {runsc: gvisor}, patch: {spec: {priority: 3}}"), true),
        (
            cluster(
                "servers: {nginx: {image: 'nginx:1', port: 80, cpus: 0.5, args: [-g, 1], request: '/bytes/{bytes}'}}",
            ),
            true,
        ),
        (cluster("servers: {nginx: {image: nginx, cpus: 500m}}"), true),
        (cluster("mesh: linkerd"), true),
        (cluster("mesh: {provider: istio, revision: canary}"), true),
        (
            cluster("gateway: {address: '[::1]:80', namespace: ingress, labels: {app: gateway}}"),
            true,
        ),
        (cluster("prometheus: {url: 'https://x:9090/p'}"), true),
        (cluster("prometheus: {service: 'monitoring/prometheus:9090'}"), true),
        (cluster("own: 1"), false),
        (cluster("image: 'a b'"), false),
        (cluster("pull-policy: Sometimes"), false),
        (cluster("nodes: 3"), false),
        (cluster("nodes: {A: }"), false),
        (cluster("nodes: {a: {labels: {}}}"), false),
        (cluster("nodes: {a: {zone: ''}}"), false),
        (cluster("networks: {my_net: }"), false),
        (cluster("networks: {x: {interface: 0123456789abcdef}}"), false),
        (cluster("networks: {x: {annotations: {a: [1]}}}"), false),
        (cluster("runtimes: {runsc: A}"), false),
        (cluster("servers: {nginx: {port: 80}}"), false),
        (cluster("servers: {nginx: {image: x, cpus: -1}}"), false),
        (cluster("servers: {nginx: {image: x, request: y}}"), false),
        (cluster("patch: 3"), false),
        (cluster("mesh: istoi"), false),
        (cluster("mesh: {providers: istio}"), false),
        (cluster("gateway: {address: x}"), false),
        (cluster("gateway: {address: 'x:80', namespace: y}"), false),
        (cluster("prometheus: {}"), false),
        (cluster("prometheus: {url: x}"), false),
        (cluster("prometheus: {url: 'http://x', service: 'a/b:1'}"), false),
        (cluster("network-policy: maybe"), false),
        (cluster("start-timeout: soon"), false),
        (hosts("nodes: {a: 10.0.0.1, b: 'worker-1:7474'}, token-file: x"), true),
        (hosts("nodes: {a: '[::1]:7474', b: {control: '::1', address: 10.0.0.1}}"), true),
        (hosts("nodes: {a: x}"), false),
        (hosts("nodes: {a: x, b: }"), false),
        (hosts("nodes: {a: x, b: {address: y}}"), false),
        (hosts("nodes: {a: x, b: 'y z'}"), false),
        (hosts("nodes: {a: x, b: z}, token: z"), false),
    ] {
        let text = crate::common::on(&text);
        assert_read(&text, right);
        // Which nodes the machines are is beyond it.
        let beyond = text.contains("{a: x}}");
        assert_eq!(validator.is_valid(&json_of(&text)), right || beyond, "the schema: {text}");
    }
}

#[test]
fn both_take_the_same_meshes() {
    let validator = validator();
    for (mesh, right) in [
        ("{}", true),
        ("{mtls: false, concurrency: 1, max-connections: 1, upstream: http2}", true),
        (
            "{stats: true, access-log: true, policy-check: true, policy-report: true, variants: [plain]}",
            true,
        ),
        (
            "{variants: [plain, stats, access-log, policy-check, policy-report, no-mtls, http2]}",
            true,
        ),
        ("{variants: stats}", true),
        (
            "{variants: {plain: , mixer: {policy-check: true, stats: true}, own: {concurrency: 64}, http2: {}}}",
            true,
        ),
        ("", false),
        ("plain", false),
        ("[plain]", false),
        ("{provider: envoy}", false),
        ("{mtls: maybe}", false),
        ("{concurrency: 0}", false),
        ("{concurrency: 65}", false),
        ("{concurrency: [1, 2]}", false),
        ("{max-connections: 0}", false),
        ("{max-connections: 4294967296}", false),
        ("{upstream: http3}", false),
        ("{variants: }", false),
        ("{variants: []}", false),
        ("{variants: {}}", false),
        ("{variants: [plain, plain]}", false),
        ("{variants: [mixer]}", false),
        ("{variants: {mixer: }}", false),
        ("{variants: {a/b: {}}}", false),
        ("{variants: {plain: {variants: [stats]}}}", false),
        ("{variants: {mixer: {policy: true}}}", false),
        ("{variants: {mixer: true}}", false),
    ] {
        let text = crate::common::on(&format!(
            "paths: {{p: bridge@a -> bridge@b mesh both}}\nmesh: {mesh}"
        ));
        assert_eq!(try_plan(&text).is_ok(), right, "the reader: {mesh}");
        assert_eq!(validator.is_valid(&json_of(&text)), right, "the schema: {mesh}");
    }
}

#[test]
fn every_key_is_described() {
    let schema = schema(&vocabularies());
    let rr = &schema["$defs"]["rr"]["properties"];
    assert_eq!(
        rr["size"]["description"],
        "Bytes of a request; a sweep like 1:256KiB:*64 measures each"
    );
    let described = |what: &str, properties: &Value, least: usize| {
        let properties = properties.as_object().expect("properties");
        assert!(properties.len() >= least, "{what}");
        for (name, property) in properties {
            assert!(
                property["description"].as_str().is_some_and(|text| text.len() > 10),
                "{what}.{name}"
            );
        }
    };
    for workload in ["stream", "push", "rr", "crr", "udp", "ping", "http"] {
        described(workload, &schema["$defs"][workload]["properties"], 11);
    }
    described("the scenario", &schema["properties"], 18);
    described("stop", &schema["properties"]["stop"]["properties"], 5);
    let search = &schema["$defs"]["search"]["properties"];
    described("search", search, 6);
    for (goal, least) in [("knee", 3), ("slo", 9), ("cpu", 3), ("lossless", 4)] {
        described(goal, &search[goal]["properties"], least);
    }
    let blocks = &schema["properties"]["testbed"]["anyOf"][1]["properties"];
    described("testbeds", blocks, 3);
    for (testbed, least) in [("lab", 5), ("kubernetes", 13), ("hosts", 2)] {
        described(testbed, &blocks[testbed]["properties"], least);
    }
    let mesh = &schema["properties"]["mesh"]["properties"];
    described("mesh", mesh, 9);
    described("mesh.variants", &mesh["variants"]["anyOf"][2]["properties"], 7);
}
