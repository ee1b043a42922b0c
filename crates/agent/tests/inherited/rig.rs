//! Agents in threads, and a conductor that drives them.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::Duration;

use hopbench_agent::{Inherited, Limits, hello};
use hopbench_control::Channel;
use hopbench_control::conductor::RunKey;
use hopbench_load::workload::TrialReports;
use hopbench_model::{Counter, EndReport, Fault, Job, SECOND, Timing, fixture};
use hopbench_sys::clock;
use hopbench_wire::{FlowKey, FromAgent, Hello, Prepare, Role, ToAgent};
use serde_json::{Value, json};

pub(crate) const MS: u64 = SECOND / 1000;

/// An agent in a thread, with the conductor's end of its session.
pub(crate) struct Agent {
    pub(crate) channel: Channel,
    pub(crate) hello: Hello,
    pub(crate) address: SocketAddr,
    thread: JoinHandle<Result<(), Fault>>,
}

impl Agent {
    /// With a port on loopback.
    pub(crate) fn start() -> Self {
        Self::of(None)
    }

    /// The same of a run.
    pub(crate) fn of(run: Option<RunKey>) -> Self {
        Self::with(Limits::default(), run)
    }

    /// With a port on loopback, and so many worker threads at most.
    pub(crate) fn limited(threads: u32) -> Self {
        Self::with(Limits { threads: Some(threads), ..Limits::default() }, None)
    }

    fn with(limits: Limits, run: Option<RunKey>) -> Self {
        let agent = Inherited::open(Some(([127, 0, 0, 1], 0).into()), limits, run).unwrap();
        let address = agent.address().unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        let thread = std::thread::spawn(move || agent.serve_over(theirs));
        let mut channel = Channel::pair(ours).unwrap();
        channel.send(&ToAgent::Hello(hello())).unwrap();
        let until = clock::now() + 5 * SECOND;
        let Some(FromAgent::Hello(hello)) = channel.receive_until(until).unwrap() else {
            panic!("no hello");
        };
        Self { channel, hello, address, thread }
    }

    pub(crate) fn send(&mut self, message: &ToAgent) {
        self.channel.send(message).unwrap();
    }

    /// The next message that is no tick and no answer to a ping, within 10 s.
    pub(crate) fn answer(&mut self) -> FromAgent {
        let until = clock::now() + 10 * SECOND;
        while clock::now() < until {
            match self.channel.receive_until(clock::now() + SECOND).unwrap() {
                Some(FromAgent::Pong | FromAgent::Progress(_)) => {}
                Some(message) => return message,
                None => self.send(&ToAgent::Ping),
            }
        }
        panic!("no answer within 10 s");
    }

    pub(crate) fn ready(&mut self) {
        match self.answer() {
            FromAgent::Ready { .. } => {}
            other => panic!("not ready: {other:?}"),
        }
    }

    pub(crate) fn report(&mut self) -> EndReport {
        match self.answer() {
            FromAgent::Done(report) => *report,
            other => panic!("no report: {other:?}"),
        }
    }

    /// Says goodbye; how the agent ended.
    pub(crate) fn bye(mut self) -> Result<(), Fault> {
        self.send(&ToAgent::Bye);
        self.thread.join().unwrap()
    }

    /// Goes without a word, as a conductor does that is killed; how the agent ended.
    pub(crate) fn vanish(self) -> Result<(), Fault> {
        drop(self.channel);
        self.thread.join().unwrap()
    }
}

pub(crate) fn job(workload: &str, params: Value, connections: u32) -> Job {
    let timing = Timing { warmup_ns: 20 * MS, interval_ns: 50 * MS, ..fixture::timing(200 * MS) };
    let mut job = Job { connections, timing, ..fixture::job(workload, params) };
    hopbench_load::workload(workload).unwrap().settle(&mut job);
    job
}

/// What each workload is asked for here; `http` against `address`.
pub(crate) fn params(workload: &str, address: SocketAddr) -> Value {
    match workload {
        "stream" => json!({"size": "128KiB", "direction": "to-server", "receive": "copy"}),
        "push" => json!({"size": "25kB", "rate": 100.0, "stagger": "spread"}),
        "udp" => json!({"size": "64B", "rate": "1000pps", "gso": 1}),
        "ping" => json!({"every": "10ms", "size": "56B"}),
        "http" => json!({"url": format!("http://{address}/?size=100")}),
        "rr-udp" => json!({"size": "1B", "udp": true}),
        _ => json!({"size": "1B"}),
    }
}

