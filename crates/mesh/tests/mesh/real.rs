//! The real Envoy with the bootstraps: two sidecars on one loopback, redirected to as in pods, and
//! a gateway.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hopbench_mesh::{
    AdminAddress, App, Exposed, INBOUND, Listener, MARK, OUTBOUND, Protocol, ProxySpec, SPIFFE,
    Upstream, exposed,
};
use hopbench_model::{HttpVersion, MeshMode, Variant};

use crate::descriptions::{Authority, identity, one_way, route};
use crate::envoy::{self, Envoy};
use crate::inside::{inside, shell};
use crate::peers::{self, Seen, app, connect, echo, get, is_closed};

const AGENT: u16 = 7474;
const PROGRAM: u16 = 7480;

/// The sidecars of two pods. Both pods are this loopback: whose packets they are is told by the
/// mark.
struct Pair {
    client: Envoy,
    server: Envoy,
}

const SERVERS_MARK: u32 = MARK + 1;

fn intercept() {
    let ports = |wanted: fn(MeshMode) -> bool| {
        let ports = exposed().filter(|one| wanted(one.mode)).map(|one| one.port().to_string());
        ports.collect::<Vec<_>>().join(", ")
    };
    let (client, server) = (ports(MeshMode::has_client), ports(MeshMode::has_server));
    let only_server = ports(|mode| mode == MeshMode::Server);
    let rules = format!(
        "table ip mesh {{
            chain output {{
                type nat hook output priority -100
                meta mark {SERVERS_MARK} return
                meta mark {MARK} tcp dport {{ {server} }} redirect to :{INBOUND}
                meta mark {MARK} return
                tcp dport {{ {client} }} redirect to :{OUTBOUND}
                tcp dport {{ {only_server} }} redirect to :{INBOUND}
            }}
        }}"
    );
    shell(&format!("nft '{rules}'")).unwrap();
}

fn sidecar(variant: &Variant, way: &str) -> ProxySpec {
    let mut proxy = one_way(variant, way);
    for route in &mut proxy.listeners[0].routes {
        route.address = route.address.map(|_| Ipv4Addr::LOCALHOST.into());
    }
    ProxySpec { admin: AdminAddress::Pipe(format!("@{way}")), identity: Some(identity()), ..proxy }
}

impl Pair {
    fn start(envoy: &Path, variant: &Variant) -> Self {
        let client = Envoy::start(envoy, sidecar(variant, "outbound"));
        let server = Envoy::start(
            envoy,
            ProxySpec { mark: Some(SERVERS_MARK), ..sidecar(variant, "inbound") },
        );
        Self { client, server }
    }
}

fn agent_and_program() -> (Arc<Seen>, Arc<Seen>) {
    (app(AGENT, peers::App::Answers), app(PROGRAM, peers::App::Answers))
}

fn port(app: App, protocol: Protocol, mode: MeshMode) -> u16 {
    Exposed { app, protocol, mode }.port()
}

/// Those of the counters that are named here.
fn of<const N: usize>(counters: &BTreeMap<String, u64>, names: [&str; N]) -> [u64; N] {
    names.map(|name| counters[name])
}

const MODES: [MeshMode; 3] = [MeshMode::Server, MeshMode::Client, MeshMode::Both];

/// Traffic through each mode: 3 requests in a connection, and 2 connections of one byte. What is
/// counted must be what was sent, at each sidecar that the mode names, and nothing at others.
fn all_modes(envoy: &Path, variant: &Variant, (agent, program): (&Seen, &Seen)) -> Pair {
    let pair = Pair::start(envoy, variant);
    let before =
        (program.requests.load(Ordering::SeqCst), agent.connections.load(Ordering::SeqCst));
    for mode in MODES {
        let socket = connect(port(App::Program, Protocol::Http, mode));
        for _ in 0..3 {
            assert_eq!(get(&socket, "/"), (200, None), "{} {mode}", variant.name);
        }
        for _ in 0..2 {
            echo(&mut connect(port(App::Agent, Protocol::Tcp, mode)));
        }
    }
    let after = (program.requests.load(Ordering::SeqCst), agent.connections.load(Ordering::SeqCst));
    assert_eq!((after.0 - before.0, after.1 - before.1), (9, 6));
    let more = |pair: &Pair| pair.client.counters()["upstream_connections"] - 6;
    assert_eq!(pair.client.counters()["downstream_connections"], 6);
    assert!(
        (6..=6 + more(&pair)).contains(&pair.server.counters()["downstream_connections"]),
        "{}",
        variant.name
    );
    for sidecar in [&pair.client, &pair.server] {
        let counters = sidecar.counters();
        assert_eq!(
            of(&counters, ["requests", "upstream_requests"]),
            [6; 2],
            "{}: {counters:?}",
            variant.name
        );
        // A request that comes before Envoy has put back the connection of the one before gets
        // another one.
        let upstream = counters["upstream_connections"];
        assert!((6..=10).contains(&upstream), "{}: {counters:?}", variant.name);
        assert_eq!(counters["upstream_connects"], upstream);
        let handshakes = counters["tls_handshakes"];
        assert!(
            if variant.mtls { (3..=5).contains(&handshakes) } else { handshakes == 0 },
            "{}",
            variant.name
        );
        let bad = [
            "upstream_connect_failures",
            "upstream_resets",
            "tls_failures",
            "responses_5xx",
            "retries",
        ];
        assert_eq!(of(&counters, bad), [0; 5], "{}", variant.name);
        assert_eq!(sidecar.log(), "", "{}: nothing to warn about", variant.name);
    }
    pair
}

