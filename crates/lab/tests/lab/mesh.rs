//! The lab's proxies: every mode, protocol and way with the real Envoy, and broken on purpose.

mod http;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hopbench_lab::{KINDS, Lab};
use hopbench_model::{Gateways, IpFamily, MeshMode, Path, ServerSpec, Variant, Via};
use hopbench_testbed::{Need, Proxy, Route, Testbed, proxy_growth};

use crate::inside::{skip, skip_unless, this_test};
use crate::plans::{agent, job, meshed, path, plan, point, spec};
use crate::traffic::{self, Trial, echo, echo_of, echo_to, has_ipv6, once_each, watched};

/// Runs `body` in a sandbox where there is an Envoy.
fn inside(body: impl FnOnce()) {
    let spec = spec();
    let meshed = meshed("bridge@a", "bridge@b", Via::Direct, MeshMode::Both, &Variant::plain());
    let needs =
        Lab::new(&spec, None).missing(&plan(&spec, vec![meshed], vec![point("rr", agent())]));
    match needs.iter().find(|need| ["envoy", "nft"].contains(&need.what.as_str())) {
        Some(need) => {
            let variable = if need.what == "envoy" {
                "HOPBENCH_REQUIRE_ENVOY"
            } else {
                "HOPBENCH_REQUIRE_NETNS"
            };
            let why = format!("{} is missing: {}; {}", need.what, need.why, need.remedy);
            skip_unless(variable, &this_test(), &why);
        }
        None => crate::inside::inside(body),
    }
}

/// A lab of these paths with its proxies, for both protocols.
fn built(paths: &[Path]) -> Lab {
    let spec = spec();
    let mut lab = Lab::new(&spec, None);
    let plan = plan(&spec, paths.to_vec(), vec![point("rr", agent()), point("http", agent())]);
    assert_eq!(lab.missing(&plan), []);
    lab.build(&plan).expect("a lab");
    lab
}

/// Requests over a path.
fn ask(lab: &mut Lab, path: &Path, connections: u32, requests: u32) -> Result<Trial, String> {
    let route = lab.route(path, &point("http", agent())).map_err(|e| e.to_string())?;
    watched(lab, route, job("http", connections), |lab, route| {
        http::http(lab, route, connections, requests)
    })
}

const NODE_PORT: fn() -> Via = || Via::NodePort("c".to_owned());

#[test]
fn every_mode_carries_both_protocols_every_way_and_proves_it() {
    inside(|| {
        let plain = Variant::plain();
        let mut paths = vec![path("bridge@a", "bridge@b", Via::Direct)];
        for mode in [MeshMode::Server, MeshMode::Client, MeshMode::Both] {
            for via in [Via::Direct, Via::ClusterIp, NODE_PORT()] {
                paths.push(meshed("bridge@a", "bridge@b", via, mode, &plain));
            }
        }
        for mode in [MeshMode::None, MeshMode::Server] {
            let gateway =
                meshed("bridge@a", "bridge@b", Via::Gateway("c".to_owned()), mode, &plain);
            let gateways = Some(Gateways { count: 3, more_nodes: Vec::new() });
            let name = format!("{}-x3", gateway.name);
            paths.extend([Path { name, gateways, ..gateway.clone() }, gateway]);
        }
        for path in paths.iter_mut().filter(|path| path.via != Via::Direct) {
            (path.clients, path.backends) = (2, 2);
        }
        let start = Instant::now();
        let mut lab = built(&paths);
        eprintln!("up in {:?}", start.elapsed());
        let mut failures = Vec::new();
        // Twice: what a trial leaves behind must not be taken for the next one's.
        for path in paths.iter().chain(&paths) {
            for http in [false, true] {
                let trial = if http { ask(&mut lab, path, 3, 4) } else { echo(&mut lab, path, 3) };
                match trial.map(|trial| (trial.doubts(&lab), trial)) {
                    Ok((doubts, trial)) if doubts.is_empty() => {
                        let named = trial.route.proxies.iter().filter(|proxy| proxy.named).count();
                        let clients = if path.mesh.has_client() { path.clients } else { 0 };
                        let servers = if path.mesh.has_server() { path.backends } else { 0 };
                        let one = u32::from(matches!(path.via, Via::Gateway(_)));
                        let gateways = path.gateways.as_ref().map_or(one, |all| all.count);
                        assert_eq!(named as u32, clients + servers + gateways, "{}", path.name);
                    }
                    Ok((doubts, trial)) => {
                        failures.push(format!(
                            "{} http {http}: {:?} {doubts:#?}",
                            path.name, trial.route.hops
                        ));
                    }
                    Err(error) => failures.push(format!("{} http {http}: {error}", path.name)),
                }
            }
        }
        assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    });
}

