//! Meshes: modes, gateways, variants; what they resolve to, and what is said of those that make no
//! sense.

use hopbench_model::{HttpVersion, MeshMode, Path, Plan, Variant, Via};

use crate::bad_input::{compare, told};
use crate::common::{on, plan};

fn paths(text: &str) -> Vec<Path> {
    plan(&on(text)).paths
}

fn path(text: &str) -> Path {
    paths(&format!("paths: {{p: {text}}}")).remove(0)
}

/// A mesh block for a path that has a use for it.
fn meshed(mesh: &str) -> String {
    on(&format!("paths: {{p: bridge@a -> bridge@b mesh both}}\nmesh: {mesh}"))
}

fn variants(mesh: &str) -> Vec<Variant> {
    plan(&meshed(mesh)).paths.into_iter().map(|path| path.variant.expect("a variant")).collect()
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.paths.iter().map(|path| path.name.as_str()).collect()
}

#[test]
fn both_forms_of_a_path_say_the_same() {
    let gateway = || Via::Gateway("c".to_owned());
    #[rustfmt::skip]
    let rows = [
        ("bridge@a -> bridge@b", "{from: bridge@a, to: bridge@b}",
            Via::Direct, MeshMode::None, false),
        ("bridge@a -> bridge@b mesh none", "{from: bridge@a, to: bridge@b, mesh: none}",
            Via::Direct, MeshMode::None, false),
        ("host@a -> bridge@b mesh server", "{from: host@a, to: bridge@b, mesh: server}",
            Via::Direct, MeshMode::Server, true),
        ("bridge@a -> host@b via cluster-ip mesh client",
            "{from: bridge@a, to: host@b, via: cluster-ip, mesh: client}",
            Via::ClusterIp, MeshMode::Client, true),
        ("eni@a  ->  ptp@b  mesh  both", "{from: eni@a, to: ptp@b, mesh: both}",
            Via::Direct, MeshMode::Both, true),
        ("host@a -> bridge+runsc@b via gateway@c",
            "{from: host@a, to: bridge+runsc@b, via: gateway@c}",
            gateway(), MeshMode::None, true),
        ("bridge@a -> bridge@b via gateway@c mesh server",
            "{from: bridge@a, to: bridge@b, via: gateway@c, mesh: server}",
            gateway(), MeshMode::Server, true),
    ];
    for (short, long, via, mesh, proxied) in rows {
        let path = path(short);
        assert_eq!(path, self::path(long), "{short}");
        assert_eq!((&path.via, path.mesh), (&via, mesh), "{short}");
        assert_eq!(path.variant, proxied.then(Variant::plain), "{short}");
    }
}

#[test]
fn a_gateway_has_a_node_and_may_have_several_backends() {
    let plan = plan(&on("paths: {p: {from: bridge@a, to: bridge@b, via: gateway@c, backends: 3}}"));
    assert_eq!(plan.testbed.nodes(), ["a", "b", "c"]);
    assert_eq!(plan.paths[0].backends, 3);
}

#[test]
fn a_matrix_has_modes_and_gateways() {
    let all =
        plan(&on("places: {kinds: [bridge], via: [direct, gateway@c], mesh: [none, server]}"));
    assert_eq!(
        names(&all),
        [
            "bridge-bridge",
            "bridge-bridge.server",
            "bridge-bridge.gateway-c",
            "bridge-bridge.gateway-c.server"
        ]
    );
    assert_eq!(
        all.paths.iter().map(|p| p.variant.is_some()).collect::<Vec<_>>(),
        [false, true, true, true]
    );
    let one = plan(&on(
        "places: {from: [ptp, eni], to: bridge, nodes: {x: a -> b, y: a -> a}, mesh: both}",
    ));
    let expected =
        ["ptp-bridge.x.both", "eni-bridge.x.both", "ptp-bridge.y.both", "eni-bridge.y.both"];
    assert_eq!(names(&one), expected);
    assert!(one.paths.iter().all(|path| path.mesh == MeshMode::Both));
}

#[test]
fn the_block_is_the_one_variant_without_variants() {
    let mesh =
        "{mtls: False, access_log: true, concurrency: 64, max-connections: 5, upstream: http2}";
    let expected = Variant {
        mtls: false,
        access_log: true,
        concurrency: 64,
        max_connections: Some(5),
        upstream: HttpVersion::Http2,
        name: "custom".to_owned(),
        ..Variant::plain()
    };
    assert_eq!(variants(mesh), [expected]);
    for (mesh, name) in [
        ("{mtls: false}", "no-mtls"),
        ("{policy-check: true, policy-report: true}", "policy-check+policy-report"),
        ("{concurrency: 4}", "concurrency=4"),
        ("{concurrency: 2, mtls: true}", "plain"),
    ] {
        let paths = plan(&meshed(mesh)).paths;
        let way = if name == "plain" {
            "direct, mesh both".to_owned()
        } else {
            format!("direct, mesh both, variant {name}")
        };
        assert_eq!(paths[0].way(), way);
    }
    assert_eq!(variants("{}"), [Variant::plain()]);
    assert_eq!(names(&plan(&meshed(mesh))), ["p"], "one variant leaves names alone");
    assert_eq!(
        names(&plan(&meshed("{variants: [stats]}"))),
        ["p"],
        "one variant leaves names alone"
    );
}

