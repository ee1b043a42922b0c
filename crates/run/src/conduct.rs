//! One trial.

use std::net::SocketAddr;

use hopbench_control::secret::random_bytes;
use hopbench_model::{EndReport, Fault, Job, Nanos, SECOND, Tick};
use hopbench_sys::{Epoll, Events, clock};
use hopbench_wire::{FlowKey, FromAgent, Prepare, Role, ToAgent};

use crate::link::Link;

/// The agents at the ends of a path.
#[derive(Debug)]
pub struct Ends {
    /// The one that opens connections.
    pub client: Link,
    /// The one that accepts them; absent where the server is no agent.
    pub server: Option<Link>,
}

/// Who looks on while a trial runs.
pub trait Watcher {
    /// One end's state at the end of an interval.
    fn tick(&mut self, role: Role, tick: &Tick);

    /// Whether the user wants the trial to end now.
    fn interrupted(&self) -> bool;
}

/// What came of a trial.
#[derive(Debug)]
pub struct Outcome {
    /// What the client saw.
    pub client: EndReport,
    /// What the server saw.
    pub server: Option<EndReport>,
    /// What cut it short.
    pub fault: Option<Fault>,
    /// What the agents did not grant.
    pub limited: Vec<String>,
    /// Whether both ends read one clock.
    pub shared_clock: bool,
    /// Wall-clock time of the window's start, since 1970 UTC.
    pub started: std::time::Duration,
}

/// Time between the order to start and the start of load, for the order to arrive.
const HEAD_START: Nanos = 5_000_000;
/// How often the conductor looks around although nothing came.
const LOOK: Nanos = 50_000_000;

/// Runs one trial between `ends`, whose client connects to `target`.
///
/// # Errors
/// What kept the load from starting, or left nothing to report. What breaks later is in the outcome.
pub fn conduct(ends: &mut Ends, job: &Job, target: SocketAddr, watcher: &mut dyn Watcher) -> Result<Outcome, Fault> {
    let mut trial = Conductor::new(ends)?;
    let prepare = prepare(trial.ends, job, target)?;
    let mut limited = Vec::new();
    let patience = clock::now() + 20 * SECOND + 2 * job.timing.timeout_ns + 2 * u64::from(job.connections) * 1_000_000;
    // The server first: a client's flows must find it ready.
    for role in [Role::Server, Role::Client] {
        if role == Role::Server && trial.ends.server.is_none() {
            continue;
        }
        trial.link(role).send(&ToAgent::Prepare(Box::new(Prepare {
            role,
            target: (role == Role::Client).then(|| target.to_string()),
            ..prepare.clone()
        })))?;
        match trial.await_ready(role, patience, watcher) {
            Ok(more) => limited.extend(more),
            Err(fault) => {
                trial.abort();
                return Err(fault);
            }
        }
    }
    let now = clock::now();
    let slowest = trial.slowest_round_trip();
    let window_start = now + HEAD_START + 2 * slowest + job.timing.warmup_ns;
    for role in trial.roles() {
        let link = trial.link(role);
        let at = window_start.saturating_add_signed(link.clock_offset_ns);
        link.send(&ToAgent::Start { window_start_ns: at })?;
    }
    let started = clock::wall() + std::time::Duration::from_nanos(window_start.saturating_sub(clock::now()));
    let mut outcome = trial.follow(job, window_start, watcher)?;
    outcome.limited = limited;
    outcome.shared_clock = prepare.shared_clock;
    outcome.started = started;
    Ok(outcome)
}

/// What both ends must know, but for their roles.
fn prepare(ends: &Ends, job: &Job, target: SocketAddr) -> Result<Prepare, Fault> {
    let random = || random_bytes().map_err(|e| Fault::environment(format!("no random numbers: {e}")));
    let number = random()?;
    let server_offset = ends.server.as_ref().map_or(0, |s| s.clock_offset_ns);
    Ok(Prepare {
        run: u32::from_be_bytes([number[0], number[1], number[2], number[3]]),
        key: FlowKey::new(random()?).to_hex(),
        role: Role::Client,
        job: job.clone(),
        target: Some(target.to_string()),
        shared_clock: ends.server.as_ref().is_none_or(|s| s.shares_clock(&ends.client)),
        peer_clock_offset_ns: server_offset - ends.client.clock_offset_ns,
    })
}

struct Conductor<'e> {
    ends: &'e mut Ends,
    epoll: Epoll,
    events: Events,
}

/// How one end's trial ended.
struct Ending {
    report: Option<EndReport>,
    fault: Option<Fault>,
}

impl<'e> Conductor<'e> {
    fn new(ends: &'e mut Ends) -> Result<Self, Fault> {
        let cannot = |e: std::io::Error| Fault::environment(format!("cannot watch the agents: {e}"));
        let epoll = Epoll::new().map_err(cannot)?;
        epoll.add(ends.client.channel.readiness(), 0).map_err(cannot)?;
        if let Some(server) = &ends.server {
            epoll.add(server.channel.readiness(), 1).map_err(cannot)?;
        }
        Ok(Self { ends, epoll, events: Events::with_capacity(2) })
    }

    fn roles(&self) -> Vec<Role> {
        if self.ends.server.is_some() { vec![Role::Client, Role::Server] } else { vec![Role::Client] }
    }