#[test]
fn sidecars_are_up_and_proved_soon() {
    inside(|| {
        let both = meshed("bridge@a", "bridge@b", Via::Direct, MeshMode::Both, &Variant::plain());
        let mut times = Vec::new();
        for _ in 0..3 {
            let start = Instant::now();
            let mut lab = built(std::slice::from_ref(&both));
            assert_eq!(echo(&mut lab, &both, 1).expect("traffic").doubts(&lab), []);
            times.push(start.elapsed());
            let facts = lab.facts();
            assert_eq!(facts["pod bridge@a sidecar"], "variant plain");
            let route = lab.route(&both, &point("rr", agent())).expect("a route");
            let gauges = lab.gauges(&route).expect("gauges");
            assert_eq!(gauges.keys().collect::<Vec<_>>(), ["client-sidecar", "server-sidecar"]);
            assert!(
                gauges.values().all(|of_proxy| of_proxy["allocated_bytes"] > 1e6),
                "{gauges:?}"
            );
        }
        eprintln!("a lab with two sidecars, up and proved: {times:?}");
        assert!(times.iter().any(|time| *time < Duration::from_millis(1500)), "{times:?}");
    });
}

#[test]
fn one_byte_and_much_in_one_direction_pass_the_sidecars() {
    inside(|| {
        let both = meshed("bridge@a", "bridge@b", Via::Direct, MeshMode::Both, &Variant::plain());
        let mut lab = built(std::slice::from_ref(&both));
        for bytes in [1, 3_000_000] {
            assert_eq!(
                echo_of(&mut lab, &both, 2, bytes).expect("traffic").doubts(&lab),
                [],
                "{bytes}"
            );
        }
    });
}

#[test]
fn a_server_program_is_reached_through_every_proxy() {
    if hopbench_lab::find("nginx").is_none() {
        return skip_unless("HOPBENCH_REQUIRE_TOOLS", &this_test(), "`nginx` is not installed");
    }
    inside(|| {
        let plain = Variant::plain();
        let mut paths = vec![meshed(
            "bridge@a",
            "bridge@b",
            Via::Gateway("c".to_owned()),
            MeshMode::Server,
            &plain,
        )];
        for mode in [MeshMode::Server, MeshMode::Client, MeshMode::Both] {
            paths.extend(
                [Via::Direct, Via::ClusterIp, NODE_PORT()]
                    .map(|via| meshed("bridge@a", "bridge@b", via, mode, &plain)),
            );
        }
        let nginx = ServerSpec {
            program: "nginx".to_owned(),
            request: "/bytes/5000".to_owned(),
            response_bytes: Some(5000),
        };
        let spec = spec();
        let mut lab = Lab::new(&spec, None);
        lab.build(&plan(&spec, paths.clone(), vec![point("http", nginx.clone())])).expect("a lab");
        for path in &paths {
            let route = lab.route(path, &point("http", nginx.clone())).expect("a route");
            assert!(!route.programs.is_empty());
            let trial =
                watched(&mut lab, route, job("http", 2), |lab, route| http::http(lab, route, 2, 5));
            assert_eq!(trial.expect("traffic").doubts(&lab), [], "{}", path.name);
        }
    });
}

#[test]
fn every_kind_of_network_takes_sidecars_and_gateways() {
    inside(|| {
        let plain = Variant::plain();
        let kinds: Vec<&str> =
            KINDS.iter().map(|kind| kind.name()).filter(|name| *name != "host").collect();
        let mut paths = Vec::new();
        for kind in kinds {
            let (from, to) = (format!("{kind}@a"), format!("{kind}@b"));
            paths.push(meshed(&from, &to, Via::Direct, MeshMode::Both, &plain));
            paths.push(meshed(&from, &to, Via::Gateway("c".to_owned()), MeshMode::Server, &plain));
        }
        // Ends without a sidecar may be anywhere, and a pod may be both ends.
        paths.push(meshed("host@a", "bridge@b", Via::Direct, MeshMode::Server, &plain));
        paths.push(meshed("bridge@a", "host@b", Via::Direct, MeshMode::Client, &plain));
        paths.push(meshed("bridge@a", "host@b", Via::ClusterIp, MeshMode::Client, &plain));
        paths.push(meshed("bridge@b", "bridge@a", NODE_PORT(), MeshMode::Both, &plain));
        paths.push(meshed("bridge@a", "bridge@a", Via::ClusterIp, MeshMode::Both, &plain));
        let by_ipv6 = paths.clone().into_iter().map(|path| Path {
            name: format!("{}-by-ipv6", path.name),
            family: Some(IpFamily::Ipv6),
            ..path
        });
        if has_ipv6() {
            paths.extend(by_ipv6.collect::<Vec<_>>());
        }
        let mut lab = built(&paths);
        let mut failures = Vec::new();
        for path in &paths {
            for trial in [echo(&mut lab, path, 2), ask(&mut lab, path, 2, 2)] {
                match trial.map(|trial| trial.doubts(&lab)) {
                    Ok(doubts) if doubts.is_empty() => {}
                    other => failures.push(format!("{}: {other:#?}", path.name)),
                }
            }
        }
        assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    });
}