#[test]
fn known_variants_are_what_they_are_over_what_holds_for_all() {
    let known =
        |name: &str| Variant::known().into_iter().find(|v| v.name == name).expect("a known one");
    let all = "[plain, stats, access-log, policy-check, policy-report, no-mtls, http2]";
    let expected =
        ["plain", "stats", "access-log", "policy-check", "policy-report", "no-mtls", "http2"]
            .map(known);
    assert_eq!(variants(&format!("{{variants: {all}}}")), expected);
    assert_eq!(expected.len(), Variant::known().len(), "each of them");
    let over = variants(&format!("{{concurrency: 1, max-connections: 9, variants: {all}}}"));
    for (over, known) in over.iter().zip(expected) {
        assert_eq!(*over, Variant { concurrency: 1, max_connections: Some(9), ..known });
    }
    let over = variants("{mtls: false, stats: true, variants: [http2, policy-check]}");
    for (over, name) in over.iter().zip(["http2", "policy-check"]) {
        assert_eq!(*over, Variant { mtls: false, stats: true, ..known(name) });
    }
    assert_eq!(variants("{variants: http2}"), [known("http2")], "one needs no list");
}

#[test]
fn described_variants_are_what_they_say_over_what_holds_for_all() {
    let mesh = "{concurrency: 4, max-connections: 7, variants: {mixer: {policy-check: true, \
                policy_report: true}, few: {max-connections: 1, concurrency: 2}, same: {}, stats: \
                , http2: {upstream: http2}}}";
    let base = Variant { concurrency: 4, max_connections: Some(7), ..Variant::plain() };
    let named = |name: &str| Variant { name: name.to_owned(), ..base.clone() };
    let expected = [
        Variant { policy_check: true, policy_report: true, ..named("mixer") },
        Variant { max_connections: Some(1), concurrency: 2, ..named("few") },
        named("same"),
        Variant { stats: true, ..named("stats") },
        Variant { upstream: HttpVersion::Http2, ..named("http2") },
    ];
    assert_eq!(variants(mesh), expected);
}

#[test]
fn several_variants_are_a_path_each_and_names_mean_the_parts() {
    let text = "name: x\nbaseline: both.plain\na-a: false\npaths:\n  none: bridge@a -> bridge@b\n  \
                both: bridge@a -> bridge@b mesh both\n  in: bridge@a -> bridge@b via gateway@c\n\
                mesh: {variants: [stats, plain]}\n\
                workloads:\n  all: rr\n  some: {stream: {}, paths: [both.*]}\n  \
                one: {http: {}, paths: in.stats}\n";
    let plan = plan(text);
    assert_eq!(names(&plan), ["none", "both.stats", "both.plain", "in.stats", "in.plain"]);
    let cells: Vec<String> = plan
        .cells
        .iter()
        .map(|cell| plan.at(*cell))
        .map(|(path, point)| format!("{} {}", path.name, point.workload))
        .collect();
    assert_eq!(
        cells,
        [
            "none all",
            "both.stats all",
            "both.stats some",
            "both.plain all",
            "both.plain some",
            "in.stats all",
            "in.stats one",
            "in.plain all"
        ]
    );
    for path in &plan.paths {
        let variant = path.variant.as_ref().map(|v| v.name.as_str());
        assert_eq!(variant, path.name.split_once('.').map(|(_, variant)| variant));
    }
}

