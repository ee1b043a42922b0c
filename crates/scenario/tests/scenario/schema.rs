//! The JSON Schema agrees with the reader: a validator written by others decides.

use hopbench_scenario::{SHIPPED, schema};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::common::{lines, on, text, try_plan, vocabularies, with};

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
    let why = read.as_ref().err().map(|problems| lines(problems)).unwrap_or_default();
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

/// What the reader takes the schema takes, and the other way round: a row is `yes` or `no`, and a
/// part of a scenario. A line without either continues the row above it.
fn agree(table: &str, scenario: impl Fn(&str) -> String) {
    let validator = validator();
    let mut rows: Vec<String> = Vec::new();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match rows.last_mut() {
            Some(row) if !line.starts_with("yes ") && !line.starts_with("no ") => {
                row.push(' ');
                row.push_str(line);
            }
            _ => rows.push(line.to_owned()),
        }
    }
    assert!(!rows.is_empty());
    for row in rows {
        let (right, part) = match row.split_once(' ') {
            Some(("yes", part)) => (true, part),
            Some(("no", part)) => (false, part),
            _ => panic!("neither yes nor no: {row}"),
        };
        let text = scenario(&text(part.trim_start()));
        assert_read(&text, right);
        assert_eq!(validator.is_valid(&json_of(&text)), right, "the schema: {text}");
    }
}

#[test]
fn both_take_the_same_workloads() {
    let rows = "
        yes rr
        yes {rr: }
        yes {rr: {size: 64}}
        yes {rr: {size: 1:256KiB:*64}}
        yes {rr: {size: '1,64'}}
        yes {rr: {size: {from: 1B, to: 1KiB, factor: 2}}}
        yes {rr: {size: {from: 1B, to: 1KiB, step: 100B}}}
        yes {rr: {size: [1, 4KiB], udp: true, connections: 4, rate: 0.5, schedule: poisson}}
        yes {rr: {engine: [spin, epoll], cpu: 0, pacing: spin, time: 2, timeout: 10ms}}
        yes {udp: {rate: [max, 50000pps, 100Mbit]}}
        yes {http: {server: nginx, response: 1KiB, header: ['A: 1', 'B: 2']}}
        yes {http: {path: /x, no-keep-alive: true}, paths: [p]}
        yes {rr: {size: [1, 2]}, paths: p}
        yes {rr: {rate: {from: 100, to: 400, factor: 2}}}
        no  {rr: {size: {from: 1B, to: 1KiB}}}
        no  {rr: {size: {from: 1B, to: 1KiB, factor: 2, step: 2}}}
        no  {rr: {size: {from: 1B, until: 1KiB, factor: 2}}}
        no  {rr: {size: []}}
        no  {rr: {size: [[1]]}}
        no  {rr: {size: }}
        no  {rr: {siez: 1}}
        no  {rr: {udp: maybe}}
        no  {rr: {connections: many}}
        no  {rr: {connections: -1}}
        no  {rr: {engine: kqueue}}
        yes {rr: {rate: 100, burst: [1, 16]}}
        no  {rr: {rate: 100, burst: many}}
        no  {rr: {schedule: hourly}}
        no  {rr: {server: nginx}}
        no  {http: {server: apache}}
        no  {rr: {}, stream: {}}
        no  {paths: [p]}
        no  {rr: 5}
        no  rrr
        no  [rr]
    ";
    agree(rows, with);
}

