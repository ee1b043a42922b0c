//! A testbed whose agents are behind ports, as on other machines: sessions over TLS, forwarded or
//! not.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;

use hopbench_agent::{Limits, Options, Server};
use hopbench_control::conductor::Conductor;
use hopbench_control::credentials::Credentials;
use hopbench_control::keys::KeyPair;
use hopbench_control::secret::Secret;
use hopbench_control::tls;
use hopbench_model::{Bounds, Fault, Path, Permit, Plan, Point, Proof, SignedPermit};
use hopbench_sys::clock;
use hopbench_testbed::{
    AgentId, Control, Counters, Metered, Need, NodeOnlooker, Proxy, Route, Seen, Testbed,
};

use crate::housekeeping::Housekeeping;

/// Agents with a token, on loopback: `CLIENTS` and `SERVERS` of each path.
#[derive(Default)]
pub(crate) struct Far {
    pub(crate) token: String,
    /// The conductor of the run that the agents were started for, and their keys; absent: they have
    /// the token.
    pub(crate) run: Option<(Conductor, BTreeMap<AgentId, KeyPair>)>,
    /// Where permits let clients connect to instead of the servers.
    pub(crate) permitted: Option<SocketAddr>,
    /// The permits that were given, as they were read.
    pub(crate) permits: Vec<Permit>,
    /// Whether sessions go through a forwarder instead of straight to the port.
    pub(crate) forwarded: bool,
    pub(crate) agents: BTreeMap<AgentId, Server>,
    /// Sessions that were opened, by agent.
    pub(crate) opened: BTreeMap<AgentId, u32>,
    /// The forwarders' ends, to be cut.
    pub(crate) forwards: BTreeMap<AgentId, UnixStream>,
    /// Whether sessions are opened with another token than the agents have.
    pub(crate) other_token: bool,
    /// The path whose first client's session is cut, this many ms after the counters were read.
    pub(crate) cut: Option<(String, u64)>,
    /// Every first client's session is cut when the counters are read for the second time: after
    /// the first traffic.
    pub(crate) cut_after: bool,
    /// How often the counters were read.
    pub(crate) looks: u32,
    /// How long reading the counters takes, ms: as long as an API server may take.
    pub(crate) slow_ms: u64,
    /// How long it takes to reach an agent, ms: as long as a port-forward may take.
    pub(crate) far_ms: u64,
    /// What changes, a list for each time that it is asked.
    pub(crate) changes: Vec<Vec<String>>,
    /// What is metered, a list for each time that it is asked.
    pub(crate) meters: Vec<Vec<Metered>>,
    /// Which meters say nothing, and why.
    pub(crate) silent: Vec<String>,
    /// Who meters instead.
    pub(crate) housekeeping: Option<Housekeeping>,
    /// How often the meters were asked.
    pub(crate) asked: u32,
    /// The proxies of each path, which nobody sees but agents beside them. None of the traffic
    /// passes them.
    pub(crate) proxies: Vec<Proxy>,
    /// The onlookers on nodes of each path.
    pub(crate) node_onlookers: Vec<NodeOnlooker>,
    /// Agents that are no clients.
    pub(crate) only_serves: Vec<AgentId>,
    /// Agents that cannot be reached.
    pub(crate) gone: Vec<AgentId>,
}

impl Far {
    pub(crate) fn new(forwarded: bool) -> Self {
        Self { token: Secret::random().unwrap().to_text(), forwarded, ..Self::default() }
    }

    /// Agents that were started for a run, each with a key of its own.
    pub(crate) fn of_run() -> Self {
        Self { run: Some((Conductor::new().unwrap(), BTreeMap::new())), ..Self::new(false) }
    }

    fn credentials(&mut self, agent: &AgentId) -> Credentials {
        let secret = self.secret();
        let Some((conductor, keys)) = &mut self.run else { return secret.into() };
        let own = KeyPair::random().unwrap();
        keys.insert(agent.clone(), own.clone());
        Credentials::of_run(own, conductor.run_key())
    }

    fn start(&mut self, agent: &AgentId) -> Result<(), Fault> {
        let options = Options {
            listen: "127.0.0.1:0".parse().unwrap(),
            credentials: self.credentials(agent),
            limits: Limits::default(),
            http: true,
            both_ends: !self.only_serves.contains(agent),
        };
        self.agents.insert(agent.clone(), Server::start(&options)?);
        Ok(())
    }

    fn secret(&self) -> Secret {
        self.token.parse().unwrap()
    }

    fn address(&self, agent: &AgentId) -> SocketAddr {
        self.agents[agent].address()
    }
}

fn agents(path: &Path, role: &str, count: u32) -> Vec<AgentId> {
    (1..=count).map(|n| AgentId(format!("{role} {n} of {}", path.name))).collect()
}

/// A stream that ends at an agent's port, as a port-forward gives it.
fn forward(to: SocketAddr) -> (UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let tcp = TcpStream::connect(to).unwrap();
    let (tcp_back, theirs_back, cut) =
        (tcp.try_clone().unwrap(), theirs.try_clone().unwrap(), theirs.try_clone().unwrap());
    std::thread::spawn(move || copy(theirs, tcp, |tcp| drop(tcp.shutdown(Shutdown::Both))));
    std::thread::spawn(move || {
        copy(tcp_back, theirs_back, |unix| drop(unix.shutdown(Shutdown::Both)));
    });
    (ours, cut)
}

