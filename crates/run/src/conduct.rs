//! The conducting of one trial, from the orders to the agents' reports.

pub(crate) mod agent_connection;
mod beside;
mod edge_reader;
mod ends;
mod follow;
mod merge;
mod proxies;
mod sandboxes;
mod standing_orders;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use hopbench_control::secret::random_bytes;
use hopbench_model::secret::Secrets;
use hopbench_model::{EndReport, Fault, Job, Nanos, Pattern, SECOND, Transport};
use hopbench_sys::clock;
use hopbench_testbed::AgentId;
use hopbench_wire::{FlowKey, Prepare, Role, ToAgent};

use agent_connection::AgentConnection;
pub(crate) use beside::{late_ns as readings_late_ns, sees_program};
use edge_reader::EdgeReadings;
pub use ends::{Ends, Watch, Watcher};
use follow::{Conductor, Ending};
use merge::merge;
pub use proxies::Edges;
use proxies::Proxies;
use standing_orders::SETTLING;
pub use standing_orders::StandingOrders;

/// The result of a trial.
#[derive(Debug)]
pub struct TrialResult {
    /// What the clients saw together.
    pub client: EndReport,
    /// What the servers saw together; absent where there is none, and where any end's half of the
    /// account is missing.
    pub server: Option<EndReport>,
    /// What each client saw, in the order of [`Ends::clients`].
    pub clients: Vec<Option<EndReport>>,
    /// What each server saw, in the order of [`Ends::servers`].
    pub servers: Vec<Option<EndReport>>,
    /// What the onlookers read, which is of neither side.
    pub onlookers: BTreeMap<AgentId, EndReport>,
    /// What cut it short.
    pub fault: Option<Fault>,
    /// Whether the connections stood before it.
    pub stood: bool,
    /// How long load ran before the window, ns.
    pub warmup_ns: Nanos,
    /// What the agents did not grant.
    pub limited: Vec<String>,
    /// Whether all ends read one clock.
    pub shared_clock: bool,
    /// Whether all ends are on one machine. A sandbox there may have a clock of its own.
    pub one_machine: bool,
    /// Why the processes of the server program that answered were not seen: the servers' agents say
    /// nothing of it. `None`: they were seen, or the agents answered themselves.
    pub server_unseen: Option<String>,
    /// Whether each server's agent saw a program of its own. Otherwise all of them see the same
    /// processes, if they see any.
    pub programs_apart: bool,
    /// By how much at most the agents' clocks were taken wrongly, ns: half of the slowest round
    /// trip in which they were compared; 0 where all ends read this process' clock.
    pub clock_error_ns: Nanos,
    /// How late the order to start came to the clients, and to the servers, ns: the latest of those
    /// that are reached across a network.
    pub orders_late_ns: [Nanos; 2],
    /// Wall-clock time of the window's start, since 1970 UTC.
    pub started: std::time::Duration,
    /// What each proxy had spent at the edges of the window, in the order of [`Watch::proxies`];
    /// `Err`: why that is not known.
    pub proxies: Vec<Result<Edges, String>>,
    /// Of each of them, whether the agent beside it sees its container, early or late; `None`: no
    /// agent said it.
    pub seen_beside: Vec<Option<bool>>,
    /// The onlookers that took no part, or did not report, with the reason.
    pub failed_onlookers: BTreeMap<AgentId, String>,
    /// CPU time that the conductor's thread spent in the window, ns.
    pub conductor_cpu_ns: Nanos,
}

/// What each end adds to the time between the orders to start and the start of load, ns.
const HEAD_START_EACH: Nanos = 200_000;