#[test]
fn sidecars_pass_and_count_every_mode_and_protocol() {
    let Some(envoy) = envoy::program() else {
        return;
    };
    inside(|| {
        intercept();
        let (agent, program) = agent_and_program();
        for variant in Variant::known() {
            // The services are not here.
            if variant.policy_check {
                continue;
            }
            let pair = all_modes(&envoy, &variant, (&agent, &program));
            let gauges = hopbench_mesh::gauges(&pair.client.stats()).unwrap();
            assert_eq!(gauges["workers"], f64::from(variant.concurrency));
            assert!(
                gauges["allocated_bytes"] > 1e6
                    && gauges["heap_bytes"] >= gauges["allocated_bytes"]
            );
        }
    });
}

#[test]
fn the_access_log_tells_what_was_spoken() {
    let Some(envoy) = envoy::program() else {
        return;
    };
    inside(|| {
        intercept();
        let (agent, program) = agent_and_program();
        let plain = Variant { access_log: true, stats: true, ..Variant::plain() };
        for (upstream, spoken) in [(HttpVersion::Http1, "HTTP/1.1"), (HttpVersion::Http2, "HTTP/2")]
        {
            let Pair { client, server } =
                all_modes(&envoy, &Variant { upstream, ..plain.clone() }, (&agent, &program));
            let (client, server) = (client.ended_access_log(), server.ended_access_log());
            let lines = |log: &str, of: &str| log.lines().filter(|line| line.contains(of)).count();
            let named = |mode| format!("cluster=in-{}", port(App::Program, Protocol::Http, mode));
            let of = |mode| {
                server.lines().filter(move |line| line.contains(&named(mode))).collect::<Vec<_>>()
            };
            assert_eq!((lines(&client, "GET / "), lines(&client, " tcp ")), (6, 4), "{client}");
            assert_eq!((lines(&server, "GET / "), lines(&server, " tcp ")), (6, 4), "{server}");
            let peer = format!("peer={SPIFFE}lab/one");
            for line in of(MeshMode::Both) {
                assert!(
                    line.contains(&format!(" {spoken} status=200 flags=- "))
                        && line.ends_with(&peer),
                    "{line}"
                );
            }
            for line in of(MeshMode::Server) {
                assert!(
                    line.contains(" HTTP/1.1 status=200 ") && line.ends_with("peer=-"),
                    "{line}"
                );
            }
            assert_eq!((of(MeshMode::Both).len(), of(MeshMode::Server).len()), (3, 3));
        }
    });
}

#[test]
fn errors_say_who_made_them() {
    let Some(envoy) = envoy::program() else {
        return;
    };
    inside(|| {
        intercept();
        let pair = Pair::start(&envoy, &Variant::plain());
        // Nobody listens yet.
        let flagged = |status, flags: &str| (status, Some(flags.to_owned()));
        for mode in MODES {
            let socket = connect(port(App::Program, Protocol::Http, mode));
            assert_eq!(get(&socket, "/"), flagged(503, "UF"), "{mode}");
            assert!(is_closed(&mut connect(port(App::Agent, Protocol::Tcp, mode))), "{mode}");
        }
        assert_eq!(
            of(&pair.server.counters(), ["upstream_connect_failures", "responses_5xx"]),
            [4, 2]
        );
        // When the server's sidecar closes during the handshake, that is a failure to connect, too.
        let [failures, errors] =
            of(&pair.client.counters(), ["upstream_connect_failures", "responses_5xx"]);
        assert!((2..=3).contains(&failures) && errors == 2, "{failures} {errors}");
        // The connections are kept: the same routes work as soon as somebody listens.
        let (_agent, _program) = agent_and_program();
        for mode in MODES {
            let socket = connect(port(App::Program, Protocol::Http, mode));
            assert_eq!(get(&socket, "/"), (200, None), "{mode}");
            assert_eq!(get(&socket, "/missing"), (404, None), "{mode}: the application's own");
            assert_eq!(get(&socket, "/close"), flagged(503, "UC"), "{mode}");
        }
        assert_eq!(of(&pair.server.counters(), ["upstream_resets", "requests"]), [2, 8]);
        // What was meant for no route.
        for listener in [INBOUND, OUTBOUND] {
            assert!(is_closed(&mut connect(listener)));
        }
        assert_eq!(pair.server.counters()["requests"], 8);
    });
}

