//! The proof from what agents say: their machines, and the peers that servers saw.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use hopbench_model::{EndReport, Path, Proof, Via};
use hopbench_testbed::{AgentId, Seen};

use crate::machine::Machine;

/// Evidence for a path between machines.
pub(crate) fn prove(
    path: &Path,
    machines: &BTreeMap<String, Machine>,
    seen: &Seen<'_>,
) -> Vec<Proof> {
    let ends = [("client", &path.from.node, seen.clients), ("server", &path.to.node, seen.servers)];
    let mut out: Vec<Proof> = ends
        .iter()
        .map(|(end, node, side)| placed(end, node, machines.get(*node), side, seen))
        .collect();
    out.push(apart(path, machines, seen));
    out.extend(peer(path, seen));
    out
}

fn fact<'a>(seen: &'a Seen<'_>, side: &[(AgentId, EndReport)], name: &str) -> Option<&'a str> {
    let (agent, _) = side.first()?;
    Some(seen.machines.get(agent)?.get(name)?.as_str())
}

/// Whether the agent that took part is on the machine that answered when the run began.
fn placed(
    end: &str,
    node: &str,
    machine: Option<&Machine>,
    side: &[(AgentId, EndReport)],
    seen: &Seen<'_>,
) -> Proof {
    let said = |name| fact(seen, side, name);
    let known =
        machine.and_then(|machine| machine.hello.machine.get("hostname").map(String::as_str));
    let (host, pid) = (said("hostname"), said("pid").unwrap_or("?"));
    let (evidence, ok) = match (host, known) {
        (Some(host), Some(known)) if host == known => {
            (format!("agent {pid} of {host}, which is {node}"), true)
        }
        (Some(host), Some(known)) => {
            (format!("agent {pid} is on {host}, and {node} was {known} when the run began"), false)
        }
        _ => (format!("the agent of {node} did not say on which host it is"), false),
    };
    Proof { hop: end.to_owned(), evidence, ok }
}

/// Whether the two ends are two machines, or at least two network stacks; of a path from a machine
/// to itself, one.
fn apart(path: &Path, machines: &BTreeMap<String, Machine>, seen: &Seen<'_>) -> Proof {
    let boot = |node: &str| {
        machines.get(node).map(|machine| machine.hello.boot_id.as_str()).filter(|id| !id.is_empty())
    };
    let netns = |side| fact(seen, side, "netns");
    let (from, to) = (&path.from.node, &path.to.node);
    let (evidence, ok) = match (boot(from), boot(to), netns(seen.clients), netns(seen.servers)) {
        (Some(one), Some(other), ..) if one != other => (
            format!("{from} and {to} are two machines: they booted apart ({one}, {other})"),
            from != to,
        ),
        (Some(_), Some(_), Some(one), Some(other)) if one != other => (
            format!(
                "{from} and {to} are one machine with two network namespaces, {one} and {other}"
            ),
            from != to,
        ),
        (Some(_), Some(_), Some(_), Some(_)) if from == to => {
            (format!("both ends are on {from}"), true)
        }
        (Some(_), Some(_), Some(ns), Some(_)) => (
            format!(
                "{from} and {to} are one machine and one network namespace, {ns}: nothing left it"
            ),
            false,
        ),
        _ => (format!("{from} and {to} did not say which machines they are"), false),
    };
    Proof { hop: "hosts".to_owned(), evidence, ok }
}

/// Whether the servers saw the clients' own addresses. An address outside may translate on the way.
/// Without flows that a server's agent accepted, as with `ping`, there is no evidence.
fn peer(path: &Path, seen: &Seen<'_>) -> Option<Proof> {
    let address =
        |text: &String| text.parse::<SocketAddr>().ok().map(|address| address.ip().to_canonical());
    let all = |side: &[(AgentId, EndReport)],
               of: fn(&hopbench_model::FlowReport) -> &String|
     -> BTreeSet<IpAddr> {
        side.iter().flat_map(|(_, end)| &end.flows).filter_map(|flow| address(of(flow))).collect()
    };
    let (peers, own) =
        (all(seen.servers, |flow| &flow.peer), all(seen.clients, |flow| &flow.local));
    if peers.is_empty() {
        return None;
    }
    let list = |all: &mut dyn Iterator<Item = &IpAddr>| {
        all.map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let saw = list(&mut peers.iter());
    let proof = |evidence, ok| Some(Proof { hop: "peer".to_owned(), evidence, ok });
    if peers.is_subset(&own) {
        return proof(format!("the server saw {saw}, the client's own address"), true);
    }
    let clients = list(&mut own.iter());
    match &path.via {
        Via::Direct => proof(
            format!(
                "the server saw {saw}, and the client has {clients}: somebody translates between \
                 them, or it was another"
            ),
            false,
        ),
        via => proof(format!("behind {via} the server saw {saw}; the client has {clients}"), true),
    }
}

#[cfg(test)]
mod tests;