#[test]
fn variants_have_pods_of_their_own_and_all_carry_the_same() {
    let Some(program) = program() else { return };
    inside(|| {
        let mut paths = Vec::new();
        for variant in Variant::known() {
            paths.push(meshed("bridge@a", "bridge@b", Via::Direct, MeshMode::Both, &variant));
            paths.push(meshed(
                "bridge@a",
                "bridge@b",
                Via::Gateway("c".to_owned()),
                MeshMode::Server,
                &variant,
            ));
            paths.push(meshed("bridge@a", "bridge@b", Via::Direct, MeshMode::Client, &variant));
        }
        let spec = spec();
        let mut lab = Lab::with_agent(&spec, None, program);
        let plan = plan(&spec, paths.clone(), vec![point("rr", agent()), point("http", agent())]);
        lab.build(&plan).expect("a lab");
        let mut pods = BTreeSet::new();
        for path in &paths {
            let variant = path.variant.as_ref().expect("a variant");
            for http in [true, false] {
                let trial = if http { ask(&mut lab, path, 3, 4) } else { echo(&mut lab, path, 3) };
                let trial = trial.unwrap_or_else(|error| panic!("{}: {error}", path.name));
                assert_eq!(trial.doubts(&lab), [], "{}", path.name);
                pods.insert((variant.name.clone(), trial.route.clients[0].clone()));
                let proxies = |name: &str| {
                    trial.route.proxies.iter().any(|proxy| proxy.name == name && proxy.named)
                };
                let asks = variant.policy_check && path.mesh != MeshMode::Client;
                assert_eq!(
                    (proxies("policy"), proxies("telemetry")),
                    (asks, variant.policy_report),
                    "{}",
                    path.name
                );
                let all = |counter: &str| -> u64 {
                    let of = |proxy: &Proxy| {
                        proxy_growth(&trial.before, &trial.after, &proxy.name).get(counter).copied()
                    };
                    trial.route.proxies.iter().filter_map(of).sum()
                };
                let carriers = if path.mesh == MeshMode::Client {
                    0
                } else if path.via == Via::Direct {
                    1
                } else {
                    2
                };
                let each = if http { 12 } else { 3 };
                let checks = if variant.policy_check { carriers * each } else { 0 };
                assert_eq!(
                    (all("policy_checks"), all("checks"), all("denied")),
                    (checks, checks, 0),
                    "{}",
                    path.name
                );
                let handshakes = path.mesh != MeshMode::Client && variant.mtls;
                // An HTTP connection between proxies is kept and may stand already.
                assert!(http || (all("tls_handshakes") > 0) == handshakes, "{}", path.name);
            }
        }
        let facts = lab.facts();
        let gateways =
            |text: &str| text.split(", ").filter(|pod| pod.contains("bridge@c/gateway")).count();
        let beside: Vec<usize> = facts
            .iter()
            .filter(|(name, _)| name.ends_with("shares CPUs with") && gateways(name) == 1)
            .map(|(_, pods)| gateways(pods))
            .collect();
        let all = if facts["node c cpus"] == "shared" { 0 } else { Variant::known().len() };
        assert_eq!(
            beside,
            vec![all.saturating_sub(1); all],
            "each gateway with the others on its node: {facts:?}"
        );
        assert_eq!(pods.len(), Variant::known().len(), "a client pod for each variant: {pods:?}");
        let names: BTreeSet<_> = pods.into_iter().map(|(_, pod)| pod).collect();
        assert_eq!(names.len(), Variant::known().len(), "{names:?}");
    });
}

