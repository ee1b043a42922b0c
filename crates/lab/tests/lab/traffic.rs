//! Traffic without agents: threads inside the places' namespaces, and the reports that agents would
//! give.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use hopbench_lab::Lab;
use hopbench_model::{Counter, EndReport, FlowReport, Job, Path, Proof};
use hopbench_testbed::{AgentId, Counters, Route, Seen, Testbed};

use super::plans;

/// Bytes each way on each connection.
pub(crate) const PAYLOAD: usize = 40_000;

pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// One trial: what the ends would have reported, and the counters around it.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) route: Route,
    pub(crate) job: Job,
    pub(crate) before: Counters,
    pub(crate) after: Counters,
    pub(crate) clients: Vec<(AgentId, EndReport)>,
    pub(crate) servers: Vec<(AgentId, EndReport)>,
    pub(crate) machines: BTreeMap<AgentId, BTreeMap<String, String>>,
}

impl Trial {
    /// One in which nothing moved.
    pub(crate) fn nothing(route: Route) -> Self {
        Self {
            route,
            job: plans::job("rr", 1),
            before: Counters::new(),
            after: Counters::new(),
            clients: vec![],
            servers: vec![],
            machines: BTreeMap::new(),
        }
    }

    /// What the lab makes of it.
    pub(crate) fn proofs(&self, lab: &Lab) -> Vec<Proof> {
        let Self { job, clients, servers, machines, .. } = self;
        lab.prove(
            &self.route,
            &self.before,
            &self.after,
            &Seen { job, clients, servers, machines, stood: false },
        )
    }

    /// Proofs that are not.
    pub(crate) fn doubts(&self, lab: &Lab) -> Vec<Proof> {
        self.proofs(lab).into_iter().filter(|proof| !proof.ok).collect()
    }
}

/// Echoes over a path, `connections` from each client.
pub(crate) fn echo(lab: &mut Lab, path: &Path, connections: u32) -> Result<Trial, String> {
    let route = lab.route(path, &plans::point("rr", plans::agent())).map_err(|e| e.to_string())?;
    echo_to(lab, route.clone(), route.target, connections)
}

/// The same, to another address than the route says.
pub(crate) fn echo_to(
    lab: &mut Lab,
    route: Route,
    target: SocketAddr,
    connections: u32,
) -> Result<Trial, String> {
    watched(lab, route, plans::job("rr", connections), |lab, route| {
        trial(lab, route, target, connections, PAYLOAD)
    })
}

/// Echoes of this size.
pub(crate) fn echo_of(
    lab: &mut Lab,
    path: &Path,
    connections: u32,
    bytes: usize,
) -> Result<Trial, String> {
    let route = lab.route(path, &plans::point("rr", plans::agent())).map_err(|e| e.to_string())?;
    let job = plans::job("rr", connections);
    watched(lab, route, job, |lab, route| trial(lab, route, route.target, connections, bytes))
}

/// An echo on each of so many connections, after one that carries nothing: what `crr` does.
pub(crate) fn once_each(lab: &mut Lab, path: &Path, connections: u32) -> Result<Trial, String> {
    let route = lab.route(path, &plans::point("crr", plans::agent())).map_err(|e| e.to_string())?;
    watched(lab, route, plans::job("crr", 1), |lab, route| {
        let nothing = || TcpStream::connect_timeout(&route.target, PATIENCE).map(drop);
        namespace(lab, &route.clients[0])
            .run(nothing)
            .expect("a namespace to enter")
            .map_err(|e| e.to_string())?;
        let (mut clients, servers) = trial(lab, route, route.target, connections, PAYLOAD)?;
        clients[0].1.settings.insert("preflight_connections".to_owned(), "1".to_owned());
        Ok((clients, servers))
    })
}

