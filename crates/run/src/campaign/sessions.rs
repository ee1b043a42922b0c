//! The control sessions with a testbed's agents, kept open between trials.

mod keeper;
mod resting;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hopbench_model::{Fault, Nanos, SECOND};
use hopbench_sys::clock;
use hopbench_testbed::{AgentId, Control, Testbed};
use hopbench_wire::Hello;

use crate::conduct::agent_connection::AgentConnection;
use crate::conduct::{Ends, StandingOrders};
use crate::results::CellName;
use keeper::Keeper;
use resting::{Key, Resting};

/// The sessions. Agents behind socket pairs need no word while they rest: they hear when this
/// process ends. Those behind networks would end their sessions after 5 s of silence, so a thread
/// speaks to them.
#[derive(Debug)]
pub(super) struct Sessions {
    ours: Hello,
    resting: Arc<Resting>,
    keeper: Option<Keeper>,
    /// When the last trial ended, or before the first: when all was built; since 1970 UTC.
    quiet_since: Duration,
    /// The onlookers that could not be reached, or hung, with the reason, and when they are tried
    /// again.
    unreached: BTreeMap<AgentId, (String, Nanos)>,
    /// The cells that stay prepared at the agents, by their names.
    standing: BTreeMap<CellName, StandingOrders>,
}

/// How often sessions are opened that break before they are used.
const TRIES: usize = 2;
/// An onlooker that could not be reached, or hung, is left alone for so long: to try takes a
/// while.
const REST: Nanos = 60 * SECOND;

impl Sessions {
    /// Nothing is under load from now on.
    pub(super) fn new(ours: Hello) -> Self {
        Self {
            ours,
            resting: Arc::default(),
            keeper: None,
            quiet_since: clock::wall(),
            unreached: BTreeMap::new(),
            standing: BTreeMap::new(),
        }
    }

    /// The `Hello` of this process.
    pub(super) fn ours(&self) -> &Hello {
        &self.ours
    }

    /// Makes sure that there are sessions for a trial; one that broke, or was never there, is
    /// opened, all at once. Where one fails, the others go on resting.
    pub(super) fn open(
        &mut self,
        testbed: &mut dyn Testbed,
        clients: &[AgentId],
        servers: &[AgentId],
    ) -> Result<(), Fault> {
        let failed = self.open_all(testbed, keys(clients, servers), true);
        failed.into_iter().next().map_or(Ok(()), |(_, fault)| Err(fault))
    }

    /// The same for these keys. Those that failed, with the reason. `all_or_none`: the first that
    /// the testbed refuses ends it, for an agent that does not start takes its time.
    fn open_all(
        &mut self,
        testbed: &mut dyn Testbed,
        mut missing: Vec<Key>,
        all_or_none: bool,
    ) -> Vec<(Key, Fault)> {
        missing.retain(|key| {
            let agent = self.resting.lock().remove(key).and_then(usable);
            let is_missing = agent.is_none();
            self.resting.lock().extend(agent.map(|agent| (key.clone(), agent)));
            is_missing
        });
        let (ours, resting) = (&self.ours, &self.resting);
        std::thread::scope(|scope| {
            let mut opening = Vec::new();
            for key in missing {
                // The testbed is asked for one after the other, but none waits for another's
                // handshake.
                let opened_as = key.clone();
                let open = testbed.control(&key.0).and_then(|control| {
                    // The first may have to wait long for the last.
                    if self.keeper.is_none() && !matches!(control, Control::Pair(_)) {
                        self.keeper = Some(Keeper::of(Arc::clone(resting))?);
                    }
                    let open = move || {
                        let name = format!("the agent {}", opened_as.0);
                        let agent = AgentConnection::with(control, ours, name)?;
                        resting.lock().insert(opened_as, agent);
                        Ok(())
                    };
                    let thread = std::thread::Builder::new()
                        .name("hb-open".to_owned())
                        .spawn_scoped(scope, open);
                    thread.map_err(|e| Fault::environment(format!("cannot start a thread: {e}")))
                });
                let failed = open.is_err();
                opening.push((key, open));
                if failed && all_or_none {
                    break;
                }
            }
            let panicked = || Err(Fault::measuring("a thread that opened a session panicked"));
            // All of them, whatever came of the first.
            opening
                .into_iter()
                .filter_map(|(key, thread)| {
                    let opened: Result<(), Fault> =
                        thread.and_then(|thread| thread.join().unwrap_or_else(|_| panicked()));
                    Some((key, opened.err()?))
                })
                .collect()
        })
    }