#[test]
fn wrong_modes_and_ends() {
    let rows = r"
        paths: {p: bridge@a -> bridge@b mesh bth}
            x.yaml:2:12: paths.p: found `bth`, expected one of none, server, client, both; did you
                mean `both`?
        paths: {p: {from: bridge@a, to: bridge@b, mesh: sever}}
            x.yaml:2:49: paths.p.mesh: found `sever`, expected one of none, server, client, both;
                did you mean `server`?
        paths: {p: {from: bridge@a, to: bridge@b, mesh: [both]}}
            x.yaml:2:49: paths.p.mesh: found a list, expected none, server, client or both
        paths: {p: bridge@a -> bridge@b via gatway@c}
            x.yaml:2:12: paths.p: found `gatway@c`, expected one of direct, cluster-ip, node-port@c,
                gateway@c, load-balancer, address@HOST:PORT; did you mean `gateway@c`?
        testbed: {lab: {nodes: 2}}\npaths: {p: bridge@a -> bridge@b via gateway@c}
            x.yaml:3:12: paths.p: found `c`, expected one of a, b; did you mean `a`?
        paths: {p: {from: bridge@a, to: host@b, mesh: both}}
            x.yaml:2:47: paths.p.mesh: found mesh both with the server on `host@b`, expected a pod
                for the server's sidecar; host is none
        paths: {p: host@a -> host@b mesh both}
            x.yaml:2:12: paths.p: found mesh both with the client on `host@a`, expected a pod for
                the client's sidecar; host is none
            x.yaml:2:12: paths.p: found mesh both with the server on `host@b`, expected a pod for
                the server's sidecar; host is none
        paths: {p: bridge+runsc@a -> bridge@b mesh client}
            x.yaml:2:12: paths.p: found mesh client with the client on `bridge+runsc@a`, expected a
                pod without a runtime for the client's sidecar: runsc takes the pod's network over
        paths: {p: bridge@a -> bridge@b via gateway@c mesh both}
            x.yaml:2:12: paths.p: found mesh both via gateway@c, expected mesh none or server: a
                gateway's clients are outside of the mesh
        places: {kinds: [host, bridge], mesh: [none, server]}
            x.yaml:2:39: places.mesh: found mesh server with the server on `host@b`, expected a pod
                for the server's sidecar; host is none
        places: {kinds: [bridge], mesh: [none, al]}
            x.yaml:2:40: places.mesh: found `al`, expected one of none, server, client, both
        places: {kinds: [bridge], mesh: [both, both]}
            x.yaml:2:9: paths: found two paths called `bridge-bridge.both`, expected each path once
    ";
    compare(rows, on);
    // What the other end is does not matter.
    for right in
        ["bridge+runsc@a -> bridge@b mesh server", "bridge@a -> bridge+runsc@b mesh client"]
    {
        assert_eq!(path(right).variant, Some(Variant::plain()));
    }
}

#[test]
fn wrong_blocks() {
    let rows = r#"
        ""
            x.yaml:3:1: mesh: found nothing, expected a mapping like {mtls: true, variants: [plain,
                stats]}
        {tls: true}
            x.yaml:3:8: mesh.tls: found `tls`, expected one of mtls, stats, access-log,
                policy-check, policy-report, concurrency, max-connections, upstream, lua,
                annotations, variants; did you mean `mtls`?
        {mtls: yes}
            x.yaml:3:14: mesh.mtls: found `yes`, expected true or false
        {concurrency: 0}
            x.yaml:3:21: mesh.concurrency: found `0`, expected 1 to 64 worker threads
        {concurrency: 65}
            x.yaml:3:21: mesh.concurrency: found `65`, expected 1 to 64 worker threads
        {max-connections: 0}
            x.yaml:3:25: mesh.max-connections: found `0`, expected a whole number from 1 to
                4294967295
        {upstream: htp2}
            x.yaml:3:18: mesh.upstream: found `htp2`, expected one of http1, http2; did you mean
                `http2`?
        {upstream: [http1]}
            x.yaml:3:18: mesh.upstream: found a list, expected http1 or http2
        {variants: [plain, stat]}
            x.yaml:3:26: mesh.variants: found `stat`, expected one of stats, access-log,
                policy-check, policy-report, no-mtls, http2, plain; did you mean `stats`?
        {variants: acess-log}
            x.yaml:3:18: mesh.variants: found `acess-log`, expected one of stats, access-log,
                policy-check, policy-report, no-mtls, http2, plain; did you mean `access-log`?
        {variants: [plain, plain]}
            x.yaml:3:26: mesh.variants: found `plain` a second time, expected each variant once
        {variants: [[plain]]}
            x.yaml:3:19: mesh.variants: found a list, expected the name of a known variant
        {variants: []}
            x.yaml:3:18: mesh.variants: found an empty list, expected a list of known variants like
                [plain, stats], or a mapping from names to what they do
        {variants: }
            x.yaml:3:8: mesh.variants: found nothing, expected a list of known variants like [plain,
                stats], or a mapping from names to what they do
        {variants: {}}
            x.yaml:3:18: mesh.variants: found an empty mapping, expected a list of known variants
                like [plain, stats], or a mapping from names to what they do
        {variants: {a b: {}}}
            x.yaml:3:19: mesh.variants: found `a b`, expected a name of at most 64 letters, digits
                and -_.+ that starts with a letter or digit
        {variants: {a: {}, a: {}}}
            x.yaml:3:26: mesh.variants.a: found `a` a second time, expected each key once
        {variants: {mixer: }}
            x.yaml:3:19: mesh.variants.mixer: found nothing, expected what its proxies do, like
                {stats: true}; none of stats, access-log, policy-check, policy-report, no-mtls,
                http2, plain is called so
        {variants: {plain: {mtls: false}}}
            x.yaml:3:19: mesh.variants: found `plain` as no TLS, any HTTP, 2 workers, expected
                another name: `plain` is known as mTLS, any HTTP, 2 workers
        {concurrency: 4, variants: {no-mtls: {mtls: true}}}
            x.yaml:3:35: mesh.variants: found `no-mtls` as mTLS, any HTTP, 4 workers, expected
                another name: `no-mtls` is known as no TLS, any HTTP, 4 workers
        {variants: {plain: , own: {concurrency: 2}}}
            x.yaml:3:28: mesh.variants: found `own` with the settings of `plain`, expected variants
                that differ
        {mtls: false, variants: [plain, stats, no-mtls]}
            x.yaml:3:46: mesh.variants: found `no-mtls` with the settings of `plain`, expected
                variants that differ
        {variants: {mixer: stats}}
            x.yaml:3:26: mesh.variants.mixer: found `stats`, expected what its proxies do, like
                {stats: true}
        {variants: {mixer: {policy: true}}}
            x.yaml:3:27: mesh.variants.mixer.policy: found `policy`, expected one of mtls, stats,
                access-log, policy-check, policy-report, concurrency, max-connections, upstream,
                lua, annotations
        {variants: {mixer: {stats: maybe, concurrency: 100}}}
            x.yaml:3:34: mesh.variants.mixer.stats: found `maybe`, expected true or false
            x.yaml:3:54: mesh.variants.mixer.concurrency: found `100`, expected 1 to 64 worker
                threads
    "#;
    compare(rows, meshed);
}

