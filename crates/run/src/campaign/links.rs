//! The control sessions with a testbed's agents, kept open between trials.

use std::collections::BTreeMap;

use hopbench_model::Fault;
use hopbench_testbed::{AgentId, Control, Testbed};
use hopbench_wire::Hello;

use crate::conduct::Ends;
use crate::link::Link;

/// Sessions by agent, numbered: a path from a place to itself has the same agent at both ends, in two sessions. Agents
/// that rest need no word from here: over a socket pair they hear when this process ends.
#[derive(Debug)]
pub(super) struct Links {
    ours: Hello,
    resting: BTreeMap<(AgentId, usize), Link>,
}

impl Links {
    pub(super) fn new(ours: Hello) -> Self {
        Self { ours, resting: BTreeMap::new() }
    }

    /// The sessions for a trial; one that broke, or was never there, is opened.
    ///
    /// # Errors
    /// An agent that cannot be started, or does not answer; the others go on resting.
    pub(super) fn take(
        &mut self,
        testbed: &mut dyn Testbed,
        clients: &[AgentId],
        servers: &[AgentId],
    ) -> Result<Ends, Fault> {
        let mut links = Vec::with_capacity(clients.len() + servers.len());
        for key in keys(clients, servers) {
            let rested = self.resting.remove(&key).and_then(usable);
            let link = rested.map_or_else(|| self.open(testbed, &key.0), Ok);
            match link {
                Ok(link) => links.push((key, link)),
                Err(fault) => {
                    self.resting.extend(links);
                    return Err(fault);
                }
            }
        }
        let servers = links.split_off(clients.len());
        let plain = |links: Vec<(_, Link)>| links.into_iter().map(|(_, link)| link).collect();
        Ok(Ends { clients: plain(links), servers: plain(servers) })
    }

    fn open(&self, testbed: &mut dyn Testbed, agent: &AgentId) -> Result<Link, Fault> {
        let Control::Pair(stream) = testbed.control(agent)?;
        Link::over_pair(stream, &self.ours, format!("the agent {agent}"))
    }

    /// Takes the sessions back; those that broke are dropped.
    pub(super) fn put_back(&mut self, ends: Ends, clients: &[AgentId], servers: &[AgentId]) {
        let links = ends.clients.into_iter().chain(ends.servers);
        for (key, link) in keys(clients, servers).into_iter().zip(links) {
            if let Some(link) = usable(link) {
                self.resting.insert(key, link);
            }
        }
    }

    /// Ends all sessions.
    pub(super) fn close(self) {
        self.resting.into_values().for_each(Link::close);
    }
}

/// The agents of a trial, each with the number of its session.
fn keys(clients: &[AgentId], servers: &[AgentId]) -> Vec<(AgentId, usize)> {
    let mut keys: Vec<(AgentId, usize)> = Vec::new();
    for agent in clients.iter().chain(servers) {
        let number = keys.iter().filter(|(other, _)| other == agent).count();
        keys.push((agent.clone(), number));
    }
    keys
}

/// Only a whole session without an open trial can be used again; dropping it ends what it holds.
fn usable(mut link: Link) -> Option<Link> {
    link.usable().then_some(link)
}
