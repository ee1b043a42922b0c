//! The needs of a plan that machines with agents do not meet.

use hopbench_model::{Fault, HostsSpec, Path, Place, Plan, Via};
use hopbench_testbed::Need;
use hopbench_wire::{Build, Hello};

use crate::machine::Answers;

/// The kind of network that a machine has.
const HOST: &str = "host";

/// The reason why a path cannot be on machines with agents. `None`: it can be.
pub(crate) fn of_path(path: &Path, spec: &HostsSpec) -> Option<Need> {
    let need =
        |what: &str, why: String, remedy: &str| Some(Need::new(Some(path), what, why, remedy));
    let impossible = |why: String, remedy: &str| need(Need::IMPOSSIBLE, why, remedy);
    for place in [&path.from, &path.to] {
        let Place { network, node, runtime, .. } = place;
        if network != HOST {
            let why = format!(
                "`{place}` is the place of a pod, and on hosts there are the machines' own \
                 networks only"
            );
            return impossible(
                why,
                &format!("say host@{node}, or take the testbed lab or kubernetes"),
            );
        }
        if let Some(runtime) = runtime {
            let why = format!("nobody puts the agent of {node} into the runtime {runtime}");
            return impossible(why, "leave the runtime out, or take the testbed lab or kubernetes");
        }
        if !spec.nodes.iter().any(|host| host.name == *node) {
            let listed =
                spec.nodes.iter().map(|host| host.name.as_str()).collect::<Vec<_>>().join(", ");
            return need(
                &format!("the machine {node}"),
                format!("`nodes:` of the testbed has {listed}"),
                "add where its agent is",
            );
        }
    }
    if !matches!(path.via, Via::Direct | Via::Address(_)) {
        let why = format!(
            "`{}` is what a lab or a cluster makes, and hosts are taken as they are",
            path.via
        );
        return impossible(
            why,
            "take `via: {address: ...}` for an address that leads to the server already",
        );
    }
    if let Some(family) = path.family {
        let why = format!("`family` {family}: hosts are taken as they are, at the addresses given");
        return impossible(why, "leave `family` out, and give the address of the family");
    }
    if path.is_proxied() {
        let why = "nobody starts proxies on hosts".to_owned();
        return impossible(why, "leave the mesh out, or take the testbed lab or kubernetes");
    }
    if path.clients != 1 || path.backends != 1 {
        let why = format!(
            "{} clients and {} backends; a machine has one agent",
            path.clients, path.backends
        );
        return impossible(
            why,
            "take one of each with more connections, or the testbed lab or kubernetes",
        );
    }
    None
}

/// The needs that the agents of possible paths do not meet, path by path.
pub(crate) fn of_agents(plan: &Plan, answers: &Answers, ours: &Hello) -> Vec<Need> {
    let mut out = Vec::new();
    for path in &plan.paths {
        let mut nodes = vec![&path.from.node, &path.to.node];
        nodes.dedup();
        for node in nodes {
            let need = match answers.get(node) {
                None => None,
                Some(Err(fault)) => Some(silent(node, fault)),
                Some(Ok(machine)) if machine.build() != Build::of(ours) => Some((
                    format!("this build of hopbench on {node}"),
                    format!("its agent is {}, this is {}", machine.build(), Build::of(ours)),
                    "run the same build on all machines".to_owned(),
                )),
                Some(Ok(machine)) if *node == path.from.node && !machine.is_both_ends() => Some((
                    format!("an agent for both ends on {node}"),
                    "the path's client is there, and that agent only serves".to_owned(),
                    "start it as `hopbench serve --both-ends` with the token that its \
                     `token-file:` has"
                        .to_owned(),
                )),
                Some(Ok(_)) => None,
            };
            out.extend(need.map(|(what, why, remedy)| Need {
                path: Some(path.name.clone()),
                what,
                why,
                remedy,
            }));
        }
    }
    out
}

fn silent(node: &str, fault: &Fault) -> (String, String, String) {
    let remedy = "see that `hopbench serve --both-ends --token-file FILE` runs there, with the \
                  token that its `token-file:` has";
    (format!("the agent of {node}"), fault.text.clone(), remedy.to_owned())
}