#[test]
fn names_that_no_path_has_once_it_is_split() {
    let text = |baseline: &str, paths: &str| {
        format!(
            "name: x\nbaseline: {baseline}\npaths: {{none: bridge@a -> bridge@b, both: bridge@a -> \
             bridge@b mesh both}}\n\
             mesh: {{variants: [plain, stats]}}\n\
             workloads: {{w: {{rr: {{}}, paths: [none, {paths}]}}}}\n"
        )
    };
    assert_eq!(
        told(&text("both", "both")),
        "x.yaml:2:11: baseline: found `both`, which is a path for each variant, expected one of \
         both.plain, both.stats\n\
         x.yaml:5:39: workloads.w.paths: found `both`, which is a path for each variant, expected \
         one of both.plain, both.stats"
    );
    assert_eq!(
        told(&text("both.stat", "both.*")),
        "x.yaml:2:11: baseline: found `both.stat`, expected one of none, both.plain, both.stats; \
         did you mean `both.stats`?"
    );
    assert_eq!(told(&text("none", "both*")), "nothing is wrong");
}

#[test]
fn a_path_called_like_a_part_of_another() {
    let text = "name: x\npaths:\n  both.stats: bridge@a -> bridge@b\n  \
                both: bridge@a -> bridge@b mesh both\n\
                mesh: {variants: [plain, stats]}\nworkloads: {w: rr}\n";
    assert_eq!(
        told(text),
        "x.yaml:4:3: paths: found two paths called `both.stats`; one is `both` with the variant \
         `stats`, expected each path once"
    );
    assert_eq!(
        told(&text.replace("plain, stats", "stats")),
        "nothing is wrong",
        "one variant leaves names alone"
    );
}

#[test]
fn a_block_that_no_path_is_for() {
    let unused = "x.yaml:3:7: mesh: found no path that it is for, expected one with mesh server, \
                  client, both or via gateway@NODE";
    let text = |path: &str| on(&format!("paths: {{p: {path}}}\nmesh: {{mtls: false}}"));
    for path in ["bridge@a -> bridge@b", "host@a -> bridge@b via node-port@c mesh none"] {
        assert_eq!(told(&text(path)), unused, "{path}");
    }
    for path in ["bridge@a -> bridge@b via gateway@c", "bridge@a -> bridge@b mesh client"] {
        assert_eq!(told(&text(path)), "nothing is wrong", "{path}");
    }
}

#[test]
fn everything_at_once_in_the_files_order() {
    let text = "name: x\npaths:\n  p: host@a -> bridge@b mesh both\n  \
                q: bridge@a -> bridge@b mesh al\n\
                mesh: {mtls: 1, variants: [stat]}\nworkloads: {w: {rr: {siez: 1}}}\n";
    let told = told(text);
    let places: Vec<&str> =
        told.lines().map(|line| line.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(
        places,
        ["x.yaml:3:6", "x.yaml:4:6", "x.yaml:5:14", "x.yaml:5:28", "x.yaml:6:22"],
        "{told}"
    );
}