fn copy<W: Write>(mut from: impl Read, mut to: W, end: impl FnOnce(&W)) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(n) = from.read(&mut buffer) {
        if n == 0 || to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    end(&to);
}

impl Testbed for Far {
    fn name(&self) -> &'static str {
        "far"
    }

    fn missing(&mut self, _: &Plan) -> Vec<Need> {
        Vec::new()
    }

    fn up(&mut self, plan: &Plan) -> Result<(), Fault> {
        for path in &plan.paths {
            for agent in
                [agents(path, "client", path.clients), agents(path, "server", path.backends)]
                    .concat()
            {
                self.start(&agent)?;
            }
        }
        for beside in self.proxies.clone().into_iter().filter_map(|proxy| proxy.beside) {
            self.start(&beside.agent)?;
        }
        for onlooker in self.node_onlookers.clone() {
            self.start(&onlooker.agent)?;
        }
        Ok(())
    }

    fn route(&mut self, path: &Path, _: &Point) -> Result<Route, Fault> {
        let (clients, servers) =
            (agents(path, "client", path.clients), agents(path, "server", path.backends));
        // Two clients a machine.
        let of_client =
            clients.iter().enumerate().map(|(i, agent)| (agent.clone(), format!("c{}", i / 2 + 1)));
        let of_server = servers.iter().map(|agent| (agent.clone(), "s".to_owned()));
        let target = self.address(&servers[0]);
        Ok(Route {
            path: path.name.clone(),
            nodes: of_client.chain(of_server).collect(),
            clients,
            servers,
            hops: vec!["loopback".to_owned()],
            proxies: self.proxies.clone(),
            node_onlookers: self.node_onlookers.clone(),
            ..Route::to(target)
        })
    }

    fn control(&mut self, agent: &AgentId) -> Result<Control, Fault> {
        clock::sleep_until(clock::now() + self.far_ms * 1_000_000);
        *self.opened.entry(agent.clone()).or_default() += 1;
        if self.gone.contains(agent) {
            return Err(Fault::environment("nobody is there"));
        }
        let other = self.other_token.then(|| Secret::random().unwrap());
        let (address, secret) = (self.address(agent), other.unwrap_or_else(|| self.secret()));
        let tls = match &self.run {
            Some((conductor, keys)) => {
                tls::conductor_config(conductor.keys(), &keys[agent].public()).unwrap()
            }
            None => tls::client_config(&secret).unwrap(),
        };
        if !self.forwarded {
            return Ok(Control::Address { address, tls });
        }
        let (stream, cut) = forward(address);
        self.forwards.insert(agent.clone(), cut);
        Ok(Control::Forwarded { stream, tls })
    }

    fn permit(&mut self, bounds: &Bounds) -> Result<Option<SignedPermit>, Fault> {
        let servers = self
            .agents
            .iter()
            .filter(|(id, _)| id.0.starts_with("server"))
            .map(|(_, agent)| agent.address());
        let targets = self.permitted.map_or_else(|| servers.collect(), |only| [only].into());
        let permit = self.run.as_mut().map(|(conductor, _)| conductor.permit(targets, *bounds));
        self.permits.extend(permit.iter().map(|permit| Permit::from_text(&permit.text).unwrap()));
        Ok(permit)
    }

    fn counters(&mut self, route: &Route) -> Result<Counters, Fault> {
        clock::sleep_until(clock::now() + self.slow_ms * 1_000_000);
        self.looks += 1;
        if let Some(housekeeping) = &mut self.housekeeping {
            housekeeping.load_turns();
        }
        if self.cut_after && self.looks == 2 {
            let _ = self.forwards[&route.clients[0]].shutdown(Shutdown::Both);
        }
        if let Some((_, ms)) = self.cut.take_if(|(path, _)| *path == route.path) {
            let session = self.forwards[&route.clients[0]].try_clone().unwrap();
            std::thread::spawn(move || {
                clock::sleep_until(clock::now() + ms * 1_000_000);
                let _ = session.shutdown(Shutdown::Both);
            });
        }
        Ok(Counters::new())
    }

    fn meters(&mut self, _: &Route) -> Result<Vec<Metered>, Fault> {
        self.asked += 1;
        if let Some(housekeeping) = &self.housekeeping {
            return Ok(housekeeping.said());
        }
        Ok(if self.meters.is_empty() { Vec::new() } else { self.meters.remove(0) })
    }

    fn silent_meters(&self) -> Vec<String> {
        self.silent.clone()
    }

    fn changes(&mut self, _: &Route) -> Result<Vec<String>, Fault> {
        Ok(if self.changes.is_empty() { Vec::new() } else { self.changes.remove(0) })
    }

    fn prove(&self, _: &Route, _: &Counters, _: &Counters, _: &Seen<'_>) -> Vec<Proof> {
        vec![Proof { hop: "loopback".to_owned(), evidence: "taken".to_owned(), ok: true }]
    }

    fn facts(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn down(&mut self) {
        self.agents.clear();
    }
}