#[test]
fn strangers_are_refused() {
    let Some(envoy) = envoy::program() else {
        return;
    };
    inside(|| {
        intercept();
        let (_agent, program) = agent_and_program();
        let ours = Authority::new();
        let other = Authority::new().identity(&format!("{SPIFFE}lab/a"));
        let server = ProxySpec {
            mark: Some(SERVERS_MARK),
            identity: Some(ours.identity(&format!("{SPIFFE}lab/b"))),
            ..sidecar(&Variant::plain(), "inbound")
        };
        let server = Envoy::start(&envoy, server);
        let as_client = |identity| {
            let client =
                ProxySpec { identity: Some(identity), ..sidecar(&Variant::plain(), "outbound") };
            let client = Envoy::start(&envoy, client);
            let answer = get(&connect(port(App::Program, Protocol::Http, MeshMode::Both)), "/");
            (answer, client.counters())
        };
        // Of another authority: each refuses the other. Of another mesh: the server refuses.
        let (answer, counters) = as_client(other);
        assert_eq!((answer.0, counters["tls_failures"]), (503, 1), "{answer:?}");
        let failures = server.counters()["tls_failures"];
        assert!(failures >= 1);
        let (answer, _) = as_client(ours.identity("spiffe://elsewhere/lab/a"));
        assert_eq!(answer.0, 503, "{answer:?}");
        assert!(server.counters()["tls_failures"] > failures);
        assert_eq!(program.requests.load(Ordering::SeqCst), 0);
        let (answer, counters) = as_client(ours.identity(&format!("{SPIFFE}lab/a")));
        assert_eq!((answer, counters["tls_handshakes"]), ((200, None), 1));
    });
}

#[test]
fn gateways_spread_limit_and_let_servers_speak_first() {
    let Some(envoy) = envoy::program() else {
        return;
    };
    inside(|| {
        let to = |ports: &[u16]| {
            Upstream::Endpoints(ports.iter().map(|port| ([127, 0, 0, 1], *port).into()).collect())
        };
        let routes = vec![
            route("web", 8000, Protocol::Http, to(&[PROGRAM, PROGRAM + 1])),
            route("bytes", 8001, Protocol::Tcp, to(&[AGENT])),
            route("first", 8002, Protocol::Tcp, to(&[AGENT + 1])),
            route("dead", 8003, Protocol::Http, to(&[9])),
        ];
        let listener = Listener {
            name: "gateway".to_owned(),
            port: 8000,
            addresses: vec![Ipv4Addr::UNSPECIFIED.into()],
            redirected: false,
            edge: true,
            routes,
        };
        let variant = Variant { max_connections: Some(2), concurrency: 1, ..Variant::plain() };
        let gateway =
            ProxySpec { listeners: vec![listener], mark: None, ..sidecar(&variant, "outbound") };
        let gateway = Envoy::start(&envoy, gateway);
        let servers = [PROGRAM, PROGRAM + 1].map(|port| app(port, peers::App::Answers));
        let _agent = app(AGENT, peers::App::Answers);
        let _first = app(AGENT + 1, peers::App::SpeaksFirst);

        // Beyond two connections requests wait, and all are answered, half by each server.
        let clients: Vec<_> =
            (0..6).map(|_| std::thread::spawn(|| get(&connect(8000), "/slow"))).collect();
        for client in clients {
            assert_eq!(client.join().unwrap(), (200, None));
        }
        let seen = servers.each_ref().map(|seen| seen.requests.load(Ordering::SeqCst));
        assert_eq!(seen, [3, 3]);
        assert!(servers.iter().all(|seen| seen.connections.load(Ordering::SeqCst) <= 2));

        // Beyond two, connections of bytes are closed.
        let mut held = [connect(8001), connect(8001)];
        held.iter_mut().for_each(echo);
        assert!(is_closed(&mut connect(8001)));
        held.iter_mut().for_each(echo);

        let mut first = connect(8002);
        let mut byte = [0];
        std::io::Read::read_exact(&mut first, &mut byte).unwrap();
        assert_eq!(&byte, b"!");
        echo(&mut first);

        assert_eq!(get(&connect(8003), "/"), (503, Some("UF".to_owned())));
        let counters = gateway.counters();
        assert!(counters["upstream_overflows"] >= 1, "{counters:?}");
        assert_eq!(
            of(&counters, ["downstream_connections", "requests", "upstream_requests"]),
            [11, 7, 6]
        );
    });
}