/// Runs one trial between `ends`, each of whose clients does `job` and connects to `target`;
/// `watch` is who takes part besides. The secrets in the job go to the clients' agents only.
///
/// # Errors
/// What kept the load from starting, or left nothing to report. What breaks later is in the
/// outcome.
pub fn conduct(
    ends: &mut Ends,
    job: &Job,
    target: SocketAddr,
    watch: &Watch<'_>,
    watcher: &mut dyn Watcher,
) -> Result<TrialResult, Fault> {
    let shared_clock = shares_clock(ends);
    let mut orders = orders(ends, job, target, watch, shared_clock)?;
    let all = orders.len() as u64;
    // Onlookers have nothing to keep between two visits.
    let at_ends = ends.at_ends();
    let looking_on = orders.split_off(at_ends);
    let observe = |end: usize| ToAgent::Prepare(Box::new(looking_on[end - at_ends].clone()));
    let standing = ends.standing.take();
    orders.iter_mut().for_each(|order| order.replaces = standing.as_ref().map(StandingOrders::run));
    let one_machine = shared_clock || are_here(ends);
    let clocks = ends.clients.iter().chain(&ends.servers);
    let clock_error_ns = clocks.map(AgentConnection::clock_error_ns).max().unwrap_or(0);
    let proxies = Proxies::watch(watch.proxies)?;
    let mut trial = Conductor::new(ends)?;
    let patience = clock::now()
        + 20 * SECOND
        + 2 * job.timing.timeout_ns
        + 2 * all * u64::from(job.connections) * 1_000_000;
    let mut timing = job.timing;
    let mut made_ready = Err(Fault::measuring("nothing stands"));
    if let Some(standing) = standing.filter(|standing| standing.is_as(&orders)) {
        if !is_stream(job) {
            timing.warmup_ns = timing.warmup_ns.min(SETTLING);
        }
        let revisit = standing.revisit(timing.warmup_ns);
        let order = |end: usize| if end < at_ends { revisit.clone() } else { observe(end) };
        made_ready = trial.make_ready(order, patience, watcher);
        if made_ready.is_ok() {
            orders = standing.into_orders();
        }
    }
    let stood = made_ready.is_ok();
    if !stood {
        timing = job.timing;
        let order = |end: usize| match orders.get(end) {
            Some(order) => ToAgent::Prepare(Box::new(order.clone())),
            None => observe(end),
        };
        made_ready = trial.make_ready(order, patience, watcher);
    }
    let mut limited = made_ready?;
    let head_start = trial.head_start();
    let window_start = clock::now()
        + head_start
        + all * HEAD_START_EACH
        + 2 * trial.slowest_round_trip()
        + timing.warmup_ns;
    trial.start(window_start);
    watcher.window(window_start, timing.window_ns);
    let started =
        clock::wall() + std::time::Duration::from_nanos(window_start.saturating_sub(clock::now()));
    let (mut endings, mut seen) = trial.follow(&timing, window_start, proxies, watcher)?;
    let mut orders_late_ns = [0; 2];
    for (agent, (role, ending)) in ends.clients.iter_mut().chain(&mut ends.servers).zip(&endings) {
        let report = ending.report.as_ref().filter(|report| report.window_ns > 0);
        let Some(report) = report.filter(|_| agent.is_remote()) else { continue };
        agent.learn(head_start, report.order_late_ns);
        let latest = &mut orders_late_ns[usize::from(*role == Role::Server)];
        *latest = report.order_late_ns.max(*latest);
    }
    let seen_beside = beside::take(watch, &mut endings, &mut seen.proxies, timing.window_ns);
    let (mut onlookers, mut failed_onlookers) = (BTreeMap::new(), BTreeMap::new());
    for ((agent, _), (_, ending)) in ends.onlookers.iter().zip(endings.split_off(at_ends)) {
        onlookers.extend(ending.report.map(|report| (agent.clone(), report)));
        failed_onlookers.extend(ending.fault.map(|fault| (agent.clone(), fault.text)));
    }
    let is_whole = |(_, ending): &(Role, Ending)| {
        ending.fault.is_none()
            && ending.report.as_ref().is_some_and(|report| report.incomplete.is_none())
    };
    if ends.stay {
        let mut standing = StandingOrders::of(orders);
        if !endings.iter().all(is_whole) {
            standing.spend();
        }
        ends.standing = Some(standing);
    }
    let outcome = outcome(&endings, seen, job.timing.interval_ns)?;
    limited.dedup();
    let no_process = watch.programs.is_some_and(<[u32]>::is_empty);
    let unseen = beside::unseen_program(&outcome.servers, timing.window_ns);
    let programs_apart = no_process && unseen.is_none();
    Ok(TrialResult {
        limited,
        shared_clock,
        one_machine,
        server_unseen: unseen.filter(|_| no_process),
        programs_apart,
        onlookers,
        failed_onlookers,
        seen_beside,
        orders_late_ns,
        clock_error_ns,
        started,
        stood,
        warmup_ns: timing.warmup_ns,
        ..outcome
    })
}

/// Whether TCP has to find its rate: after a rest it begins with a small window again
/// (`tcp_slow_start_after_idle`).
fn is_stream(job: &Job) -> bool {
    let kind = job.kind();
    kind.transport == Transport::Tcp && kind.pattern == Pattern::OneWay
}

fn shares_clock(ends: &Ends) -> bool {
    let Some(first) = ends.clients.first() else { return false };
    ends.clients.iter().chain(&ends.servers).all(|agent| agent.shares_clock(first))
        || ends.servers.is_empty()
}

/// Whether all ends are on the machine of this process.
fn are_here(ends: &Ends) -> bool {
    ends.clients.iter().chain(&ends.servers).all(|agent| agent.is_here)
}

