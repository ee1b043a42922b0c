//! The needs that the testbed finds before anything is measured, with real agents on loopback.

#![allow(clippy::unwrap_used, reason = "all of this is test")]

use std::net::TcpListener;
use std::path::Path as File;

use hopbench_agent::{Limits, Options, Server, hello};
use hopbench_control::Channel;
use hopbench_control::reach::greet;
use hopbench_control::secret::Secret;
use hopbench_hosts::Hosts;
use hopbench_model::{Host, HostsSpec, MeshMode, Path, Plan, TestbedSpec, Via, fixture};
use hopbench_testbed::{AgentId, Control, Need, Testbed};

fn agent(secret: &Secret, both_ends: bool) -> Server {
    let listen = "127.0.0.1:0".parse().unwrap();
    let (limits, credentials) = (Limits::default(), secret.into());
    Server::start(&Options { listen, credentials, limits, http: false, both_ends }).unwrap()
}

fn spec(nodes: &[(&str, String)], token_file: Option<&File>) -> HostsSpec {
    let host = |(name, control): &(&str, String)| Host {
        name: (*name).to_owned(),
        control: control.clone(),
        address: None,
        token_file: None,
    };
    let token_file = token_file.map(|file| file.to_str().unwrap().to_owned());
    HostsSpec { nodes: nodes.iter().map(host).collect(), token_file }
}

/// A path by its ends, `host@a`.
fn path(name: &str, from: &str, to: &str) -> Path {
    let place = |text: &str| {
        let (network, node) = text.split_once('@').unwrap();
        fixture::place(network, node)
    };
    Path { from: place(from), to: place(to), ..fixture::path(name) }
}

fn plan(spec: &HostsSpec, paths: &[Path]) -> Plan {
    let testbed = TestbedSpec::Hosts(spec.clone());
    Plan { testbed, ..fixture::plan(paths.to_vec(), vec![]) }
}

fn missing(spec: &HostsSpec, paths: &[Path]) -> Vec<Need> {
    Hosts::new(spec, hello()).missing(&plan(spec, paths))
}

fn token(folder: &tempfile::TempDir, secret: &Secret) -> std::path::PathBuf {
    let file = folder.path().join("token");
    std::fs::write(&file, secret.to_text() + "\n").unwrap();
    file
}

#[test]
fn agents_that_do_not_do_are_told_apart() {
    let (folder, secret) = (tempfile::tempdir().unwrap(), Secret::random().unwrap());
    let file = token(&folder, &secret);
    let (good, serves) = (agent(&secret, true), agent(&secret, false));
    let other = agent(&Secret::random().unwrap(), true);
    // A port that nobody listens on any more.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let spec = spec(
        &[
            ("a", good.address().to_string()),
            ("b", serves.address().to_string()),
            ("other", other.address().to_string()),
            ("gone", gone.to_string()),
        ],
        Some(&file),
    );
    let needs = missing(
        &spec,
        &[
            path("good", "host@a", "host@b"),
            path("itself", "host@a", "host@a"),
            path("back", "host@b", "host@a"),
            path("stranger", "host@a", "host@other"),
            path("dead", "host@a", "host@gone"),
        ],
    );
    let told: Vec<(&str, &str)> = needs
        .iter()
        .map(|need| (need.path.as_deref().unwrap_or("all"), need.what.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("back", "an agent for both ends on b"),
            ("stranger", "the agent of other"),
            ("dead", "the agent of gone")
        ]
    );
    assert!(
        needs[0].why.contains("only serves") && needs[0].remedy.contains("--both-ends"),
        "{:?}",
        needs[0]
    );
    assert!(needs[1].why.contains("has another token"), "{:?}", needs[1]);
    assert!(
        needs[2].why.contains("refused") && needs[2].remedy.contains("token-file"),
        "{:?}",
        needs[2]
    );
}

#[test]
fn paths_that_machines_are_not_are_refused_each_with_its_reason() {
    let (folder, secret) = (tempfile::tempdir().unwrap(), Secret::random().unwrap());
    let file = token(&folder, &secret);
    let good = agent(&secret, true);
    let spec =
        spec(&[("a", good.address().to_string()), ("b", good.address().to_string())], Some(&file));
    let direct = || path("p", "host@a", "host@b");
    let with = |change: fn(&mut Path)| {
        let mut path = direct();
        change(&mut path);
        path
    };
    for (path, word) in [
        (path("p", "bridge@a", "host@b"), "`bridge@a` is the place of a pod"),
        (path("p", "host@a", "host@c"), "`nodes:` of the testbed has a, b"),
        (with(|path| path.to.runtime = Some("runsc".to_owned())), "runsc"),
        (with(|path| path.via = Via::ClusterIp), "`cluster-ip`"),
        (with(|path| path.via = Via::Gateway("b".to_owned())), "`gateway@b`"),
        (with(|path| path.mesh = MeshMode::Both), "proxies"),
        (with(|path| path.clients = 2), "2 clients"),
        (with(|path| path.backends = 3), "3 backends"),
    ] {
        let needs = missing(&spec, &[path, direct()]);
        assert_eq!(needs.len(), 1, "{word}: {needs:?}");
        assert!(needs[0].why.contains(word), "{word}: {needs:?}");
        assert!(needs[0].path.as_deref() == Some("p") && !needs[0].remedy.is_empty(), "{needs:?}");
    }
    assert_eq!(
        missing(&spec, &[direct(), with(|path| path.via = Via::Address("127.0.0.1".to_owned()))]),
        []
    );
}

