//! Proof of the agents: their nodes, networks and runtimes are those of the plan.

use std::collections::BTreeSet;

use hopbench_model::Proof;
use hopbench_testbed::Seen;
use hopbench_testbed::placement::PodId;

use super::facts::ProofFacts;
use crate::provision::pod_status;
use crate::provision::target::no_address;

/// Whether the agents are where they were put.
pub(super) fn placed(known: &ProofFacts<'_>, end: &str, pods: &[PodId], seen: &Seen<'_>) -> Proof {
    let mut wrong = Vec::new();
    let mut found = BTreeSet::new();
    for pod in pods {
        match place(known, pod, seen) {
            Ok(place) => {
                found.insert(place);
            }
            Err(why) => wrong.push(format!("{pod}: {why}")),
        }
    }
    let names = PodId::summary(pods);
    let found = found.into_iter().collect::<Vec<_>>().join("; ");
    let evidence = if wrong.is_empty() { format!("{names}: {found}") } else { wrong.join("; ") };
    Proof { hop: end.to_owned(), evidence, ok: wrong.is_empty() && !pods.is_empty() }
}

/// The place of a pod, as the API server and what runs there say it, or the contradiction.
fn place(known: &ProofFacts<'_>, id: &PodId, seen: &Seen<'_>) -> Result<String, String> {
    let built = known.built;
    let pod = built.pods.get(id).ok_or("the API server has no such pod any more")?;
    let name = &built.names[id];
    let node = built.nodes.get(&id.place.node).ok_or("its node is not known")?;
    if pod_status::node(pod) != node.name {
        return Err(format!("pod {name} is on node {}, not {}", pod_status::node(pod), node.name));
    }
    let attachment = built.attachments.get(&id.place).ok_or("how it is attached is not known")?;
    if pod_status::is_host(pod) != attachment.host_network {
        let found = if pod_status::is_host(pod) {
            "in its node's own network"
        } else {
            "in a network of its own"
        };
        return Err(format!("pod {name} is {found}"));
    }
    let (found, asked) = (pod_status::runtime_class(pod), attachment.runtime_class.as_deref());
    if asked.is_some() && found != asked {
        return Err(format!(
            "pod {name} has the RuntimeClass {}, not {}",
            or_none(found),
            or_none(asked)
        ));
    }
    let family = known.ends.path.family;
    let address = built.address(id, family);
    let address = address.ok_or_else(|| no_address(&format!("pod {name}"), family))?;
    let machine = seen.machines.get(&id.agent()).ok_or("it did not say who it is")?;
    let said = |fact: &str| machine.get(fact).map(String::as_str);
    // A node's own network has the node's name; a kernel of its own has what it likes.
    if !attachment.host_network && said("hostname") != Some(name.as_str()) {
        return Err(format!(
            "what runs there says that it is {}, not pod {name}",
            or_none(said("hostname"))
        ));
    }
    let own_kernel = found.is_some_and(|class| built.discovery.is_sandbox(class));
    if let (Some(boot), false, false) = (said("boot_id"), own_kernel, node.boot_id.is_empty())
        && boot != node.boot_id
    {
        return Err(format!(
            "what runs there is on the machine of boot {boot}, node {} is of boot {}",
            node.name, node.boot_id
        ));
    }
    let zone = node.zone().map(|zone| format!(" (zone {zone})")).unwrap_or_default();
    let network = if attachment.host_network { ", the node's own network" } else { "" };
    let class = found.map(|class| format!(", RuntimeClass {class}")).unwrap_or_default();
    Ok(format!("pod {name} on {}{zone}, {address}{network}{class}", node.name))
}

fn or_none(text: Option<&str>) -> &str {
    text.unwrap_or("none")
}

/// Whether an agent that belongs into a runtime is in it: it says which kernel it has.
pub(super) fn contained(known: &ProofFacts<'_>, id: &PodId, seen: &Seen<'_>) -> Proof {
    let hop = id.place.runtime.clone().unwrap_or_default();
    let node = known.built.nodes.get(&id.place.node);
    let class = known.built.pods.get(id).and_then(pod_status::runtime_class);
    let inside = seen.machines.get(&id.agent()).and_then(|machine| machine.get("kernel"));
    let (evidence, ok) = match (inside, node, class) {
        (Some(inside), Some(node), Some(class)) => {
            let own_kernel = known.built.discovery.is_sandbox(class);
            let text = format!(
                "RuntimeClass {class}; kernel {inside} in {id}, {} on node {}",
                node.kernel, node.name
            );
            (text, !own_kernel || *inside != node.kernel)
        }
        (None, ..) => (format!("{id} did not say which kernel it has"), false),
        _ => (format!("{id} has no RuntimeClass"), false),
    };
    Proof { hop, evidence, ok }
}