    fn link(&mut self, role: Role) -> &mut Link {
        match (role, &mut self.ends.server) {
            (Role::Server, Some(server)) => server,
            _ => &mut self.ends.client,
        }
    }

    fn slowest_round_trip(&self) -> Nanos {
        self.ends.client.round_trip_ns.max(self.ends.server.as_ref().map_or(0, |s| s.round_trip_ns))
    }

    /// Waits until something may have come, and keeps the sessions alive.
    fn pause(&mut self) -> Result<(), Fault> {
        let now = clock::now();
        for role in self.roles() {
            self.link(role).keep_alive(now)?;
        }
        self.epoll.wait(&mut self.events, Some(LOOK)).map_err(|e| Fault::measuring(format!("epoll: {e}")))
    }

    fn await_ready(&mut self, role: Role, until: Nanos, watcher: &dyn Watcher) -> Result<Vec<String>, Fault> {
        loop {
            match self.link(role).receive()? {
                Some(FromAgent::Ready { limited }) => return Ok(limited),
                Some(FromAgent::Failed { fault, .. }) => return Err(fault),
                Some(_) => continue,
                None => {}
            }
            // The other end may fail first, and then says why.
            if role == Role::Client
                && let Some(server) = &mut self.ends.server
                && let Some(FromAgent::Failed { fault, .. }) = server.receive()?
            {
                return Err(fault);
            }
            if watcher.interrupted() {
                return Err(Fault::measuring("interrupted before anything was measured"));
            }
            if clock::now() >= until {
                return Err(Fault::environment("the flows could not be opened in time"));
            }
            self.pause()?;
        }
    }

    /// Follows the trial to both reports.
    fn follow(&mut self, job: &Job, window_start: Nanos, watcher: &mut dyn Watcher) -> Result<Outcome, Fault> {
        let until = window_start + job.timing.window_ns + 2 * job.timing.timeout_ns + 30 * SECOND;
        let (mut client, mut server): (Option<Ending>, Option<Ending>) = (None, None);
        let mut finished = [false, false];
        loop {
            for role in self.roles() {
                if role == Role::Client && client.is_some() || role == Role::Server && server.is_some() {
                    continue;
                }
                let ending = self.hear(role, watcher);
                match role {
                    Role::Client => client = ending,
                    Role::Server => server = ending,
                }
            }
            let server_over = server.is_some() || self.ends.server.is_none();
            if server_over && client.is_some() {
                break;
            }
            let late = clock::now() >= until;
            // The server ends when the client is done; the client ends early when the user or the server wants it.
            let ends =
                [server.is_some() || watcher.interrupted() || late, client.is_some() || watcher.interrupted() || late];
            for (index, role) in [Role::Client, Role::Server].into_iter().enumerate() {
                let over = if role == Role::Client { client.is_some() } else { server_over };
                if ends[index] && !finished[index] && !over {
                    finished[index] = true;
                    // An agent that is gone is noticed by the next receive.
                    let _ = self.link(role).send(&ToAgent::Finish);
                }
            }
            if clock::now() >= until + 15 * SECOND {
                self.abort();
                return Err(Fault::measuring("the agents did not end the trial in time"));
            }
            if self.pause().is_err() {
                // Who is gone will be heard of above.
                clock::sleep_until(clock::now() + LOOK);
            }
        }
        let (client, server) = (client.unwrap_or_else(Ending::nothing), server);
        let server_fault = server.as_ref().and_then(|s| s.fault.clone());
        let fault = client.fault.or(server_fault);
        let Some(client) = client.report else {
            return Err(fault.unwrap_or_else(|| Fault::measuring("the client reported nothing")));
        };
        Ok(Outcome {
            client,
            server: server.and_then(|s| s.report),
            fault,
            limited: Vec::new(),
            shared_clock: false,
            started: std::time::Duration::ZERO,
        })
    }

    /// Takes what one end says; its ending, if that came.
    fn hear(&mut self, role: Role, watcher: &mut dyn Watcher) -> Option<Ending> {
        loop {
            match self.link(role).receive() {
                Ok(None) => return None,
                Ok(Some(FromAgent::Progress(tick))) => watcher.tick(role, &tick),
                Ok(Some(FromAgent::Done(report))) => {
                    return Some(Ending { report: Some(*report), fault: None });
                }
                Ok(Some(FromAgent::Failed { fault, report })) => {
                    return Some(Ending { report: report.map(|r| *r), fault: Some(fault) });
                }
                Ok(Some(_)) => {}
                Err(fault) => {
                    return Some(Ending { report: None, fault: Some(fault) });
                }
            }
        }
    }

    /// Drops the trial at both ends, and waits for their word, so that the next can begin.
    fn abort(&mut self) {
        let until = clock::now() + 5 * SECOND;
        for role in self.roles() {
            if self.link(role).send(&ToAgent::Abort).is_err() {
                continue;
            }
            while clock::now() < until && self.link(role).in_trial() {
                match self.link(role).receive() {
                    Ok(Some(_)) => {}
                    Ok(None) => drop(self.pause()),
                    Err(_) => break,
                }
            }
        }
    }
}

impl Ending {
    fn nothing() -> Self {
        Self { report: None, fault: None }
    }
}