/// A trial of this traffic.
pub(crate) fn watched(
    lab: &mut Lab,
    route: Route,
    job: Job,
    traffic: impl FnOnce(&Lab, &Route) -> Result<(Ends, Ends), String>,
) -> Result<Trial, String> {
    let before = lab.counters(&route).map_err(|e| e.to_string())?;
    let (clients, servers) = traffic(lab, &route)?;
    let after = lab.counters(&route).map_err(|e| e.to_string())?;
    let ids: Vec<&AgentId> = route.agents().collect();
    let machines = ids
        .into_iter()
        .map(|id| {
            let inode = namespace(lab, id).inode().to_string();
            (id.clone(), BTreeMap::from([("netns".to_owned(), inode)]))
        })
        .collect();
    Ok(Trial { route, job, before, after, clients, servers, machines })
}

/// The namespace of an agent; agents on `host` are in their node's.
pub(crate) fn namespace<'a>(lab: &'a Lab, id: &AgentId) -> &'a hopbench_lab::namespace::Namespace {
    lab.namespace(&id.0).expect("a place of the lab")
}

/// The port of an agent, as the lab has it: those that share a namespace count up.
pub(crate) fn port(id: &AgentId) -> u16 {
    let seat: u16 = id.0.split_once('#').map_or(1, |(_, seat)| seat.parse().expect("a number"));
    if id.0.starts_with("host") { 7473 + seat } else { 7474 }
}

pub(crate) type Ends = Vec<(AgentId, EndReport)>;

/// The reports of the clients and the servers of a trial. `serve` runs at each of `servers`, on a
/// thread in its namespace, until its last argument says that the clients are done. `ask` runs once
/// all of them listen: each has waited at the barrier.
pub(crate) fn beside_servers(
    lab: &Lab,
    servers: &[AgentId],
    serve: impl Fn(u16, &Barrier, &AtomicBool) -> EndReport + Sync,
    ask: impl FnOnce() -> Result<Ends, String>,
) -> Result<(Ends, Ends), String> {
    let over = AtomicBool::new(false);
    let ready = Barrier::new(servers.len() + 1);
    std::thread::scope(|scope| {
        let (over, ready, serve) = (&over, &ready, &serve);
        let start = |id: &AgentId| {
            let (inside, port) = (namespace(lab, id), port(id));
            let serve = move || inside.run(|| serve(port, ready, over));
            (id.clone(), scope.spawn(move || serve().expect("a namespace to enter")))
        };
        let servers: Vec<_> = servers.iter().map(start).collect();
        ready.wait();
        let clients = ask();
        over.store(true, Ordering::Release);
        let servers =
            servers.into_iter().map(|(id, end)| (id, end.join().expect("a server"))).collect();
        Ok((clients?, servers))
    })
}

fn trial(
    lab: &Lab,
    route: &Route,
    target: SocketAddr,
    connections: u32,
    bytes: usize,
) -> Result<(Ends, Ends), String> {
    let serve = |port, ready: &Barrier, over: &AtomicBool| serve(port, ready, over, bytes);
    let client = |id| {
        namespace(lab, id).run(|| ask(target, connections, bytes)).expect("a namespace to enter")
    };
    // All clients at once.
    let clients = || {
        std::thread::scope(|scope| {
            let start = |id| (id, scope.spawn(move || client(id)));
            let clients: Vec<_> = route.clients.iter().map(start).collect();
            let report =
                |(id, end): (&AgentId, ScopedJoinHandle<'_, Result<EndReport, String>>)| {
                    Ok((id.clone(), end.join().expect("a client")?))
                };
            clients.into_iter().map(report).collect()
        })
    };
    beside_servers(lab, &route.servers, serve, clients)
}

fn ask(target: SocketAddr, connections: u32, bytes: usize) -> Result<EndReport, String> {
    let mut report = EndReport::default();
    for _ in 0..connections {
        let told = |what: &str, e: std::io::Error| format!("{what} {target}: {e}");
        let mut stream =
            TcpStream::connect_timeout(&target, PATIENCE).map_err(|e| told("connect to", e))?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|e| told("timeout for", e))?;
        let mut payload = vec![b'x'; bytes];
        stream.write_all(&payload).map_err(|e| told("write to", e))?;
        stream.read_exact(&mut payload).map_err(|e| told("read from", e))?;
        count(&mut report, Counter::Connects, 1);
        count(&mut report, Counter::Completed, 1);
        count(&mut report, Counter::SentBytes, bytes as u64);
        count(&mut report, Counter::ReceivedBytes, bytes as u64);
    }
    Ok(report)
}