/// A trial of several clients and servers, from the first `Prepare` to the last report.
pub(crate) struct TestTrial {
    pub(crate) job: Job,
    pub(crate) target: SocketAddr,
    pub(crate) watch: Vec<u32>,
}

/// What came of it.
pub(crate) struct Measured {
    pub(crate) clients: Vec<EndReport>,
    pub(crate) servers: Vec<EndReport>,
    /// From the first `Prepare` to the last `Ready`, ns; 0 where that was not looked at.
    pub(crate) opening_ns: u64,
    /// From the end of the window to the last report, ns.
    pub(crate) closing_ns: u64,
}

impl TestTrial {
    pub(crate) fn new(job: Job, target: SocketAddr) -> Self {
        Self { job, target, watch: Vec::new() }
    }

    pub(crate) fn prepare(&self, run: u32, role: Role, client: u32, clients: u32) -> ToAgent {
        let workload = hopbench_load::workload(&self.job.workload).unwrap();
        ToAgent::Prepare(Box::new(Prepare {
            run,
            key: FlowKey::new([3; 32]),
            role,
            job: if role == Role::Client {
                self.job.clone()
            } else {
                workload.together(&self.job, clients)
            },
            target: (role == Role::Client).then(|| self.target.to_string()),
            shared_clock: true,
            peer_clock_offset_ns: 0,
            first_flow: client * self.job.connections,
            all_connections: clients * self.job.connections,
            watch: if role == Role::Server { self.watch.clone() } else { Vec::new() },
            watch_container: None,
            looks_on: false,
            neighbours: std::collections::BTreeMap::new(),
            permit: None,
            shows_credential: true,
            stays: false,
            replaces: None,
        }))
    }

    pub(crate) fn run<'a>(
        &self,
        run: u32,
        clients: &mut [&'a mut Agent],
        servers: &mut [&'a mut Agent],
    ) -> Measured {
        let count = clients.len() as u32;
        let began = clock::now();
        for server in servers.iter_mut() {
            server.send(&self.prepare(run, Role::Server, 0, count));
            server.ready();
        }
        for (i, client) in clients.iter_mut().enumerate() {
            client.send(&self.prepare(run, Role::Client, i as u32, count));
        }
        clients.iter_mut().for_each(|client| client.ready());
        let opening_ns = clock::now() - began;
        Measured { opening_ns, ..self.measure(clients, servers) }
    }

    /// From `Start` on, where all are ready.
    pub(crate) fn measure<'a>(
        &self,
        clients: &mut [&'a mut Agent],
        servers: &mut [&'a mut Agent],
    ) -> Measured {
        let window_start_ns = clock::now() + 5 * MS + self.job.timing.warmup_ns;
        for agent in clients.iter_mut().chain(servers.iter_mut()) {
            agent.send(&ToAgent::Start { window_start_ns });
        }
        let clients: Vec<_> = clients.iter_mut().map(|client| client.report()).collect();
        servers.iter_mut().for_each(|server| server.send(&ToAgent::Finish));
        let servers = servers.iter_mut().map(|server| server.report()).collect();
        let closing_ns = clock::now().saturating_sub(window_start_ns + self.job.timing.window_ns);
        Measured { clients, servers, opening_ns: 0, closing_ns }
    }
}

/// Every invariant that the workload's figures state.
pub(crate) fn assert_sound(
    trial: &TestTrial,
    client: &EndReport,
    server: &EndReport,
) -> BTreeSet<String> {
    let workload = hopbench_load::workload(&trial.job.workload).unwrap();
    let reports = TrialReports {
        job: &trial.job,
        client,
        server: Some(server),
        shared_clock: true,
        proxied: false,
    };
    let figures = workload.figures(&reports);
    let broken: Vec<_> = figures.invariants.iter().filter(|i| !i.ok).collect();
    assert!(broken.is_empty(), "{}: {broken:?}", trial.job.workload);
    figures.invariants.into_iter().map(|i| i.name).collect()
}

/// The other end may close before it has read everything; what counts is what it said.
pub(crate) fn ask(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = [0; 512];
    let got = match stream.read(&mut answer) {
        Ok(got) => got,
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
        Err(error) => panic!("neither an answer nor an end: {error}"),
    };
    String::from_utf8_lossy(&answer[..got]).into_owned()
}

/// Bytes that one end sent and received, all in all.
pub(crate) fn moved(end: &EndReport) -> u64 {
    end.drained.of(Counter::SentBytes) + end.drained.of(Counter::ReceivedBytes)
}
