//! The conductor's side of one trial, message by message.

use std::collections::BTreeMap;

use hopbench_model::{Counter, EndReport, Fault, Nanos, SECOND, Timing};
use hopbench_sys::{Epoll, Events, clock};
use hopbench_wire::{FromAgent, MAX_ORDER, Role, ToAgent, encode};

use super::agent_connection::AgentConnection;
use super::edge_reader::{EdgeReader, EdgeReadings};
use super::ends::{Ends, Watcher};
use super::proxies::Proxies;

/// How often the conductor looks around although nothing came.
const LOOK: Nanos = 50_000_000;
/// So many messages of one end are taken before the others, the user and the clock get their turn;
/// what is left is taken at the next look at all.
const TURN: usize = 64;
/// How long agents have to drop a trial.
const ABORT_PATIENCE: Nanos = 5 * SECOND;
/// How much later than the last moment planned an agent may report, once it was told to end.
const LAST_WORD: Nanos = 15 * SECOND;
/// How long an onlooker may take to be ready, and to report once the ends have.
const ONLOOKERS_PATIENCE: Nanos = 2 * SECOND;

/// One trial between the ends. Agents are numbered: the clients first, the onlookers last.
pub(super) struct Conductor<'e> {
    ends: &'e mut Ends,
    epoll: Epoll,
    events: Events,
    /// The onlookers that the trial does without, by number, with the reason.
    left_out: BTreeMap<usize, Fault>,
}

/// How one end's trial ended.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) report: Option<EndReport>,
    pub(super) fault: Option<Fault>,
    /// The agent itself is gone.
    pub(super) lost: bool,
}

impl Ending {
    /// Of an agent that reported nothing.
    fn silent(fault: &Fault) -> Self {
        Self { report: None, fault: Some(fault.clone()), lost: false }
    }
}

impl<'e> Conductor<'e> {
    pub(super) fn new(ends: &'e mut Ends) -> Result<Self, Fault> {
        let count = ends.all().count();
        // Nobody spoke while they rested.
        (0..count).for_each(|number| ends.agent(number).begin());
        let cannot =
            |e: std::io::Error| Fault::environment(format!("cannot watch the agents: {e}"));
        let epoll = Epoll::new().map_err(cannot)?;
        for (token, agent) in (0..).zip(ends.all()) {
            epoll.add_for_reading(agent.channel.readiness(), token).map_err(cannot)?;
        }
        let events = Events::with_capacity(count.clamp(1, 64));
        Ok(Self { ends, epoll, events, left_out: BTreeMap::new() })
    }

    fn count(&self) -> usize {
        self.ends.at_ends() + self.ends.onlookers.len()
    }

    fn role(&self, end: usize) -> Role {
        let roles = [Role::Client, Role::Server];
        roles.into_iter().find(|role| self.side(*role).contains(&end)).unwrap_or(Role::Onlooker)
    }

    fn side(&self, role: Role) -> std::ops::Range<usize> {
        let (clients, at_ends) = (self.ends.clients.len(), self.ends.at_ends());
        match role {
            Role::Client => 0..clients,
            Role::Server => clients..at_ends,
            Role::Onlooker => at_ends..self.count(),
        }
    }

    fn agent(&mut self, end: usize) -> &mut AgentConnection {
        self.ends.agent(end)
    }

    /// Time for the orders to start to arrive, ns.
    pub(super) fn head_start(&self) -> Nanos {
        self.at_ends().map(|agent| agent.head_start_ns).max().unwrap_or(0)
    }

    pub(super) fn slowest_round_trip(&self) -> Nanos {
        self.at_ends().map(|agent| agent.round_trip_ns).max().unwrap_or(0)
    }

    /// The agents that trials wait for: readings of an onlooker that is late are left out.
    fn at_ends(&self) -> impl Iterator<Item = &AgentConnection> {
        self.ends.clients.iter().chain(&self.ends.servers)
    }