/// Each path's proxies ask who is beside its own servers, and no link is excused but the way there.
#[test]
fn whoever_asks_can_get_there_and_it_is_proved() {
    let Some(program) = program() else { return };
    inside(|| {
        let asks = Variant {
            name: "asks".to_owned(),
            policy_check: true,
            policy_report: true,
            ..Variant::plain()
        };
        // A node's bridge and a pod on its NIC cannot talk, and a node port is reached over another
        // node.
        let paths = [
            meshed("bridge@a", "bridge@b", Via::Direct, MeshMode::Both, &asks),
            meshed("macvlan@a", "macvlan@b", Via::Direct, MeshMode::Both, &asks),
            meshed("overlay@a", "overlay@b", NODE_PORT(), MeshMode::Both, &asks),
            meshed("bridge@a", "overlay@b", Via::Direct, MeshMode::Client, &asks),
        ];
        let spec = spec();
        let mut lab = Lab::with_agent(&spec, None, program);
        let points = ["rr", "crr", "http", "udp"].map(|workload| point(workload, agent()));
        let plan = plan(&spec, paths.to_vec(), points.to_vec());
        assert_eq!(lab.missing(&plan), []);
        lab.build(&plan).expect("a lab");
        for path in &paths {
            for trial in
                [echo(&mut lab, path, 3), ask(&mut lab, path, 3, 4), once_each(&mut lab, path, 3)]
            {
                let trial = trial.unwrap_or_else(|error| panic!("{}: {error}", path.name));
                assert_eq!(trial.doubts(&lab), [], "{}", path.name);
            }
        }
    });
}

/// A new connection for each request, of which the first carries nothing and need not be asked
/// about.
#[test]
fn connections_that_carry_something_are_checked_and_it_is_proved() {
    let Some(program) = program() else { return };
    inside(|| {
        let checks = Variant { name: "checks".to_owned(), policy_check: true, ..Variant::plain() };
        let paths = [MeshMode::Server, MeshMode::Both]
            .map(|mode| meshed("bridge@a", "bridge@b", Via::Direct, mode, &checks));
        let spec = spec();
        let mut lab = Lab::with_agent(&spec, None, program);
        lab.build(&plan(&spec, paths.to_vec(), vec![point("crr", agent())])).expect("a lab");
        for path in &paths {
            let trial = once_each(&mut lab, path, 5)
                .unwrap_or_else(|error| panic!("{}: {error}", path.name));
            assert_eq!(trial.doubts(&lab), [], "{}", path.name);
            let of = |proxy: &str, counter: &str| {
                proxy_growth(&trial.before, &trial.after, proxy)[counter]
            };
            // A client's sidecar may not have passed the one on that was closed at once.
            let least = if path.mesh == MeshMode::Server { 6 } else { 5 };
            assert!(
                (least..=6).contains(&of("server-sidecar", "downstream_connections")),
                "{:?}",
                trial.after
            );
            // The end of a connection may be asked about as its first bytes would be.
            assert!((5..=6).contains(&of("policy", "checks")), "{}: {:?}", path.name, trial.after);
        }
    });
}

#[test]
fn a_sidecar_that_cannot_run_is_no_harm_to_paths_without_it() {
    inside(|| {
        let plain = path("bridge@a", "bridge@b", Via::Direct);
        let both = meshed("bridge@a", "bridge@b", Via::Direct, MeshMode::Both, &Variant::plain());
        let mut lab = built(&[plain.clone(), both.clone()]);
        let route = lab.route(&plain, &point("rr", agent())).expect("a route");
        let sidecar =
            route.proxies.iter().find(|proxy| proxy.name == "server-sidecar").expect("a sidecar");
        let pid = nix::unistd::Pid::from_raw(sidecar.pids[0] as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).expect("a kill");
        // Somebody else has its port.
        let take = || {
            let end = Instant::now() + Duration::from_secs(5);
            loop {
                match std::net::TcpListener::bind(("0.0.0.0", hopbench_mesh::INBOUND)) {
                    Ok(listener) => return listener,
                    Err(error) => assert!(Instant::now() < end, "{error}"),
                }
            }
        };
        let taken =
            lab.namespace("bridge@b").expect("a pod").run(take).expect("a namespace to enter");
        let trial = echo(&mut lab, &plain, 2).expect("traffic");
        assert_eq!(trial.doubts(&lab), []);
        let idle = trial
            .proofs(&lab)
            .into_iter()
            .find(|proof| proof.hop == "server-sidecar")
            .expect("a proof");
        assert_eq!(idle.evidence, "no proxy is on this path: does not run, it took nothing");
        assert!(echo(&mut lab, &both, 2).is_err_and(|error| error.contains("bridge@b sidecar")));
        drop(taken);
        assert_eq!(echo(&mut lab, &both, 2).expect("traffic").doubts(&lab), []);
    });
}