    /// Makes sure that there are sessions with onlookers, as far as there can be. Those that cannot
    /// be reached, with the reason.
    pub(super) fn open_onlookers(
        &mut self,
        testbed: &mut dyn Testbed,
        onlookers: &[AgentId],
    ) -> BTreeMap<AgentId, String> {
        let now = clock::now();
        self.unreached.retain(|_, (_, until)| *until > now);
        let wanted = onlookers.iter().filter(|agent| !self.unreached.contains_key(*agent));
        let wanted: Vec<AgentId> = wanted.cloned().collect();
        let failed = self.open_all(testbed, keys(&wanted, &[]), false);
        self.leave_alone(failed.into_iter().map(|((agent, _), fault)| (agent, fault.text)));
        let why = |agent: &AgentId| Some((agent.clone(), self.unreached.get(agent)?.0.clone()));
        onlookers.iter().filter_map(why).collect()
    }

    /// Leaves onlookers alone for a while that failed, with the reason.
    pub(super) fn leave_alone(&mut self, failed: impl IntoIterator<Item = (AgentId, String)>) {
        let until = clock::now() + REST;
        self.unreached.extend(failed.into_iter().map(|(agent, why)| (agent, (why, until))));
    }

    /// The sessions for a trial that begins now; one that broke meanwhile is opened again. Of the
    /// onlookers those that answer.
    pub(super) fn take(
        &mut self,
        testbed: &mut dyn Testbed,
        clients: &[AgentId],
        servers: &[AgentId],
        onlookers: &[AgentId],
    ) -> Result<Ends, Fault> {
        let mut fault = Fault::measuring("a control session breaks as soon as it is opened");
        let mut absent = BTreeMap::new();
        for _ in 0..TRIES {
            self.open(testbed, clients, servers)?;
            let wanted = [keys(clients, servers), keys(onlookers, &[])].concat();
            let (looking_on, taken): (Vec<_>, Vec<_>) = fresh(self.remove(&wanted))
                .into_iter()
                .partition(|((agent, _), _)| onlookers.contains(agent));
            let gone = |((id, _), agent): &(Key, Result<AgentConnection, Fault>)| {
                Some((id.clone(), agent.as_ref().err()?.text.clone()))
            };
            absent.extend(looking_on.iter().filter_map(gone));
            let looking_on = whole(looking_on);
            let (good, bad): (Vec<_>, Vec<_>) =
                taken.into_iter().partition(|(_, agent)| agent.is_ok());
            let mut agents = whole(good);
            if bad.is_empty() && agents.len() == clients.len() + servers.len() {
                let servers = agents.split_off(clients.len());
                let plain = |agents: Vec<(_, AgentConnection)>| {
                    agents.into_iter().map(|(_, agent)| agent).collect()
                };
                let looking_on: Vec<(AgentId, AgentConnection)> =
                    looking_on.into_iter().map(|((id, _), agent)| (id, agent)).collect();
                let is_here = |agent: &AgentId| looking_on.iter().any(|(id, _)| id == agent);
                for agent in onlookers.iter().filter(|agent| !is_here(agent)) {
                    absent.entry(agent.clone()).or_insert_with(|| "its session broke".to_owned());
                }
                return Ok(Ends {
                    clients: plain(agents),
                    servers: plain(servers),
                    onlookers: looking_on,
                    absent,
                    ..Ends::default()
                });
            }
            self.resting.lock().extend(agents.into_iter().chain(looking_on));
            fault = bad.into_iter().find_map(|(_, agent)| agent.err()).unwrap_or(fault);
        }
        Err(fault)
    }