#[test]
fn another_build_and_a_token_that_cannot_be_read_are_told() {
    let (folder, secret) = (tempfile::tempdir().unwrap(), Secret::random().unwrap());
    let file = token(&folder, &secret);
    let good = agent(&secret, true);
    let nodes = [("a", good.address().to_string())];
    let guarded = spec(&nodes, Some(&file));
    let paths = [path("p", "host@a", "host@a")];
    let mut newer = hello();
    newer.version = "99.0.0".to_owned();
    let needs = Hosts::new(&guarded, newer).missing(&plan(&guarded, &paths));
    assert!(needs[0].what.contains("this build") && needs[0].why.contains("99.0.0"), "{needs:?}");
    let needs = missing(&spec(&nodes, Some(&folder.path().join("nothing"))), &paths);
    assert!(needs[0].path.is_none() && needs[0].why.contains("No such file"), "{needs:?}");
    // Without a file the agents are taken for open ones.
    assert!(missing(&spec(&nodes, None), &paths)[0].why.contains("has another token"));
}

#[test]
fn what_is_up_has_routes_and_facts_and_its_agents_stay() {
    let (folder, secret) = (tempfile::tempdir().unwrap(), Secret::random().unwrap());
    let file = token(&folder, &secret);
    let (one, other) = (agent(&secret, true), agent(&secret, true));
    let mut spec =
        spec(&[("a", one.address().to_string()), ("b", other.address().to_string())], Some(&file));
    spec.nodes[1].address = Some("127.0.0.7".to_owned());
    let paths = [path("p", "host@a", "host@b")];
    let mut hosts = Hosts::new(&spec, hello());
    hosts.up(&plan(&spec, &paths)).unwrap();
    let mut point = fixture::point("w", fixture::job("rr", serde_json::json!({})));
    point.server.program = "nginx".to_owned();
    let route = hosts.route(&paths[0], &point).unwrap();
    assert_eq!((route.clients[0].0.as_str(), route.servers[0].0.as_str()), ("host@a", "host@b"));
    // Another address, and the port of the control sessions.
    assert_eq!(route.target, format!("127.0.0.7:{}", other.address().port()).parse().unwrap());
    let Control::Address { address, tls } = hosts.control(&AgentId("host@b".to_owned())).unwrap()
    else {
        panic!()
    };
    assert_eq!(address, other.address());
    let mut channel = Channel::open(std::net::TcpStream::connect(address).unwrap(), tls).unwrap();
    greet(&mut channel, &hello(), "b").unwrap();
    let facts = hosts.facts();
    assert_eq!(facts["node a boot_id"], hello().boot_id);
    assert_eq!(facts["node b address"], route.target.to_string());
    assert!(hosts.unsupported(&paths[0], &point).unwrap().contains("nginx"));
    hosts.down();
    assert!(hosts.route(&paths[0], &point).is_err());
    assert_eq!(missing(&spec, &paths), [], "the agents are somebody else's");
}

/// No two machines need share a token: who takes one from a machine drives that machine and no
/// other.
#[test]
fn each_machine_can_have_a_token_of_its_own() {
    let (folder, own, common) =
        (tempfile::tempdir().unwrap(), Secret::random().unwrap(), Secret::random().unwrap());
    let (one, other) = (agent(&own, true), agent(&common, true));
    let file = token(&folder, &common);
    let mut spec =
        spec(&[("a", one.address().to_string()), ("b", other.address().to_string())], Some(&file));
    let paths = [path("p", "host@a", "host@b")];
    assert!(missing(&spec, &paths)[0].why.contains("has another token"));
    let of_a = folder.path().join("a");
    std::fs::write(&of_a, own.to_text()).unwrap();
    spec.nodes[0].token_file = Some(of_a.to_str().unwrap().to_owned());
    assert_eq!(missing(&spec, &paths), []);
    let mut hosts = Hosts::new(&spec, hello());
    hosts.up(&plan(&spec, &paths)).unwrap();
    for (agent, opens) in [("host@a", &one), ("host@b", &other)] {
        let Control::Address { tls, .. } = hosts.control(&AgentId(agent.to_owned())).unwrap()
        else {
            panic!()
        };
        for server in [&one, &other] {
            let stream = std::net::TcpStream::connect(server.address()).unwrap();
            let greeted = greet(&mut Channel::open(stream, tls.clone()).unwrap(), &hello(), agent);
            assert_eq!(
                greeted.is_ok(),
                server.address() == opens.address(),
                "{agent}: {:?}",
                greeted.err()
            );
        }
    }
}
