//! The lab, built and used: every kind with every kind, and broken on purpose.

mod inside;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use hopbench_lab::doctor::State;
use hopbench_lab::{KINDS, Lab, Reach, kind};
use hopbench_model::{Bounds, CpuSet, IpFamily, Path, Permit, ServerSpec, Via};
use hopbench_testbed::{AgentId, Control, Testbed};

use crate::plans::{self, agent, path, plan, point, spec};
use crate::traffic::{self, datagrams, echo, echo_to};
use inside::{inside, inside_with_nginx};

fn node_port(node: &str) -> Via {
    Via::NodePort(node.to_owned())
}

/// A lab of these paths, built without agents.
fn built(paths: &[Path]) -> Lab {
    let spec = spec();
    let mut lab = Lab::new(&spec, None);
    lab.build(&plan(&spec, paths.to_vec(), vec![point("rr", agent())])).expect("a lab");
    lab
}

/// What a program prints inside a place.
fn run(lab: &Lab, place: &str, line: &str) -> String {
    let mut words = line.split_whitespace();
    let program = hopbench_lab::find(words.next().expect("a program")).expect("a tool");
    let mut command = lab.namespace(place).expect("a place").command(program).expect("a command");
    let output = command.args(words).output().expect("a program");
    assert!(
        output.status.success(),
        "{place}: {line}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What the packets can do, thought out apart from the lab's own code.
fn can_be(from: &str, to: &str, same_node: bool, via: &Via, nodes: (&str, &str)) -> bool {
    let routed = |name: &str| !matches!(name, "macvlan" | "eni");
    let apart = |x: &str, y: &str| (x == "macvlan" && routed(y)) || (y == "macvlan" && routed(x));
    match via {
        Via::Direct | Via::Gateway(_) => !(same_node && apart(from, to)),
        Via::ClusterIp => routed(from) && !(same_node && to == "macvlan"),
        Via::LoadBalancer | Via::Address(_) => false,
        Via::NodePort(node) => {
            !(from == "macvlan" && node == nodes.0 || to == "macvlan" && node == nodes.1)
        }
    }
}

#[test]
fn every_kind_reaches_every_kind_and_proves_it() {
    inside(|| reaches_and_proves(IpFamily::Ipv4));
}

#[test]
fn every_kind_reaches_every_kind_by_ipv6() {
    if traffic::has_ipv6() {
        inside(|| reaches_and_proves(IpFamily::Ipv6));
    }
}

fn reaches_and_proves(family: IpFamily) {
    let mut paths = Vec::new();
    let mut possible = BTreeMap::new();
    for from in KINDS.iter().map(|kind| kind.name()) {
        for to in KINDS.iter().map(|kind| kind.name()) {
            for node in ["a", "b"] {
                for via in
                    [Via::Direct, Via::ClusterIp, node_port("a"), node_port("b"), node_port("c")]
                {
                    let path = path(&format!("{from}@a"), &format!("{to}@{node}"), via.clone());
                    possible.insert(
                        path.name.clone(),
                        can_be(from, to, node == "a", &via, ("a", node)),
                    );
                    paths.push(Path { family: Some(family), ..path });
                }
            }
        }
    }
    let spec = spec();
    let mut lab = Lab::new(&spec, None);
    let plan = plan(&spec, paths.clone(), vec![point("rr", agent())]);
    let refused: BTreeSet<String> =
        lab.missing(&plan).into_iter().filter_map(|need| need.path).collect();
    for (path, possible) in &possible {
        assert_eq!(refused.contains(path), !possible, "{path}");
    }
    lab.build(&plan).expect("a lab");
    let mut failures = Vec::new();
    let mut worked = 0;
    let start = Instant::now();
    for path in paths.iter().filter(|path| possible[&path.name]) {
        let target = lab.route(path, &point("rr", agent())).expect("a route").target;
        assert!(family.has(target.ip()), "{}: {target}", path.name);
        match echo(&mut lab, path, 2) {
            Err(error) => failures.push(format!("{}: {error}", path.name)),
            Ok(trial) => {
                worked += 1;
                let doubts = trial.doubts(&lab);
                if !doubts.is_empty() {
                    failures.push(format!("{}: {:?} {doubts:#?}", path.name, trial.route.hops));
                }
            }
        }
    }
    eprintln!(
        "{worked} of {} paths worked, {:?} each",
        paths.len(),
        start.elapsed() / worked.max(1)
    );
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn what_is_said_to_be_impossible_is() {
    inside(|| {
        let paths = [
            path("host@a", "macvlan@a", Via::Direct),
            path("macvlan@a", "bridge@a", Via::Direct),
            path("macvlan@a", "host@b", node_port("a")),
            path("eni@a", "bridge@b", Via::ClusterIp),
        ];
        let mut lab = built(&paths);
        let target = |lab: &mut Lab, path: &Path| {
            lab.route(path, &point("rr", agent())).expect("a route").target
        };
        for path in &paths {
            let target = target(&mut lab, path);
            let client = lab.namespace(&path.from.to_string()).expect("a place");
            let connected = client
                .run(move || TcpStream::connect_timeout(&target, Duration::from_millis(300)))
                .expect("inside");
            let error = connected.expect_err(&path.name);
            // Refused would mean that the packet got there: nobody listens.
            assert_ne!(error.kind(), std::io::ErrorKind::ConnectionRefused, "{}", path.name);
        }
    });
}

#[test]
fn a_way_past_the_tunnel_fails_the_proof() {
    inside(|| {
        let overlay = path("overlay@a", "overlay@b", Via::Direct);
        let mut lab = built(std::slice::from_ref(&overlay));
        assert_eq!(echo(&mut lab, &overlay, 2).expect("traffic").doubts(&lab), []);
        let server = lab.route(&overlay, &point("rr", agent())).expect("a route").target.ip();
        run(&lab, "a", &format!("ip route add {server}/32 via 10.10.0.2 dev eth0"));
        let doubts = echo(&mut lab, &overlay, 2).expect("traffic still flows").doubts(&lab);
        let hops: Vec<&str> = doubts.iter().map(|proof| proof.hop.as_str()).collect();
        assert_eq!(hops, ["a/vxlan0", "b/vxlan0"], "{doubts:#?}");
    });
}

#[test]
fn a_way_through_a_tunnel_that_is_not_the_paths_fails_the_proof() {
    inside(|| {
        let (bridge, overlay) = (
            path("bridge@a", "bridge@b", Via::Direct),
            path("overlay@a", "overlay@b", Via::Direct),
        );
        let mut lab = built(&[bridge.clone(), overlay]);
        assert_eq!(echo(&mut lab, &bridge, 2).expect("traffic").doubts(&lab), []);
        let server = lab.route(&bridge, &point("rr", agent())).expect("a route").target.ip();
        let ends = run(&lab, "b", "ip -4 -o address show dev vxlan0");
        let end = ends
            .split_whitespace()
            .find_map(|word| word.strip_suffix("/32"))
            .expect("an address")
            .to_owned();
        run(&lab, "a", &format!("ip route add {server}/32 via {end} dev vxlan0 onlink"));
        let doubts = echo(&mut lab, &bridge, 2).expect("traffic still flows").doubts(&lab);
        assert!(
            doubts
                .iter()
                .any(|proof| proof.hop == "no other way" && proof.evidence.contains("a/vxlan0 tx")),
            "{doubts:#?}"
        );
    });
}

#[test]
fn a_way_over_another_node_fails_the_proof() {
    inside(|| {
        // Two pods of one node, but the packets go over the fabric and back.
        let local = path("ptp@a", "bridge@a", Via::Direct);
        let mut lab = built(std::slice::from_ref(&local));
        assert_eq!(echo(&mut lab, &local, 2).expect("traffic").doubts(&lab), []);
        let target = lab.route(&local, &point("rr", agent())).expect("a route").target;
        run(&lab, "a", "ip rule add iif p1 lookup 77");
        run(&lab, "a", &format!("ip route add {}/32 via 10.10.0.2 dev eth0 table 77", target.ip()));
        let doubts = echo(&mut lab, &local, 2).expect("traffic still flows").doubts(&lab);
        assert!(
            doubts
                .iter()
                .any(|proof| proof.hop == "no other way" && proof.evidence.contains("a/eth0")),
            "{doubts:#?}"
        );
    });
}

#[test]
fn a_connection_past_its_service_fails_the_proof() {
    inside(|| {
        let service = path("bridge@a", "bridge@b", node_port("c"));
        let mut lab = built(std::slice::from_ref(&service));
        // The servers of a Service are pods of their own.
        let past = lab
            .places()
            .into_iter()
            .find(|(name, _)| *name == format!("bridge@b/{}", service.name));
        let past = std::net::SocketAddr::from((past.expect("a pod").1, 7474));
        let route = lab.route(&service, &point("rr", agent())).expect("a route");
        let doubts = echo_to(&mut lab, route, past, 2).expect("traffic").doubts(&lab);
        let hops: BTreeSet<&str> = doubts.iter().map(|proof| proof.hop.as_str()).collect();
        assert!(hops.is_superset(&BTreeSet::from(["peer", "dnat on c", "c/eth0"])), "{doubts:#?}");
    });
}

#[test]
fn an_agent_that_is_elsewhere_fails_the_proof() {
    inside(|| {
        let direct = path("bridge@a", "bridge@b", Via::Direct);
        let mut lab = built(std::slice::from_ref(&direct));
        let mut trial = echo(&mut lab, &direct, 1).expect("traffic");
        assert_eq!(trial.doubts(&lab), []);
        let elsewhere = lab.namespace("a").expect("a node").inode().to_string();
        let server = AgentId("bridge@b".to_owned());
        trial.machines.insert(server.clone(), BTreeMap::from([("netns".to_owned(), elsewhere)]));
        assert_eq!(
            trial.doubts(&lab).iter().map(|p| p.hop.as_str()).collect::<Vec<_>>(),
            ["server"]
        );
        trial.machines.remove(&server);
        assert_eq!(
            trial.doubts(&lab).iter().map(|p| p.hop.as_str()).collect::<Vec<_>>(),
            ["server"]
        );
    });
}

#[test]
fn a_service_reaches_all_its_backends() {
    inside(|| {
        let mut paths = vec![
            path("bridge@a", "overlay@b", Via::ClusterIp),
            path("host@a", "bridge@b", node_port("c")),
            path("bridge@a", "bridge@a", Via::ClusterIp),
            path("host@a", "host@b", Via::ClusterIp),
            path("bridge@a", "overlay@[b, c]", Via::ClusterIp),
            path("host@a", "host@[b, c]", Via::ClusterIp),
            path("bridge@[a, b]", "eni@c", node_port("c")),
        ];
        for path in &mut paths {
            (path.clients, path.backends) = (3, 5);
        }
        // Both families side by side.
        let by_ipv6 = paths.clone().into_iter().map(|path| Path {
            name: format!("{} by IPv6", path.name),
            family: Some(IpFamily::Ipv6),
            ..path
        });
        if traffic::has_ipv6() {
            paths.extend(by_ipv6.collect::<Vec<_>>());
        }
        let mut lab = built(&paths);
        for path in &paths {
            // Of 90 connections a backend gets none with a chance of 5 * 0.8^90: once in ten
            // million runs.
            let trial = echo(&mut lab, path, 30).expect("traffic");
            assert_eq!(trial.doubts(&lab), [], "{}", path.name);
            let peers: Vec<usize> = trial.servers.iter().map(|(_, end)| end.flows.len()).collect();
            assert!(peers.iter().all(|hits| *hits > 0), "{}: {peers:?}", path.name);
            assert_eq!(peers.iter().sum::<usize>(), 90, "{}", path.name);
            let (answers, servers) = datagrams(&lab, &trial.route, 90);
            assert_eq!((answers, servers), (90, 5), "{}: datagrams", path.name);
        }
    });
}

#[test]
fn links_are_as_the_plan_says() {
    inside(|| {
        let mut spec = spec();
        spec.nodes[1].zone = "far".to_owned();
        spec.zone_link_bits_per_s = Some(500_000_000);
        spec.nodes[0].link_bits_per_s = Some(1_000_000_000);
        let paths = vec![
            path("eni@a", "overlay@b", Via::Direct),
            path("overlay@b", "overlay@c", Via::Direct),
        ];
        let mut lab = Lab::new(&spec, None);
        lab.build(&plan(&spec, paths.clone(), vec![point("rr", agent())])).expect("a lab");
        let facts = lab.facts();
        for (name, value) in [
            ("node a link", "1Gbit"),
            ("node b link", "10Gbit"),
            ("zone z link", "500Mbit"),
            ("zone far link", "500Mbit"),
            ("pod eni@a link", "1Gbit"),
            ("node a mtu_bytes", "1500"),
            ("pod overlay@b mtu_bytes", "1450"),
        ] {
            assert_eq!(facts[name], value, "{name}");
        }
        assert!(facts["node a nic"].starts_with("veth, GSO to "), "{facts:?}");
        for (place, rate) in [("a", "1Gbit"), ("b", "10Gbit"), ("eni@a", "1Gbit")] {
            let shown = run(&lab, place, "tc qdisc show dev eth0");
            assert!(
                shown.contains("tbf") && shown.contains(&format!("rate {rate} ")),
                "{place}: {shown}"
            );
        }
        for (place, link, mtu) in [
            ("a", "eth0", 1500),
            ("a", "vxlan0", 1450),
            ("overlay@b", "eth0", 1450),
            ("eni@a", "eth0", 1500),
        ] {
            let shown = run(&lab, place, &format!("ip link show dev {link}"));
            assert!(shown.contains(&format!("mtu {mtu} ")), "{place}: {shown}");
        }
        let route = lab.route(&paths[0], &point("rr", agent())).expect("a route");
        assert_eq!(
            (route.link_bits_per_s, route.mtu_bytes, route.tunnel_bytes),
            (Some(500_000_000), 1450, 0)
        );
        let route = lab.route(&paths[1], &point("rr", agent())).expect("a route");
        assert_eq!(
            (route.link_bits_per_s, route.mtu_bytes, route.tunnel_bytes),
            (Some(500_000_000), 1450, 50)
        );
        for path in &paths {
            assert_eq!(echo(&mut lab, path, 2).expect("traffic").doubts(&lab), [], "{}", path.name);
        }
    });
}

#[test]
fn nginx_serves_the_sizes_that_the_plan_asks_for() {
    inside_with_nginx(|| {
        let spec = spec();
        let nginx = |size: u64| ServerSpec {
            program: "nginx".to_owned(),
            request: format!("/bytes/{size}"),
            response_bytes: Some(size),
        };
        let paths = vec![
            path("bridge@a", "bridge@b", Via::Direct),
            path("host@a", "host@b", node_port("c")),
        ];
        let mut lab = Lab::new(&spec, None);
        let plan = plan(
            &spec,
            paths.clone(),
            vec![point("http", nginx(1024)), point("http", nginx(300_000))],
        );
        assert_eq!(lab.missing(&plan), []);
        lab.build(&plan).expect("a lab");
        let facts = lab.facts();
        assert!(facts["nginx version"].starts_with("nginx/"), "{facts:?}");
        assert!(facts["nft version"].starts_with("nftables v"), "{facts:?}");
        let mut pids = BTreeSet::new();
        for path in &paths {
            for size in [1024_usize, 300_000] {
                let route = lab.route(path, &point("http", nginx(size as u64))).expect("a route");
                assert_eq!(route.programs.len(), 2, "a master and a worker");
                for pid in &route.programs {
                    let group = nix::unistd::getpgid(Some(nix::unistd::Pid::from_raw(*pid as i32)));
                    // Ctrl-C goes to the whole group of the conductor.
                    assert_ne!(
                        group,
                        Ok(nix::unistd::getpgrp()),
                        "process {pid} hears the terminal"
                    );
                }
                pids.extend(route.programs.clone());
                let get = move || -> std::io::Result<Vec<u8>> {
                    let mut stream =
                        TcpStream::connect_timeout(&route.target, Duration::from_secs(3))?;
                    stream.set_read_timeout(Some(Duration::from_secs(3)))?;
                    write!(
                        stream,
                        "GET /bytes/{size} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
                    )?;
                    let mut answer = Vec::new();
                    stream.read_to_end(&mut answer).map(|_| answer)
                };
                let place = lab.namespace(&path.from.to_string()).expect("a place");
                let answer = place.run(get).expect("inside").expect("an answer");
                assert!(
                    answer.starts_with(b"HTTP/1.1 200 OK\r\n"),
                    "{}",
                    String::from_utf8_lossy(&answer[..100])
                );
                let head =
                    answer.windows(4).position(|end| end == b"\r\n\r\n").expect("a head") + 4;
                assert_eq!(answer.len() - head, size, "{}", path.name);
            }
        }
        assert_eq!(pids.len(), 4, "one nginx a server pod, however often it is asked for");
        // A worker, then a master that crash: the next trial has those of then.
        let mut crash = |at: usize| {
            let before =
                lab.route(&paths[0], &point("http", nginx(1024))).expect("a route").programs;
            let pid = before[at];
            nix::sys::signal::kill(
                nix::unistd::Pid::from_raw(pid as i32),
                nix::sys::signal::SIGKILL,
            )
            .expect("a kill");
            let end = Instant::now() + Duration::from_secs(2);
            while fs::read_to_string(format!("/proc/{pid}/stat"))
                .is_ok_and(|stat| !stat.contains(") Z "))
            {
                assert!(Instant::now() < end, "process {pid} lives");
            }
            let route = lab.route(&paths[0], &point("http", nginx(1024))).expect("a route");
            assert!(
                route.programs.len() == 2 && !route.programs.contains(&pid),
                "{before:?} {:?}",
                route.programs
            );
            let place = lab.namespace("bridge@a").expect("a place");
            place.run(move || TcpStream::connect(route.target)).expect("inside").expect("a server");
            pids.extend(route.programs);
        };
        crash(1);
        crash(0);
        lab.down();
        for pid in pids {
            assert!(!fs::exists(format!("/proc/{pid}")).expect("proc"), "process {pid} is left");
        }
    });
}

#[test]
fn variables_of_a_server_program_are_read_back() {
    inside_with_nginx(|| {
        let mut spec = spec();
        let env = BTreeMap::from([("HOPBENCH_TEST".to_owned(), "a=b c".to_owned())]);
        spec.nodes[2].settings.env = env;
        let nginx = ServerSpec {
            program: "nginx".to_owned(),
            request: "/bytes/64".to_owned(),
            response_bytes: Some(64),
        };
        let of = |to: &str, subject: &str| Path {
            subject: Some(subject.to_owned()),
            ..path("bridge@a", to, Via::Direct)
        };
        let paths = [of("bridge@b", "old"), of("bridge@c", "new")];
        let point = point("http", nginx);
        let mut lab = Lab::new(&spec, None);
        lab.build(&plan(&spec, paths.to_vec(), vec![point.clone()])).expect("a lab");
        let proof = |lab: &Lab, route| {
            let proofs = traffic::Trial::nothing(route).proofs(lab);
            let mut of_subject =
                proofs.into_iter().filter(|proof| proof.hop.starts_with("subject "));
            let proof = of_subject.next().expect("a proof");
            (proof.evidence, proof.ok)
        };
        for (path, value) in paths.iter().zip(["not set", "a=b c"]) {
            let route = lab.route(path, &point).expect("a route");
            assert_eq!(proof(&lab, route), (format!("env HOPBENCH_TEST {value}"), true));
        }
        // Of processes that are not those of the program nothing is known.
        let mut route = lab.route(&paths[1], &point).expect("a route");
        route.programs = vec![std::process::id()];
        let (evidence, is) = proof(&lab, route);
        assert!(!is && evidence.contains("cannot be read, expected a=b c: "), "{evidence}");
    });
}

#[test]
fn without_nginx_the_cells_that_want_it_are_left_out() {
    inside(|| {
        let direct = path("bridge@a", "bridge@b", Via::Direct);
        let spec = spec();
        let nginx = ServerSpec {
            program: "nginx".to_owned(),
            request: "/".to_owned(),
            response_bytes: None,
        };
        let plan =
            plan(&spec, vec![direct.clone()], vec![point("rr", agent()), point("http", nginx)]);
        let mut lab = Lab::new(&spec, None);
        let [agents, programs] = [0, 1].map(|at| plan.points[at].clone());
        assert_eq!(
            (lab.unsupported(&direct, &agents), lab.unsupported(&direct, &programs)),
            (None, None)
        );
        while let Some(program) = hopbench_lab::find("nginx") {
            // In this mount namespace only.
            let flags = nix::mount::MsFlags::MS_BIND;
            nix::mount::mount(Some("/dev/null"), &program, None::<&str>, flags, None::<&str>)
                .expect("a mount");
        }
        assert_eq!(lab.missing(&plan), [], "the rest of the plan can run");
        assert_eq!(lab.unsupported(&direct, &agents), None);
        let why = lab.unsupported(&direct, &programs).expect("a reason");
        assert!(
            why.starts_with("nginx is missing: ") && why.contains("apt-get install nginx"),
            "{why}"
        );
    });
}

#[test]
fn a_lab_has_as_many_open_files_as_it_needs() {
    inside(|| {
        let spec = spec();
        let mut many = path("bridge@a", "bridge@b", Via::Direct);
        many.clients = 40;
        let plan = plan(&spec, vec![many], vec![point("rr", agent())]);
        let limit = |soft: u64, hard: &str| {
            let program = hopbench_lab::find("prlimit").expect("prlimit");
            let own = std::process::id().to_string();
            let done = std::process::Command::new(program)
                .args(["--pid", &own, &format!("--nofile={soft}:{hard}")])
                .status()
                .expect("prlimit");
            assert!(done.success());
        };
        limit(64, "");
        let mut lab = Lab::new(&spec, None);
        assert_eq!(lab.missing(&plan), []);
        limit(64, "");
        lab.build(&plan).expect("a lab whose descriptors are more than the limit was");
        assert!(fs::read_dir("/proc/self/fd").expect("proc").count() > 64);
        lab.down();
        // Root of the machine may raise the hard limit, too; whoever else is told.
        limit(64, "64");
        match lab.build(&plan) {
            Ok(()) => {
                assert!(hopbench_sys::limits::raise_open_files(65).is_ok_and(|limit| limit > 64));
            }
            Err(fault) => {
                let told = fault.to_string();
                assert!(
                    told.contains("41 pods needs 480 open files; the limit is 64: raise"),
                    "{told}"
                );
                assert!(lab.missing(&plan).iter().any(|need| need.what == "open files"));
            }
        }
    });
}

#[test]
fn cpus_that_a_workload_names_win_over_the_nodes() {
    inside(|| {
        let cpus = hopbench_sys::cpu::allowed().expect("CPUs");
        let [first, .., last] = cpus[..] else { return };
        let folder =
            std::path::Path::new("/tmp").join(format!("hopbench-lab-cpus-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let script = folder.join("agent");
        fs::write(&script, "#!/bin/sh\nexec cat >&0\n").expect("a script");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a mode");
        let mut spec = spec();
        spec.nodes.truncate(2);
        let across = path("bridge@a", "bridge@b", Via::Direct);
        // Node `a` has the first CPU, and the workload wants its clients on the last, which is b's.
        let mut named = point("rr", agent());
        named.job.client_cpus = Some(CpuSet(vec![last]));
        let mut lab = Lab::with_agent(&spec, None, script);
        assert_eq!(lab.unsupported(&across, &named), None);
        lab.up(&plan(&spec, vec![across.clone()], vec![point("rr", agent()), named]))
            .expect("a lab");
        let [client, server] = ["bridge@a", "bridge@b"].map(|name| AgentId(name.to_owned()));
        let _sessions = [&client, &server].map(|id| lab.control(id).expect("a session"));
        let allowed = |id: &AgentId| -> Vec<usize> {
            let status =
                fs::read_to_string(format!("/proc/{}/status", lab.pid(id).expect("a process")))
                    .expect("proc");
            let list = status
                .lines()
                .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
                .expect("a list");
            list.trim().parse::<CpuSet>().expect("CPUs").0
        };
        let (of_client, of_server) = (allowed(&client), allowed(&server));
        assert!(of_client.contains(&first) && of_client.contains(&last), "{of_client:?}");
        assert!(!of_server.contains(&first) && of_server.contains(&last), "{of_server:?}");
        let route = lab.route(&across, &point("rr", agent())).expect("a route");
        assert_eq!(route.cpus, BTreeMap::from([(client.clone(), of_client), (server, of_server)]));
        let facts = lab.facts();
        assert!(facts["agent bridge@a cpus"].contains("a workload names its CPUs"), "{facts:?}");
        assert!(!facts.contains_key("agent bridge@b cpus"), "{facts:?}");
        // What is read back is in every record.
        let proof = |lab: &Lab| {
            let trial = traffic::Trial::nothing(route.clone());
            trial.proofs(lab).into_iter().find(|proof| proof.hop == "CPUs").expect("a proof")
        };
        assert!(proof(&lab).ok, "{:?}", proof(&lab));
        let pid = nix::unistd::Pid::from_raw(
            lab.pid(&AgentId("bridge@b".to_owned())).expect("a process") as i32,
        );
        let mut elsewhere = nix::sched::CpuSet::new();
        elsewhere.set(first).expect("a CPU");
        nix::sched::sched_setaffinity(pid, &elsewhere).expect("an affinity");
        let doubt = proof(&lab);
        assert!(!doubt.ok && doubt.evidence.contains(&format!("and may use {first}")), "{doubt:?}");
        lab.down();
        fs::remove_dir_all(&folder).expect("the folder");
    });
}

#[test]
fn a_lab_comes_and_goes() {
    inside(|| {
        let spec = spec();
        let paths = ["bridge", "overlay", "eni"]
            .map(|kind| path(&format!("{kind}@a"), &format!("{kind}@b"), node_port("c")));
        let plan = plan(&spec, paths.to_vec(), vec![point("rr", agent())]);
        let open = || fs::read_dir("/proc/self/fd").expect("proc").count();
        let before = open();
        let mut times = Vec::new();
        for _ in 0..3 {
            let start = Instant::now();
            let mut lab = Lab::new(&spec, None);
            lab.build(&plan).expect("a lab");
            let up = start.elapsed();
            assert!(open() > before);
            lab.down();
            times.push((up, start.elapsed()));
            assert_eq!(open(), before, "descriptors hold namespaces");
        }
        eprintln!("three nodes and six pods, up and up+down: {times:?}");
        assert!(times.iter().any(|(_, both)| *both < Duration::from_millis(1500)), "{times:?}");
    });
}

#[test]
fn agents_are_started_in_their_places_and_again_when_they_died() {
    inside(|| {
        // Stands in for the agent: says where it is, then gives back what it gets.
        let folder =
            std::path::Path::new("/tmp").join(format!("hopbench-lab-test-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let (script, log) = (folder.join("agent"), folder.join("log"));
        fs::write(
            &script,
            "#!/bin/sh\necho \"$@\" $(readlink /proc/self/ns/net) $(grep Cpus_allowed_list \
             /proc/self/status) >&2\nexec cat >&0\n",
        )
        .expect("a script");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a mode");
        let spec = spec();
        let mut both = path("host@a", "host@a", Via::Direct);
        both.clients = 2;
        let paths = vec![path("bridge@a", "bridge@b", Via::Direct), both];
        let mut lab = Lab::with_agent(&spec, Some(fs::File::create(&log).expect("a log")), script);
        lab.up(&plan(&spec, paths, vec![point("rr", agent())])).expect("a lab");
        let agents = ["bridge@a", "bridge@b", "host@a", "host@a#2", "host@a#3"]
            .map(|name| AgentId(name.to_owned()));
        let mut pids = BTreeSet::new();
        for id in &agents {
            let Control::Pair(mut stream) = lab.control(id).expect("a session") else {
                panic!("no socket pair")
            };
            stream.write_all(b"hello").expect("a message");
            let mut answer = [0; 5];
            stream.read_exact(&mut answer).expect("an answer");
            assert_eq!(&answer, b"hello");
            pids.insert(lab.pid(id).expect("a process"));
        }
        assert_eq!(pids.len(), 5);
        // What an agent says goes through a pipe, whose reader may come later.
        let mut said = String::new();
        for _ in 0..200 {
            said = fs::read_to_string(&log).expect("the log");
            if said.matches("Cpus_allowed_list: ").count() >= agents.len() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        for (id, port) in agents.iter().zip([7474, 7474, 7474, 7475, 7476]) {
            let inode = lab.namespace(&id.0).expect("a place").inode();
            let begin = format!("{id}: agent --control-fd 0 --listen 0.0.0.0:{port} --run-key ");
            let end = format!(" net:[{inode}] Cpus_allowed_list: ");
            let said_so = |found: &str| found.starts_with(&begin) && found.contains(&end);
            assert!(said.lines().any(said_so), "{begin}...{end}\nnot in\n{said}");
        }
        // A second session is a new agent; the one before is gone.
        let Control::Pair(mut stream) = lab.control(&agents[0]).expect("a session") else {
            panic!("no socket pair")
        };
        stream.write_all(b"again").expect("a message");
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).expect("an answer");
        assert!(!pids.contains(&lab.pid(&agents[0]).expect("a process")));
        lab.down();
        for pid in pids {
            assert!(!fs::exists(format!("/proc/{pid}")).expect("proc"), "process {pid} is left");
        }
        fs::remove_dir_all(&folder).expect("the folder");
    });
}

/// The permit is of the whole plan, whichever path is measured first, and of nothing else.
#[test]
fn the_permit_has_the_targets_of_all_paths() {
    inside(|| {
        let spec = spec();
        let paths = vec![
            path("bridge@a", "bridge@b", Via::Direct),
            path("bridge@b", "bridge@a", node_port("c")),
            path("host@a", "host@b", Via::Direct),
        ];
        let rr = point("rr", agent());
        let mut plan = plan(&spec, paths, vec![rr.clone()]);
        let mut lab = Lab::new(&spec, None);
        lab.up(&plan).expect("a lab");
        let mut bounds = Bounds::default();
        bounds.cover(&rr.job);
        let signed = lab.permit(&bounds).expect("a lab that stands").expect("a permit");
        let permit = Permit::from_text(&signed.text).expect("a permit");
        let routes = plan.paths.iter().map(|path| lab.route(path, &rr).expect("a route").target);
        assert_eq!(permit.targets, routes.collect::<BTreeSet<_>>());
        assert_eq!((permit.targets.len(), permit.bounds, permit.sequence), (3, bounds, 1));
        assert_eq!(
            lab.permit(&bounds).expect("a lab that stands"),
            Some(signed),
            "nothing has changed"
        );
        // Another lab is another run, and has its own paths only.
        plan.cells.truncate(1);
        lab.up(&plan).expect("a lab");
        let other = Permit::from_text(
            &lab.permit(&bounds).expect("a lab that stands").expect("a permit").text,
        );
        let other = other.expect("a permit");
        assert!(other.run != permit.run && other.targets.len() == 1, "{other:?}");
    });
}

#[test]
fn nodes_have_cpus_of_their_own_where_there_are_enough() {
    inside(|| {
        let cpus = std::thread::available_parallelism().expect("CPUs").get();
        let mut spec = spec();
        spec.nodes.truncate(2);
        let plan =
            plan(&spec, vec![path("bridge@a", "eni@b", Via::Direct)], vec![point("rr", agent())]);
        let mut lab = Lab::new(&spec, None);
        lab.build(&plan).expect("a lab");
        let facts = lab.facts();
        if cpus < 2 {
            assert!(facts["cpus"].starts_with("not separate: "), "{facts:?}");
            return;
        }
        assert_eq!(facts["cpus"], "every node has CPUs of its own", "{facts:?}");
        assert_ne!(facts["node a cpus"], facts["node b cpus"]);
        let route = lab.route(&plan.paths[0], &point("rr", agent())).expect("a route");
        for (id, node) in &route.nodes {
            let held = CpuSet(route.cpus[id].clone());
            assert_eq!(held.to_string(), facts[&format!("node {node} cpus")], "{id}");
        }
        // Only root of the machine may steer, and then what was set is there.
        let mask = |place: &str| {
            let text = run(&lab, place, "cat /sys/class/net/eth0/queues/rx-0/rps_cpus");
            u64::from_str_radix(&text.trim().replace(',', ""), 16).expect("a mask")
        };
        // The doctor knows it before.
        let lines = hopbench_lab::doctor::inside();
        let (_, _, rps) = lines.into_iter().find(|(name, ..)| *name == "RPS").expect("a line");
        assert_eq!(
            rps.state == State::Works,
            facts["receive"] == "steered to the node's CPUs",
            "{rps:?} {facts:?}"
        );
        assert!(
            rps.state == State::Works
                || rps.found.contains("needs root") && rps.remedy.contains("sudo"),
            "{rps:?}"
        );
        if facts["receive"] == "steered to the node's CPUs" {
            assert_eq!((mask("a"), mask("b")), (mask("bridge@a"), mask("eni@b")));
            assert!(
                mask("a") & mask("b") == 0 && mask("a") != 0 && mask("b") != 0,
                "{:x} {:x}",
                mask("a"),
                mask("b")
            );
        } else {
            assert!(facts["receive"].contains("rps_cpus needs root"), "{facts:?}");
            assert_eq!((mask("a"), mask("b")), (0, 0));
        }
        // One more node than there are CPUs.
        spec.nodes = (0..=cpus)
            .map(|n| hopbench_model::LabNode { name: format!("n{n}"), ..spec.nodes[0].clone() })
            .collect();
        let facts = |paths: Vec<Path>| {
            let mut lab = Lab::new(&spec, None);
            lab.build(&plans::plan(&spec, paths, vec![point("rr", agent())])).expect("a lab");
            lab.facts()
        };
        let across = path("bridge@n0", "eni@n1", Via::Direct);
        let apart = facts(vec![across.clone()]);
        assert_ne!(
            apart["node n0 cpus"], apart["node n1 cpus"],
            "the ends of a path do not share a CPU"
        );
        // One CPU for both ends of a path would be another measurement.
        let inside = facts(vec![across, path("bridge@n0", "ptp@n0", Via::Direct)]);
        assert_eq!(inside["node n0 cpus"], "shared", "{inside:?}");
        assert!(inside["cpus"].starts_with("not separate: "), "{inside:?}");
    });
}

#[test]
fn counters_are_read_quickly() {
    inside(|| {
        let service = path("overlay@a", "overlay@b", node_port("c"));
        let mut lab = built(std::slice::from_ref(&service));
        let route = lab.route(&service, &point("rr", agent())).expect("a route");
        let start = Instant::now();
        for _ in 0..20 {
            lab.counters(&route).expect("counters");
        }
        let each = start.elapsed() / 20;
        eprintln!("counters of a path with Service, tunnel and three nodes: {each:?}");
        assert!(each < Duration::from_millis(150), "{each:?}");
    });
}

#[test]
fn kinds_without_a_stack_of_the_node_are_said_to_be() {
    assert_eq!(kind("macvlan").map(|kind| kind.reach()), Some(Reach::SharedNic));
    assert!(kind("bridge").is_some_and(|kind| kind.reach().is_routed()));
    assert!(kind("no-such").is_none());
}
