//! What a plan needs of this machine that is not there, and which cells cannot exist at all.

use std::collections::BTreeSet;

use hopbench_model::{LabSpec, Path, Plan, Point, Via};
use hopbench_testbed::Need;

use crate::addresses::{MOST_NODES, MOST_PODS, MOST_SERVICES};
use crate::demand::{Cast, Demand};
use crate::doctor;
use crate::fabric::zones;
use crate::kinds::{KINDS, kind};
use crate::namespace::Namespace;
use crate::runtimes::{RUNTIMES, runtime};
use crate::servers::{SERVERS, server};
use crate::tools;
use crate::trail;

/// Everything that is missing; empty when the plan can run.
pub(crate) fn missing(spec: &LabSpec, plan: &Plan) -> Vec<Need> {
    let demand = Demand::of(plan);
    let mut needs = whole(spec, &demand);
    for cast in demand.paths.values() {
        needs.extend(of_path(spec, cast));
    }
    for program in demand.programs.iter().map(|spec| spec.program.as_str()).collect::<BTreeSet<_>>() {
        needs.extend(of_program(program));
    }
    needs
}

/// Needs of the lab as a whole.
fn whole(spec: &LabSpec, demand: &Demand) -> Vec<Need> {
    let mut needs = Vec::new();
    let mut too_many = |what: &str, count: usize, most: usize| {
        if count > most {
            needs.push(need(
                None,
                &format!("fewer {what}"),
                format!("{count} {what}; a lab has at most {most}"),
                "use fewer",
            ));
        }
    };
    too_many("nodes", spec.nodes.len(), MOST_NODES);
    too_many("pods", demand.pods.len(), MOST_PODS as usize);
    too_many("Services", demand.services().len(), MOST_SERVICES);
    if spec.zone_delay_ns > 0 && zones(spec).len() > 1 {
        needs.extend(delay());
    }
    needs
}

/// Delay is tried, where namespaces can be had at all: outside the lab's sandbox an ordinary user cannot tell.
fn delay() -> Option<Need> {
    Namespace::create("probe").ok()?;
    let check = doctor::CHECKS.iter().find(|check| check.name == "netem")?;
    let finding = (check.run)();
    let missing = finding.state == doctor::State::Missing;
    missing.then(|| need(None, "netem", format!("`zone-delay`: {}", finding.found), &finding.remedy))
}

fn of_path(spec: &LabSpec, cast: &Cast) -> Vec<Need> {
    let path = &cast.path;
    let mut needs = Vec::new();
    let mut add = |what: &str, why: String, remedy: &str| needs.push(need(Some(path), what, why, remedy));
    let via = match &path.via {
        Via::NodePort(node) => Some(node),
        Via::Direct | Via::ClusterIp => None,
    };
    for node in [&path.from.node, &path.to.node].into_iter().chain(via) {
        if !spec.nodes.iter().any(|known| known.name == *node) {
            add(&format!("node {node}"), "the lab has no such node".to_owned(), "name it under `nodes:`");
        }
    }
    for place in [&path.from, &path.to] {
        if kind(&place.network).is_none() {
            let known: Vec<_> = KINDS.iter().map(|kind| kind.name()).collect();
            let why = format!("the lab has no network kind `{}`", place.network);
            add(&format!("network {}", place.network), why, &format!("one of {}", known.join(", ")));
        }
    }
    // Once a path, also where both its ends are in it.
    for name in [&path.from, &path.to].into_iter().filter_map(|place| place.runtime.as_deref()).collect::<BTreeSet<_>>()
    {
        match runtime(name) {
            Some(runtime) if runtime.find().is_some() => {}
            Some(runtime) => add(name, looked(name), runtime.remedy()),
            None => {
                let known: Vec<_> = RUNTIMES.iter().map(|runtime| runtime.name()).collect();
                add(name, format!("the lab has no runtime `{name}`"), &format!("{}, or none", known.join(", ")));
            }
        }
    }
    for place in [&path.from, &path.to].into_iter().filter(|place| place.network == "host") {
        if let Some(name) = &place.runtime {
            add("a pod", format!("{place}: {name} would take the node's own network over"), "leave the runtime out");
        }
    }
    if path.via != Via::Direct && tools::find("nft").is_none() {
        add(
            "nft",
            format!("Services are nftables rules; {}", looked("nft")),
            "install nftables (`apt-get install nftables`)",
        );
    }
    if let Some(why) = trail::impossible(cast) {
        add("another way", why, "leave this path out");
    }
    needs
}

fn of_program(program: &str) -> Option<Need> {
    let Some(server) = server(program) else {
        let known: Vec<_> = SERVERS.iter().map(|server| server.name()).collect();
        let why = format!("the lab has no server program `{program}`");
        return Some(need(None, program, why, &format!("one of {}", known.join(", "))));
    };
    tools::find(program).is_none().then(|| need(None, program, looked(program), server.remedy()))
}

fn looked(program: &str) -> String {
    format!("no program `{program}` in PATH or the folders of system programs")
}

fn need(path: Option<&Path>, what: &str, why: String, remedy: &str) -> Need {
    Need { path: path.map(|path| path.name.clone()), what: what.to_owned(), why, remedy: remedy.to_owned() }
}

/// Why a cell cannot exist, whatever the machine.
pub(crate) fn unsupported(path: &Path, point: &Point) -> Option<String> {
    if path.via != Via::Direct && point.job.workload == "ping" {
        return Some(format!("ICMP has no ports: it cannot go through a Service ({})", path.via));
    }
    if path.to.runtime.is_some() && !point.server.is_agent() {
        return Some(format!("the lab starts {} outside of runtimes only ({})", point.server.program, path.to));
    }
    let runtimes = [&path.from, &path.to].into_iter().filter_map(|place| runtime(place.runtime.as_deref()?));
    runtimes.into_iter().find_map(|runtime| runtime.unsupported(point))
}