    /// Has all agents made ready by the order of each, by its number; what the ends did not grant.
    /// If an end cannot be made ready, none is. An onlooker that cannot is done without.
    pub(super) fn make_ready(
        &mut self,
        order: impl Fn(usize) -> ToAgent,
        until: Nanos,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<String>, Fault> {
        self.left_out.clear();
        for end in self.side(Role::Onlooker) {
            if let Err(fault) = self.order_one(end, &order) {
                self.left_out.insert(end, fault);
            }
        }
        let mut limited = Vec::new();
        // The servers first: a client's flows must find them ready.
        for side in [Role::Server, Role::Client] {
            let made_ready =
                self.order(side, &order).and_then(|()| self.await_ready(side, until, watcher));
            match made_ready {
                Ok(more) => limited.extend(more),
                Err(fault) => {
                    self.abort();
                    return Err(fault);
                }
            }
        }
        self.await_onlookers().inspect_err(|_| self.abort())?;
        Ok(limited)
    }

    /// Sends one side its orders.
    fn order(&mut self, role: Role, order: &impl Fn(usize) -> ToAgent) -> Result<(), Fault> {
        self.side(role).try_for_each(|end| self.order_one(end, order))
    }

    /// Sends one agent its order.
    fn order_one(&mut self, end: usize, order: &impl Fn(usize) -> ToAgent) -> Result<(), Fault> {
        let order = order(end);
        let agent = self.agent(end);
        // The agent would end the session, and could not say why.
        if agent.is_remote() {
            fits(&order)?;
        }
        agent.send(&order)
    }

    /// Waits until the onlookers are ready, for a moment. The trial does without the others.
    fn await_onlookers(&mut self) -> Result<(), Fault> {
        let until = clock::now() + ONLOOKERS_PATIENCE;
        let late = || Fault::measuring("it was not ready in time");
        let mut waiting: Vec<usize> = self.side(Role::Onlooker).collect();
        waiting.retain(|end| !self.left_out.contains_key(end));
        loop {
            waiting.retain(|end| {
                let fault = match self.agent(*end).receive() {
                    Ok(Some(FromAgent::Ready { .. })) => return false,
                    Ok(Some(FromAgent::Failed { fault, .. })) | Err(fault) => fault,
                    Ok(_) if clock::now() >= until => late(),
                    Ok(_) => return true,
                };
                self.left_out.insert(*end, fault);
                false
            });
            if waiting.is_empty() {
                return Ok(());
            }
            self.pause_until(Some(until))?;
        }
    }

    /// Waits until one side is ready; what its agents did not grant.
    fn await_ready(
        &mut self,
        role: Role,
        until: Nanos,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<String>, Fault> {
        let side = self.side(role);
        let mut waiting: Vec<usize> = side.clone().collect();
        let mut limited = Vec::new();
        while !waiting.is_empty() {
            // Any end may fail, and then says why; those that are ready already say nothing else.
            for end in 0..self.ends.at_ends() {
                if role == Role::Server && !side.contains(&end) {
                    continue;
                }
                match self.agent(end).receive()? {
                    Some(FromAgent::Ready { limited: more }) => {
                        waiting.retain(|waits| *waits != end);
                        limited.extend(more);
                    }
                    Some(FromAgent::Failed { fault, .. }) => return Err(fault),
                    _ => {}
                }
            }
            if waiting.is_empty() {
                break;
            }
            if watcher.interrupted() {
                return Err(Fault::measuring("interrupted before anything was measured"));
            }
            if clock::now() >= until {
                return Err(Fault::environment("the flows could not be opened in time"));
            }
            self.pause()?;
        }
        Ok(limited)
    }

    /// Orders every end to start; the window starts at `window_start` on this process' clock. No
    /// end is waited for: one that is gone, or does not read, is noticed when it is listened to.
    pub(super) fn start(&mut self, window_start: Nanos) {
        for end in 0..self.count() {
            if self.left_out.contains_key(&end) {
                continue;
            }
            let agent = self.agent(end);
            let at = window_start.saturating_add_signed(agent.clock_offset_ns);
            let _ = agent.send_now(&ToAgent::Start { window_start_ns: at });
        }
    }

    /// Follows the trial to all reports, and looks at what no agent can see.
    pub(super) fn follow(
        mut self,
        timing: &Timing,
        window_start: Nanos,
        proxies: Proxies,
        watcher: &mut dyn Watcher,
    ) -> Result<(Vec<(Role, Ending)>, EdgeReadings), Fault> {
        let until = window_start + timing.window_ns + 2 * timing.timeout_ns + 30 * SECOND;
        let mut endings: Vec<Option<Ending>> =
            (0..self.count()).map(|end| self.left_out.get(&end).map(Ending::silent)).collect();
        let mut finished = vec![false; self.count()];
        let mut look_at_all = 0;
        // The end of waiting for onlookers, once the ends have reported.
        let mut patience: Option<Nanos> = None;
        let mut beside = EdgeReader::of(self.ends, proxies, timing, window_start);
        loop {
            beside.look(watcher);
            // Only who has something to say is listened to; everybody now and then, for what no
            // event tells.
            let all = clock::now() >= look_at_all;
            if all {
                look_at_all = clock::now() + LOOK;
            }
            for (end, ending) in endings.iter_mut().enumerate().filter(|(_, e)| e.is_none()) {
                if all || self.events.iter().any(|event| event.token == end as u64) {
                    *ending = self.hear(end, watcher);
                }
            }
            if endings.iter().all(Option::is_some) {
                break;
            }
            let now = clock::now();
            if endings[..self.ends.at_ends()].iter().all(Option::is_some) {
                let until = *patience.get_or_insert(now + ONLOOKERS_PATIENCE);
                let late = Fault::measuring("it did not report in time");
                let silent = endings.iter_mut().filter(|ending| now >= until && ending.is_none());
                silent.for_each(|ending| *ending = Some(Ending::silent(&late)));
            }
            let clients = &endings[self.side(Role::Client)];
            let servers = &endings[self.side(Role::Server)];
            // The servers end when all clients are done; the clients end early when one of them
            // broke, when a server is gone, or when the user wants it.
            let broke = clients.iter().flatten().any(|e| e.fault.is_some())
                || servers.iter().any(Option::is_some);
            let cut = watcher.interrupted() || now >= until;
            let (clients_end, servers_end) =
                (broke || cut, clients.iter().all(Option::is_some) || cut);
            let sent = |ending: &Option<Ending>| {
                let report = ending.as_ref()?.report.as_ref()?;
                Some(report.drained.of(Counter::SentBytes))
            };
            // Of several servers each gets a part of it, and nobody knows which.
            let all_sent: Option<u64> =
                if servers.len() == 1 { clients.iter().map(sent).sum() } else { None };
            for end in 0..self.count() {
                let ends = if self.role(end) == Role::Client { clients_end } else { servers_end };
                if ends && !finished[end] && endings[end].is_none() {
                    finished[end] = true;
                    // An agent that is gone is noticed by the next receive.
                    if let Some(bytes) = all_sent.filter(|_| self.role(end) == Role::Server) {
                        let _ = self.agent(end).send_now(&ToAgent::AllSent { bytes });
                    }
                    let _ = self.agent(end).send_now(&ToAgent::Finish);
                }
            }
            if now >= until + LAST_WORD {
                self.abort();
                return Err(Fault::measuring("the agents did not end the trial in time"));
            }
            self.pause_until(beside.next())?;
        }
        beside.end();
        let endings = endings.into_iter().flatten().enumerate().map(|(end, mut ending)| {
            if let Some(report) = &mut ending.report {
                beside.correct(end, report);
            }
            (self.role(end), ending)
        });
        let endings = endings.collect();
        Ok((endings, beside.seen()))
    }

    /// Takes what one end says; its ending, if that came.
    fn hear(&mut self, end: usize, watcher: &mut dyn Watcher) -> Option<Ending> {
        let role = self.role(end);
        let number = end - self.side(role).start;
        for _ in 0..TURN {
            match self.agent(end).receive() {
                Ok(None) => {
                    let fault = self.agent(end).check_heard(clock::now()).err()?;
                    return Some(Ending { report: None, fault: Some(fault), lost: true });
                }
                // An onlooker counts nothing of the traffic.
                Ok(Some(FromAgent::Progress(_))) if role == Role::Onlooker => {}
                Ok(Some(FromAgent::Progress(tick))) => watcher.tick(role, number, &tick),
                Ok(Some(FromAgent::Done(report))) => {
                    return Some(Ending { report: Some(*report), fault: None, lost: false });
                }
                Ok(Some(FromAgent::Failed { fault, report })) => {
                    return Some(Ending {
                        report: report.map(|r| *r),
                        fault: Some(fault),
                        lost: false,
                    });
                }
                Ok(Some(_)) => {}
                Err(fault) => return Some(Ending { report: None, fault: Some(fault), lost: true }),
            }
        }
        None
    }

    /// Waits until something may have come, and keeps the sessions alive.
    fn pause(&mut self) -> Result<(), Fault> {
        self.pause_until(None)
    }

    /// The same, but not beyond a moment at which there is something to do.
    fn pause_until(&mut self, until: Option<Nanos>) -> Result<(), Fault> {
        let now = clock::now();
        let patience = until.map_or(LOOK, |until| until.saturating_sub(now).min(LOOK));
        for end in 0..self.count() {
            // Who is gone is noticed by the next receive, and must not keep the others from being
            // kept alive.
            let _ = self.agent(end).keep_alive(now);
        }
        self.epoll
            .wait(&mut self.events, Some(patience))
            .map_err(|e| Fault::measuring(format!("epoll: {e}")))
    }

    /// Drops the trial at all ends, and waits for their word, so that the next can begin.
    pub(super) fn abort(&mut self) {
        let until = clock::now() + ABORT_PATIENCE;
        for end in 0..self.count() {
            let _ = self.agent(end).send_now(&ToAgent::Abort);
        }
        for end in 0..self.count() {
            while clock::now() < until && self.agent(end).in_trial() {
                match self.agent(end).receive() {
                    Ok(Some(_)) => {}
                    Ok(None) => drop(self.epoll.wait(&mut self.events, Some(LOOK))),
                    Err(_) => break,
                }
            }
        }
    }
}

/// Refuses an order that is longer than agents take.
fn fits(order: &ToAgent) -> Result<(), Fault> {
    let frame =
        encode(order).map_err(|error| Fault::input(format!("the job makes no order: {error}")))?;
    if frame.len() <= MAX_ORDER {
        return Ok(());
    }
    Err(Fault::input(format!(
        "the job takes {} bytes as an order to an agent, expected at most {MAX_ORDER}; give a \
         shorter body, or one of any bytes with --body-size",
        frame.len()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_that_agents_would_not_take_is_refused_with_what_to_do() {
        let order = |body: usize| {
            let prepare = serde_json::json!({
                "run": 1, "key": "0".repeat(64), "role": "client", "target": null,
                "shared_clock": true,
                "peer_clock_offset_ns": 0,
                "job": {
                    "workload": "http", "params": {"body": "x".repeat(body)}, "schedule": "closed",
                    "engine": "epoll",
                    "connections": 1, "threads": 1, "pacing": "sleep", "client_cpus": null,
                    "server_cpus": null,
                    "timing": {"warmup_ns": 0, "window_ns": 1, "interval_ns": 1, "timeout_ns": 1},
                    "seed": 1,
                },
            });
            ToAgent::Prepare(Box::new(serde_json::from_value(prepare).unwrap()))
        };
        assert_eq!(fits(&order(MAX_ORDER - 1000)), Ok(()));
        let fault = fits(&order(MAX_ORDER)).unwrap_err();
        assert!(
            fault.text.contains("expected at most 1048576") && fault.text.contains("--body-size"),
            "{fault}"
        );
    }
}