/// Proxies keep the connections of HTTP to each other: what a trial finds open is told.
#[test]
fn connections_that_are_open_from_trials_before_are_told() {
    inside(|| {
        let both = meshed("bridge@a", "bridge@b", Via::Direct, MeshMode::Both, &Variant::plain());
        let mut lab = built(std::slice::from_ref(&both));
        let mut warm = || {
            let trial = ask(&mut lab, &both, 3, 4).expect("traffic");
            lab.gauges(&trial.route).expect("gauges")["client-sidecar"]["warm_upstream_connections"]
        };
        assert_eq!(warm(), 0.0);
        assert!(warm() >= 1.0);
    });
}

#[test]
fn traffic_through_the_wrong_proxies_fails_the_proof() {
    inside(|| {
        let plain = Variant::plain();
        let direct = path("bridge@a", "bridge@b", Via::Direct);
        let modes = [MeshMode::Server, MeshMode::Client, MeshMode::Both];
        let meshed = modes.map(|mode| meshed("bridge@a", "bridge@b", Via::Direct, mode, &plain));
        let paths: Vec<Path> = [direct].into_iter().chain(meshed).collect();
        let mut lab = built(&paths);
        let routes: Vec<Route> = paths
            .iter()
            .map(|path| lab.route(path, &point("rr", agent())).expect("a route"))
            .collect();
        let passed = |mode: MeshMode| (mode.has_client(), mode.has_server());
        for (path, route) in paths.iter().zip(&routes) {
            for (other, way) in
                paths.iter().zip(&routes).filter(|(other, _)| other.name != path.name)
            {
                let trial = echo_to(&mut lab, route.clone(), way.target, 3).expect("traffic");
                let doubts = trial.doubts(&lab);
                let hops: BTreeSet<&str> = doubts.iter().map(|proof| proof.hop.as_str()).collect();
                let ((client, server), (by_client, by_server)) =
                    (passed(path.mesh), passed(other.mesh));
                assert_eq!(
                    hops.contains("client-sidecar"),
                    client != by_client,
                    "{} as {}",
                    other.mesh,
                    path.mesh
                );
                // Behind the client's sidecar nothing was passed on, and nothing came.
                assert!(
                    server == by_server || hops.contains("server-sidecar"),
                    "{} as {}",
                    other.mesh,
                    path.mesh
                );
                assert_eq!(
                    hops.contains("peer"),
                    server != by_server,
                    "{} as {}",
                    other.mesh,
                    path.mesh
                );
            }
        }
    });
}

#[test]
fn a_sidecar_that_died_comes_again_and_one_that_dies_is_told() {
    inside(|| {
        let both = meshed("bridge@a", "bridge@b", Via::Direct, MeshMode::Both, &Variant::plain());
        let mut lab = built(std::slice::from_ref(&both));
        let kill = |lab: &mut Lab| {
            let route = lab.route(&both, &point("rr", agent())).expect("a route");
            let proxy = route
                .proxies
                .iter()
                .find(|proxy| proxy.name == "server-sidecar")
                .expect("a sidecar");
            let pid = proxy.pids[0];
            nix::sys::signal::kill(
                nix::unistd::Pid::from_raw(pid as i32),
                nix::sys::signal::SIGKILL,
            )
            .expect("a kill");
            let end = Instant::now() + Duration::from_secs(2);
            while std::fs::read_to_string(format!("/proc/{pid}/stat"))
                .is_ok_and(|stat| !stat.contains(") Z "))
            {
                assert!(Instant::now() < end, "process {pid} lives");
            }
            (route, pid)
        };
        let (route, pid) = kill(&mut lab);
        let fault = lab.counters(&route).expect_err("it is dead");
        assert!(fault.text.contains("bridge@b sidecar"), "{fault}");
        let trial = echo(&mut lab, &both, 2).expect("traffic");
        assert_eq!(trial.doubts(&lab), []);
        let again = trial
            .route
            .proxies
            .iter()
            .find(|proxy| proxy.name == "server-sidecar")
            .expect("a sidecar")
            .pids[0];
        assert_ne!(again, pid);
        lab.down();
        for pid in [pid, again] {
            assert!(
                !std::fs::exists(format!("/proc/{pid}")).expect("proc"),
                "process {pid} is left"
            );
        }
    });
}