#[test]
fn both_take_the_same_searches_and_stops() {
    let search = |search: &str| with(&format!("{{http: {{}}, search: {{{search}}}}}"));
    let datagrams = |search: &str| with(&format!("{{udp: {{}}, search: {{{search}}}}}"));
    let top = |keys: &str| format!("{keys}\n{}", with("rr"));
    let rows = "
        yes knee: {connections: [8, 16]}
        yes knee: {connections: 8:64:*2, threads: {from: 1, to: 4, factor: 2}, growth: 5%},
            errors: 0.5%
        yes slo: {p99: 5ms, rates: 100..50000, precision: 0.02}, errors: 0.01, equal-load: false
        yes slo: {p99.95: 5ms, rates: 0.5..1}
        yes slo: {p: 99.5, limit: 1s, rates: 1..2}
        yes cpu: {of: node b, ceiling: 60%, rates: 1..2}
        yes cpu: {of: client, ceiling: 1, rates: 1..2}
        no  knee: {}
        no  knee: {connections: [8]}
        no  knee: {connections: [0, 8]}
        no  knee: {connections: [8, 16], level: 3}
        no  slo: {p99: 5ms}
        no  slo: {px: 5ms, rates: 1..2}
        no  slo: {p99: 5ms, rates: 100}
        no  slo: {p99: 5ms, rates: [1, 2]}
        no  cpu: {of: nobody, ceiling: 60%, rates: 1..2}
        no  cpu: {of: client, ceiling: full, rates: 1..2}
        no  knee: {connections: [1, 2]}, slo: {p99: 5ms, rates: 1..2}
        no  errors: 1%
    ";
    agree(rows, search);
    let rows = "
        yes lossless: {loss: 0.1%, rates: 10Mbit..10Gbit, precision: 1%, repeats: 3}
        no  lossless: {rates: 1Mbit..2Mbit}
        no  lossless: {loss: 0, rates: 1Mbit..2Mbit, repeats: 0}
    ";
    agree(rows, datagrams);
    let rows = r"
        yes stop: {ci: 2%}
        yes stop: {ci: 0.02, metric: throughput, min-rounds: 3, max-rounds: 20, budget: 10m}
        yes stop: {ci: 2%, metric: requests_per_s, budget: 90}
        yes a-a: false
        yes minimum-effect: 2%
        yes stay-connected: true
        no  stop: {ci: 2%, metric: foo_bar}
        no  stop: {}
        no  stop: {ci: 2}
        no  stop: {ci: narrow}
        no  stop: {ci: 2%, min-rounds: 2}
        no  stop: {ci: 2%, budget: soon}
        no  stop: {ci: 2%, until: 3}
        no  stop: {ci: 2%}\nrounds: 3
        no  a-a: perhaps
        no  minimum-effect: large
        no  stay-connected: 7
    ";
    agree(rows, top);
}