/// The orders of each end, the clients first, and of the onlookers last. Several servers get the
/// same: any of them may be sent any flow.
fn orders(
    ends: &Ends,
    job: &Job,
    target: SocketAddr,
    watch: &Watch<'_>,
    shared_clock: bool,
) -> Result<Vec<Prepare>, Fault> {
    let programs = watch.programs;
    let Some(first) = ends.clients.first() else {
        return Err(Fault::input("a trial needs a client"));
    };
    let workload = hopbench_load::workload(&job.workload)
        .ok_or_else(|| Fault::input(format!("workload `{}` is not known", job.workload)))?;
    let random =
        || random_bytes().map_err(|e| Fault::environment(format!("no random numbers: {e}")));
    let number = random()?;
    let clients = u32::try_from(ends.clients.len()).unwrap_or(u32::MAX);
    let mut together = workload.together(job, clients);
    Secrets::default().take(&job.workload, &mut together);
    if let Some(problem) = together.problems().first() {
        return Err(Fault::input(format!("{clients} clients together: {problem}")));
    }
    let server_offset = ends.servers.first().map_or(first.clock_offset_ns, |s| s.clock_offset_ns);
    let common = Prepare {
        run: u32::from_be_bytes([number[0], number[1], number[2], number[3]]),
        key: FlowKey::new(random()?),
        role: Role::Client,
        job: job.clone(),
        target: Some(target.to_string()),
        shared_clock,
        peer_clock_offset_ns: 0,
        first_flow: 0,
        all_connections: together.connections,
        watch: Vec::new(),
        watch_container: None,
        looks_on: false,
        neighbours: BTreeMap::new(),
        permit: ends.permit.clone(),
        // Other programs have no use for it, and are not to be trusted with it.
        shows_credential: !ends.servers.is_empty() && programs.is_none(),
        stays: ends.stay && ends.servers.len() <= 1 && hopbench_load::stays(workload, job),
        replaces: None,
    };
    let client = |(number, agent): (u32, &AgentConnection)| Prepare {
        peer_clock_offset_ns: server_offset.saturating_sub(agent.clock_offset_ns),
        first_flow: number.saturating_mul(job.connections),
        ..common.clone()
    };
    let server = |agent: &AgentConnection| Prepare {
        role: Role::Server,
        job: together.clone(),
        target: None,
        peer_clock_offset_ns: first.clock_offset_ns.saturating_sub(agent.clock_offset_ns),
        watch: programs.unwrap_or_default().to_vec(),
        looks_on: programs.is_some(),
        ..common.clone()
    };
    let onlooker = || Prepare {
        role: Role::Onlooker,
        job: together.clone(),
        target: None,
        shows_credential: false,
        stays: false,
        ..common.clone()
    };
    let clients = (0..).zip(&ends.clients).map(client);
    let mut orders: Vec<Prepare> = clients.chain(ends.servers.iter().map(server)).collect();
    orders.extend(ends.onlookers.iter().map(|_| onlooker()));
    for (end, order) in orders.iter_mut().enumerate() {
        order.neighbours = beside::neighbours(watch, end);
        if order.role == Role::Server {
            order.watch_container = beside::program(watch, end);
        }
    }
    Ok(orders)
}

/// The outcome of the words of both sides.
fn outcome(
    endings: &[(Role, Ending)],
    seen: EdgeReadings,
    interval_ns: Nanos,
) -> Result<TrialResult, Fault> {
    // An agent that is gone is why the flows of the others broke, and so is a proxy.
    let first = |lost: bool| {
        endings.iter().filter(|(_, e)| e.lost == lost).find_map(|(_, e)| e.fault.clone())
    };
    let fault = first(true).or(seen.fault).or_else(|| first(false));
    let side = |role: Role| -> Vec<Option<EndReport>> {
        endings
            .iter()
            .filter(|(r, _)| *r == role)
            .map(|(_, ending)| ending.report.clone())
            .collect()
    };
    let (clients, servers) = (side(Role::Client), side(Role::Server));
    let together =
        |side: &[Option<EndReport>]| merge(&side.iter().flatten().collect::<Vec<_>>(), interval_ns);
    let Some(client) = together(&clients) else {
        return Err(fault.unwrap_or_else(|| Fault::measuring("the client reported nothing")));
    };
    let whole = clients.iter().chain(&servers).all(Option::is_some);
    let server = if whole { together(&servers) } else { None };
    Ok(TrialResult {
        client,
        server,
        clients,
        servers,
        onlookers: BTreeMap::new(),
        fault,
        stood: false,
        warmup_ns: 0,
        limited: Vec::new(),
        shared_clock: false,
        one_machine: false,
        server_unseen: None,
        programs_apart: false,
        clock_error_ns: 0,
        started: std::time::Duration::ZERO,
        proxies: seen.proxies,
        seen_beside: Vec::new(),
        orders_late_ns: [0; 2],
        failed_onlookers: BTreeMap::new(),
        conductor_cpu_ns: seen.conductor_cpu_ns,
    })
}