#[test]
fn datagrams_and_echoes_pass_by_the_proxies_and_say_so() {
    inside(|| {
        let plain = Variant::plain();
        let mut paths: Vec<Path> = [Via::Direct, Via::ClusterIp, NODE_PORT()]
            .map(|via| meshed("bridge@a", "bridge@b", via, MeshMode::Both, &plain))
            .to_vec();
        paths.iter_mut().filter(|path| path.via != Via::Direct).for_each(|path| path.backends = 2);
        let mut lab = built(&paths);
        for path in &paths {
            let route = lab.route(path, &point("udp", agent())).expect("a route");
            assert!(
                route.proxies.iter().all(|proxy| !proxy.named)
                    && !route.hops.iter().any(|hop| hop.contains("sidecar"))
            );
            let before = lab.counters(&route).expect("counters");
            let (answers, servers) = traffic::datagrams(&lab, &route, 60);
            assert_eq!((answers, servers), (60, path.backends as usize), "{}", path.name);
            let after = lab.counters(&route).expect("counters");
            let trial = Trial { job: job("udp", 1), before, after, ..Trial::nothing(route) };
            let sidecars: Vec<_> = trial
                .proofs(&lab)
                .into_iter()
                .filter(|proof| proof.hop.contains("sidecar"))
                .collect();
            assert_eq!(sidecars.len(), 1 + path.backends as usize);
            assert!(
                sidecars
                    .iter()
                    .all(|proof| proof.ok && proof.evidence.starts_with("bypasses proxy: not TCP"))
            );
        }
        let gateway =
            meshed("bridge@a", "bridge@b", Via::Gateway("c".to_owned()), MeshMode::None, &plain);
        let why = |workload: &str| lab.unsupported(&gateway, &point(workload, agent()));
        assert!(
            ["udp", "ping"]
                .iter()
                .all(|name| why(name).is_some_and(|why| why.contains("TCP only")))
        );
        assert_eq!((why("rr"), why("http")), (None, None));
    });
}

#[test]
fn what_cannot_have_a_sidecar_is_said() {
    let spec = spec();
    let plain = Variant::plain();
    let mut paths = vec![
        meshed("host@a", "bridge@b", Via::Direct, MeshMode::Client, &plain),
        meshed("bridge@a", "host@b", Via::Gateway("c".to_owned()), MeshMode::None, &plain),
        meshed("bridge@a", "bridge@b", Via::Gateway("c".to_owned()), MeshMode::Both, &plain),
        meshed("bridge@a", "bridge@b", Via::Gateway("z".to_owned()), MeshMode::None, &plain),
        meshed("bridge@a", "bridge@b", Via::Direct, MeshMode::Server, &plain),
        meshed("host@a", "host@b", Via::Direct, MeshMode::None, &plain),
    ];
    paths[4].to.runtime = Some("runsc".to_owned());
    let needs =
        Lab::new(&spec, None).missing(&plan(&spec, paths.clone(), vec![point("rr", agent())]));
    // Programs that this machine may not have are another matter.
    let of = |path: &Path| -> Vec<&Need> {
        let of_path = needs.iter().filter(|need| need.path.as_deref() == Some(&path.name));
        of_path.filter(|need| !["envoy", "nft", "runsc"].contains(&need.what.as_str())).collect()
    };
    for (path, why) in paths.iter().zip([
        "host@a: a sidecar takes over",
        "`host` has none",
        "`mesh: both`: through a gateway clients have no sidecar",
        "the lab has no such node",
        "bridge+runsc@b: runsc takes packets past",
    ]) {
        let [need] = of(path)[..] else { panic!("{}: {:?}", path.name, of(path)) };
        assert!(need.why.contains(why), "{need:?}");
        assert_eq!(need.what == Need::IMPOSSIBLE, !need.why.contains("no such node"), "{need:?}");
    }
    assert_eq!(of(&paths[5]), Vec::<&Need>::new());
}

/// The program that has the policy and telemetry services: beside this one when the whole project
/// is built.
fn program() -> Option<PathBuf> {
    let named = std::env::var_os("HOPBENCH_BINARY").map(PathBuf::from);
    let beside = || Some(std::env::current_exe().ok()?.parent()?.parent()?.join("hopbench"));
    let program = named.or_else(beside).filter(|program| program.is_file());
    if program.is_none() {
        skip("variants", "there is no `hopbench` beside the tests: `cargo build -p hopbench`");
    }
    program
}