    /// Those of the sessions that are there, in the order of the keys.
    fn remove(&self, keys: &[Key]) -> Vec<(Key, AgentConnection)> {
        let mut resting = self.resting.lock();
        keys.iter().filter_map(|key| Some((key.clone(), resting.remove(key)?))).collect()
    }

    /// When the last trial ended, or all was built, since 1970 UTC; the time of the readings, which
    /// follow, is without load.
    pub(super) fn quiet_since(&self) -> Duration {
        self.quiet_since
    }

    /// Something else put load on the testbed until now.
    pub(super) fn loaded(&mut self) {
        self.quiet_since = clock::wall();
    }

    /// Takes the sessions of a trial that is over back; those that broke are dropped.
    pub(super) fn put_back(&mut self, ends: Ends, clients: &[AgentId], servers: &[AgentId]) {
        self.quiet_since = clock::wall();
        let agents = ends.clients.into_iter().chain(ends.servers);
        let onlookers = ends.onlookers.into_iter().map(|(id, agent)| ((id, 0), agent));
        let agents = keys(clients, servers).into_iter().zip(agents).chain(onlookers);
        let whole =
            agents.filter_map(|(key, agent)| Some((key, usable(agent)?))).collect::<Vec<_>>();
        self.resting.lock().extend(whole);
    }

    /// The standing orders of a cell; they are the caller's from here on.
    pub(super) fn take_standing(&mut self, cell: &CellName) -> Option<StandingOrders> {
        self.standing.remove(cell)
    }

    /// A cell stays prepared.
    pub(super) fn put_standing(&mut self, cell: CellName, standing: StandingOrders) {
        self.standing.insert(cell, standing);
    }

    /// The next trial of a cell is prepared anew.
    pub(super) fn spend_standing(&mut self, cell: &CellName) {
        if let Some(standing) = self.standing.get_mut(cell) {
            standing.spend();
        }
    }

    /// Ends all sessions.
    pub(super) fn close(self) {
        drop(self.keeper);
        std::mem::take(&mut *self.resting.lock()).into_values().for_each(AgentConnection::close);
    }
}

/// Makes sure of all sessions at once: a hundred round trips one after the other would be felt.
fn fresh(agents: Vec<(Key, AgentConnection)>) -> Vec<(Key, Result<AgentConnection, Fault>)> {
    if !agents.iter().any(|(_, agent)| agent.is_remote()) {
        return agents.into_iter().map(|(key, agent)| (key, Ok(agent))).collect();
    }
    std::thread::scope(|scope| {
        let asked: Vec<_> = agents
            .into_iter()
            .map(|(key, mut agent)| (key, scope.spawn(move || agent.freshen().map(|()| agent))))
            .collect();
        let panicked = || Err(Fault::measuring("a thread that made sure of a session panicked"));
        asked
            .into_iter()
            .map(|(key, thread)| (key, thread.join().unwrap_or_else(|_| panicked())))
            .collect()
    })
}

/// Those of the sessions that were made sure of.
fn whole(agents: Vec<(Key, Result<AgentConnection, Fault>)>) -> Vec<(Key, AgentConnection)> {
    agents.into_iter().filter_map(|(key, agent)| Some((key, agent.ok()?))).collect()
}

/// The agents of a trial, each with the number of its session.
fn keys(clients: &[AgentId], servers: &[AgentId]) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for agent in clients.iter().chain(servers) {
        let number = keys.iter().filter(|(other, _)| other == agent).count();
        keys.push((agent.clone(), number));
    }
    keys
}

/// Only a whole session without an open trial can be used again; dropping it ends what it holds.
fn usable(mut agent: AgentConnection) -> Option<AgentConnection> {
    agent.usable().then_some(agent)
}