#[test]
fn both_take_the_same_paths() {
    let rows = r"
        yes paths: {p: host@a -> bridge+runsc@b via node-port@c}
        yes paths: {p: {from: host@a, to: bridge@b, via: cluster-ip, backends: 5, clients: 20,
            mesh: none}}
        yes paths: {p: host@a -> bridge@b mesh server}
        yes paths: {p: bridge@a -> host@b via node-port@c mesh client}
        yes paths: {p: bridge@a -> eni@b  via  cluster-ip  mesh  both}
        yes paths: {p: host@a -> host@b mesh none}
        yes paths: {p: host@a -> bridge+runsc@b via gateway@c}
        yes paths: {p: bridge@a -> bridge@b via gateway@c mesh server}
        yes paths: {p: {from: bridge@a, to: bridge@b, mesh: both, via: cluster-ip}}
        yes paths: {p: {from: bridge+runsc@a, to: bridge@b, mesh: server, via: gateway@c,
            backends: 2}}
        yes paths: {p: {from: bridge@a, to: bridge@b, via: cluster-ip, backends: 3,
            affinity: client-ip}}
        no  paths: {p: {from: bridge@a, to: bridge@b, via: cluster-ip, affinity: cookie}}
        yes paths: {p: {from: bridge@a, to: bridge@b, family: ipv6}, q: {from: bridge@a,
            to: bridge@b, family: ipv4}}
        no  paths: {p: {from: bridge@a, to: bridge@b, family: ipv5}}
        yes places: {kinds: bridge, via: [direct, gateway@c], mesh: [none, server]}
        yes places: {kinds: [bridge], mesh: both}
        yes places: [host, bridge+runsc]
        yes places: {kinds: [host, eni], nodes: a -> b, via: cluster-ip}
        yes places: {from: host, to: [host, eni], nodes: {near: a -> a, far: a -> b}, via: [direct,
            node-port@c]}
        yes testbed: lab\npaths: {p: host@a -> host@b}
        yes testbed: {lab: {nodes: 3, link: 10Gbit, mtu: 9000}}\npaths: {p: host@a -> host@c}
        yes testbed: {lab: {nodes: {a: {zone: x, link: 1Gbit}, b: {zone: z}}, zone-link: 1Gbit,
            zone-delay: 2ms}}\npaths: {p: host@a -> host@b}
        yes paths: {p: host@a -> bridge@b via load-balancer}
        yes paths: {p: host@a -> host@b via address@203.0.113.7:80}
        no  paths: {p: host+runsc@a -> bridge@b}
        no  paths: {p: wifi@a -> bridge@b}
        no  paths: {p: bridge+kata@a -> bridge@b}
        no  paths: {p: host@A -> bridge@b}
        no  paths: {p: host@a}
        no  paths: {p: host@a -> bridge@b via gateway}
        no  paths: {p: {from: host@a}}
        no  paths: {p: {from: host@a, to: host@b, clients: 0}}
        no  paths: {p: {from: host@a, to: host@b, mesh: both}}
        no  paths: {p: {from: host@a, to: bridge@b, mesh: both}}
        no  paths: {p: {from: bridge@a, to: host@b, mesh: both}}
        no  paths: {p: {from: bridge@a, to: bridge+runsc@b, mesh: server}}
        no  paths: {p: {from: bridge+runsc@a, to: bridge@b, mesh: client}}
        no  paths: {p: {from: bridge@a, to: bridge@b, mesh: client, via: gateway@c}}
        no  paths: {p: {from: bridge@a, to: bridge@b, mesh: some}}
        no  paths: {p: {from: bridge@a, to: bridge@b, mesh: [both]}}
        no  paths: {p: host@a -> bridge@b mesh client}
        no  paths: {p: bridge@a -> bridge+runsc@b mesh both}
        no  paths: {p: bridge@a -> bridge@b via gateway@c mesh both}
        no  paths: {p: bridge@a -> bridge@b mesh both via cluster-ip}
        no  paths: {p: bridge@a -> bridge@b mesh}
        no  paths: {p: bridge@a -> bridge@b via gateway@C}
        no  places: {kinds: [bridge], mesh: []}
        no  places: {kinds: [bridge], mesh: most}
        no  paths: {}
        no  places: []
        no  places: {kinds: [host], from: [host]}
        no  places: {from: [host]}
        no  testbed: {lab: {nodes: 0}}\npaths: {p: host@a -> host@b}
        no  testbed: {lab: {nodes: 101}}\npaths: {p: host@a -> host@b}
        no  testbed: {lab: {link: 10}}\npaths: {p: host@a -> host@b}
        no  testbed: {lab: {mtu: 100}}\npaths: {p: host@a -> host@b}
        no  testbed: {hosts: {}}\npaths: {p: host@a -> host@b}
        no  paths: {p: host@a -> host@b via address@203.0.113.7}
        no  paths: {p: host@a -> bridge@b.example}
        no  paths: {p: pod@a -> bridge@b}
        no  rounds: 3
    ";
    agree(rows, on);
}