fn serve(port: u16, ready: &Barrier, over: &AtomicBool, bytes: usize) -> EndReport {
    let listener = TcpListener::bind(everywhere(port)).expect("the port");
    listener.set_nonblocking(true).expect("a setting");
    ready.wait();
    let mut report = EndReport::default();
    while !over.load(Ordering::Acquire) {
        let (mut stream, peer) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_micros(200));
                continue;
            }
            Err(error) => panic!("accept: {error}"),
        };
        stream.set_nonblocking(false).expect("a setting");
        stream.set_read_timeout(Some(PATIENCE)).expect("a setting");
        let mut payload = vec![0; bytes];
        match stream.read_exact(&mut payload) {
            // One that carries nothing.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => continue,
            read => read.expect("the question"),
        }
        stream.write_all(&payload).expect("the answer");
        count(&mut report, Counter::ReceivedBytes, bytes as u64);
        let flow = report.flows.len() as u32;
        report.flows.push(FlowReport { flow, local: String::new(), peer: peer.to_string() });
    }
    report
}

pub(crate) fn count(report: &mut EndReport, counter: Counter, more: u64) {
    let before = report.drained.of(counter);
    report.drained.set(counter, before + more);
}

/// Whether the kernel knows IPv6.
pub(crate) fn has_ipv6() -> bool {
    std::path::Path::new("/proc/sys/net/ipv6").exists()
}

/// All local addresses, of both families where there are both.
pub(crate) fn everywhere(port: u16) -> SocketAddr {
    let (v6, v4) = (IpAddr::from(Ipv6Addr::UNSPECIFIED), IpAddr::from(Ipv4Addr::UNSPECIFIED));
    SocketAddr::new(if has_ipv6() { v6 } else { v4 }, port)
}

/// Any local address that can send to this one.
fn any(target: SocketAddr) -> SocketAddr {
    let any = if target.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    any.parse().expect("an address")
}

/// Datagrams through a path's target, one socket each; how many answers came, and from how many
/// servers.
pub(crate) fn datagrams(lab: &Lab, route: &Route, count: usize) -> (usize, usize) {
    let over = AtomicBool::new(false);
    let ready = Barrier::new(route.servers.len() + 1);
    std::thread::scope(|scope| {
        let (over, ready) = (&over, &ready);
        for (number, id) in route.servers.iter().enumerate() {
            let inside = namespace(lab, id);
            let serve = move || {
                let socket = UdpSocket::bind(everywhere(port(id))).expect("the port");
                socket.set_read_timeout(Some(Duration::from_millis(5))).expect("a setting");
                ready.wait();
                let mut datagram = [0; 16];
                while !over.load(Ordering::Acquire) {
                    if let Ok((_, peer)) = socket.recv_from(&mut datagram) {
                        socket.send_to(&[number as u8], peer).expect("the answer");
                    }
                }
            };
            scope.spawn(move || inside.run(serve).expect("a namespace to enter"));
        }
        ready.wait();
        let target = route.target;
        let ask = || {
            (0..count)
                .filter_map(|_| {
                    let socket = UdpSocket::bind(any(target)).expect("a socket");
                    socket.connect(target).expect("a target");
                    socket.set_read_timeout(Some(PATIENCE)).expect("a setting");
                    socket.send(b"hello").expect("a datagram");
                    let mut answer = [0; 1];
                    socket.recv(&mut answer).ok().map(|_| answer[0])
                })
                .collect::<Vec<u8>>()
        };
        let answers = namespace(lab, &route.clients[0]).run(ask).expect("a namespace to enter");
        over.store(true, Ordering::Release);
        let from: std::collections::BTreeSet<u8> = answers.iter().copied().collect();
        (answers.len(), from.len())
    })
}