/// Of a cluster the schema does not know which names its block adds; what it refuses the reader
/// refuses, too.
#[test]
fn both_take_the_same_testbeds() {
    let cluster = |block: &str| {
        on(&format!("testbed: {{kubernetes: {{{block}}}}}\npaths: {{p: host@a -> pod@b}}"))
    };
    let pods = |path: &str| on(&format!("testbed: kubernetes\npaths: {{p: {path}}}"));
    let hosts = |block: &str| {
        on(&format!("testbed: {{hosts: {{{block}}}}}\npaths: {{p: host@a -> host@b}}"))
    };
    let machines = |path: &str| {
        on(&format!("testbed: {{hosts: {{nodes: {{a: x, b: z}}}}}}\npaths: {{p: {path}}}"))
    };
    let rows = "
        yes pod+gvisor@a -> host@worker-1.example via node-port@c
        yes pod+kata@a -> bridge+runsc@b mesh both
        yes {from: pod@a, to: pod+kata@b, via: load-balancer, clients: 3, backends: 2, mesh: server}
        yes pod@a -> pod@b via gateway@c mesh server
        no  host+kata@a -> pod@b
        no  pod@a -> host@b mesh server
        no  pod@a -> pod@b via gateway@c mesh both
        no  pod+Kata@a -> pod@b
        no  pod@A -> pod@b
        no  {from: host@a, to: pod@b, mesh: both}
    ";
    agree(rows, pods);
    let rows = "
        yes host@a -> host@b via address@x:80
        no  bridge@a -> host@b
        no  host@a -> host@b mesh server
        no  host+x@a -> host@b
    ";
    agree(rows, machines);
    let rows = r"
        yes testbed: {kubernetes: , lab: {nodes: 2}}\npaths: {p: pod@a -> eni@b}
        yes testbed: {kubernetes: {networks: {own: }}}\npaths: {p: own+x@a -> own@b via cluster-ip}
        yes testbed: {kubernetes: {mesh: istio, objects: [{apiVersion: v1, kind: ConfigMap,
            metadata: {name: c}, data: {a: b}}]}}\npaths: {p: pod@a -> pod@b mesh both}\nmesh:
            {variants: {x: {annotations: {example.org/a: b}}, y: {}}}
        no  testbed: {kubernetes: {objects: [{kind: ConfigMap,
            metadata: {name: c}}]}}\npaths: {p: pod@a -> pod@b}
        no  testbed: {kubernetes: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c,
            namespace: x}}]}}\npaths: {p: pod@a -> pod@b}
        yes testbed: {kubernetes: {gateway: {address: 'x:80'}}}\npaths: {p: pod@a -> pod@b via
            gateway mesh server}
        yes testbed: kubernetes\nplaces: {kinds: [pod, pod+x]}
        yes testbed: {lab: , kubernetes: {pull-secret: registry}}\npaths: {p: host@a -> host@b}
        yes testbed: {lab: , kubernetes: {pull-secret: [a, b.c]}}\npaths: {p: host@a -> host@b}
        no  testbed: [lab]\npaths: {p: host@a -> host@b}
        no  testbed: {}\npaths: {p: host@a -> host@b}
        no  testbed: hosts\npaths: {p: host@a -> host@b}
        no  testbed: {lab: , own: }\npaths: {p: host@a -> host@b}
        no  testbed: kubernetes\nplaces: {kinds: [pod, host+x]}
    ";
    agree(rows, on);
    let rows = "
        yes context: staging, image: 'a/b:1', pull-policy: Never, network-policy: true,
            start-timeout: 90s, allow-commands: true
        yes nodes: {a: {name: worker-1.example}, b: {labels: {pool: fast}, zone: z1}, c: }
        yes networks: {overlay: {runtime-class: x}, macvlan: {annotations: {a.b/c: '[]'},
            labels: {a: b}, interface: net1, patch: {spec: {}}}, eni: }
        yes runtimes: {runsc: gvisor}, patch: {spec: {priority: 3}}
        yes servers: {nginx: {image: 'nginx:1', port: 80, cpus: 0.5, args: [-g, 1],
            request: '/bytes/{bytes}'}}
        yes servers: {nginx: {image: nginx, cpus: 500m}}
        yes peers: {image: 'tools:1'}
        no  peers: {}
        no  peers: {image: 'a b'}
        no  peers: {iperf3: x}
        yes mesh: linkerd
        yes mesh: {provider: istio, revision: canary}
        yes mesh: {provider: istio-ambient, families: [ipv6]}
        yes mesh: {provider: cilium, families: [ipv4, ipv6]}
        yes gateway: {address: '[::1]:80', namespace: ingress, labels: {app: gateway}}
        yes gateway: {ingress: nginx}
        yes gateway: {ingress: nginx, address: '203.0.113.7:80'}
        no  gateway: {ingress: nginx, class: contour}
        no  gateway: {address: 'x:80', parent: infra/public}
        yes prometheus: {url: 'https://x:9090/p'}
        yes prometheus: {service: 'monitoring/prometheus:9090'}
        no  own: 1
        no  image: 'a b'
        no  pull-policy: Sometimes
        no  pull-secret: A
        no  pull-secret: []
        no  pull-secret: [a, a]
        no  pull-secret: {name: a}
        no  nodes: 3
        no  nodes: {A: }
        no  nodes: {a: {labels: {}}}
        no  nodes: {a: {zone: ''}}
        no  networks: {my_net: }
        no  networks: {x: {interface: 0123456789abcdef}}
        no  networks: {x: {annotations: {a: [1]}}}
        no  runtimes: {runsc: A}
        no  servers: {nginx: {port: 80}}
        no  servers: {nginx: {image: x, cpus: -1}}
        no  servers: {nginx: {image: x, request: y}}
        no  patch: 3
        no  mesh: istoi
        no  mesh: {providers: istio}
        no  mesh: {provider: istio, families: ipv6}
        no  mesh: {provider: istio, families: []}
        no  mesh: {provider: istio, families: [ipv5]}
        no  mesh: {provider: istio, families: [ipv6, ipv6]}
        no  gateway: {address: x}
        no  gateway: {address: 'x:80', namespace: y}
        no  prometheus: {}
        no  prometheus: {url: x}
        no  prometheus: {url: 'http://x', service: 'a/b:1'}
        no  network-policy: maybe
        no  start-timeout: soon
        no  allow-commands: soon
    ";
    agree(rows, cluster);
    let rows = "
        yes nodes: {a: 10.0.0.1, b: 'worker-1:7474'}, token-file: x
        yes nodes: {a: '[::1]:7474', b: {control: '::1', address: 10.0.0.1}}
        no  nodes: {a: x, b: }
        no  nodes: {a: x, b: {address: y}}
        no  nodes: {a: x, b: 'y z'}
        no  nodes: {a: x, b: z}, token: z
    ";
    agree(rows, hosts);
    // Which nodes the machines are is beyond the schema.
    let text = hosts("nodes: {a: x}");
    assert_read(&text, false);
    assert!(validator().is_valid(&json_of(&text)), "the schema: {text}");
}

#[test]
fn both_take_the_same_meshes() {
    let meshed =
        |mesh: &str| on(&format!("paths: {{p: bridge@a -> bridge@b mesh both}}\nmesh: {mesh}"));
    let rows = r#"
        yes {}
        yes {mtls: false, concurrency: 1, max-connections: 1, upstream: http2}
        yes {stats: true, access-log: true, policy-check: true, policy-report: true,
            variants: [plain]}
        yes {variants: [plain, stats, access-log, policy-check, policy-report, no-mtls, http2]}
        yes {variants: stats}
        yes {variants: {plain: , mixer: {policy-check: true, stats: true}, own: {concurrency: 64},
            http2: {}}}
        no  ""
        no  plain
        no  [plain]
        no  {provider: envoy}
        no  {mtls: maybe}
        no  {concurrency: 0}
        no  {concurrency: 65}
        no  {concurrency: [1, 2]}
        no  {max-connections: 0}
        no  {max-connections: 4294967296}
        no  {upstream: http3}
        no  {variants: }
        no  {variants: []}
        no  {variants: {}}
        no  {variants: [plain, plain]}
        no  {variants: [mixer]}
        no  {variants: {mixer: }}
        no  {variants: {a/b: {}}}
        no  {variants: {plain: {variants: [stats]}}}
        no  {variants: {mixer: {policy: true}}}
        no  {variants: {mixer: true}}
    "#;
    agree(rows, meshed);
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
    let extent = &schema["properties"];
    let budget = extent["budget"]["description"].as_str().expect("a description");
    assert!(budget.contains("2m30s") && extent["rounds"]["default"].is_null(), "{budget}");
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
