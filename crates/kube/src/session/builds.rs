//! The builds of the agents: an image of another day has the same tag.

use std::collections::BTreeMap;

use hopbench_control::Channel;
use hopbench_sys::clock;
use hopbench_testbed::placement::PodId;
use hopbench_wire::{Build, FromAgent, HANDSHAKE_LIMIT, Hello, ToAgent};

use crate::api::access::Access;
use crate::api::forward;
use crate::provision::built::Built;
use crate::provision::pod_diagnosis::{self, State};

/// Why some agents must not measure, by the nodes' names in the scenario and the agents' images.
/// One agent of each node and image is asked: all have what their node has under the name. A
/// silent agent is reported in its trials.
pub(crate) fn foreign(
    access: &Access,
    built: &Built,
    ours: &Hello,
) -> BTreeMap<(String, String), String> {
    let is_ready = |id: &PodId| built.pods.get(id).map(pod_diagnosis::state) == Some(State::Ready);
    let mut asked: BTreeMap<(&str, &str), &PodId> = BTreeMap::new();
    for id in built.agents.keys().filter(|id| is_ready(id)) {
        asked.entry((id.place.node.as_str(), built.agent_image(id))).or_insert(id);
    }
    let mut foreign = BTreeMap::new();
    for ((node, image), id) in asked {
        let Ok(theirs) = ask(access, built, id, ours) else { continue };
        if let Some(why) = differs(&theirs, ours, image == built.spec.image) {
            let name = built.nodes.get(node).map_or(node, |node| node.name.as_str());
            let told = format!("the image {image} of node {name} {why}");
            foreign.insert((node.to_owned(), image.to_owned()), told);
        }
    }
    foreign
}

/// In which build an agent differs from this one, and what to do. Only the image of the testbed
/// must have this very build: a subject names another image to compare builds.
fn differs(theirs: &Hello, ours: &Hello, is_of_testbed: bool) -> Option<String> {
    let (theirs, ours) = (Build::of(theirs), Build::of(ours));
    if theirs == ours || !is_of_testbed && theirs.protocol == ours.protocol {
        return None;
    }
    let remedy = if is_of_testbed {
        "build the image with `hopbench kube image` of this very binary and bring it onto the nodes"
    } else {
        "the agents of a subject may be of another commit, but not of another protocol"
    };
    Some(format!("has an agent of {theirs}, and this is {ours}: {remedy}"))
}

/// The identity of an agent. Agents of every protocol can tell it.
pub(crate) fn ask(
    access: &Access,
    built: &Built,
    id: &PodId,
    ours: &Hello,
) -> Result<Hello, String> {
    let name = built.names.get(id).ok_or_else(|| format!("there is no pod {id}"))?;
    let way = forward::open(&built.api.pods, name, built.agent_port(id), built.way(id));
    let stream = access.runtime.block_on(way)?;
    let tls = built.tls(id).map_err(|fault| fault.text)?;
    let mut channel = Channel::open_forwarded(stream, tls).map_err(|e| e.to_string())?;
    channel.send(&ToAgent::Hello(ours.clone())).map_err(|e| e.to_string())?;
    let answer = channel
        .receive_until::<FromAgent>(clock::now() + HANDSHAKE_LIMIT)
        .map_err(|e| e.to_string())?;
    // It hears of the end from the connection, too.
    let _ = channel.send(&ToAgent::Bye);
    match answer {
        Some(FromAgent::Hello(hello)) => Ok(hello),
        Some(_) => Err("it says something else than who it is".to_owned()),
        None => Err("it says nothing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_of_another_protocol_version_or_commit_is_told() {
        let hello = |protocol, version: &str, commit: &str| Hello {
            protocol,
            version: version.into(),
            commit: commit.into(),
            boot_id: "here".into(),
            machine: BTreeMap::new(),
        };
        let ours = hello(3, "0.1.0", "aaa");
        let there = Hello { boot_id: "there".into(), ..ours.clone() };
        assert_eq!(differs(&there, &ours, true), None);
        for other in [hello(2, "0.1.0", "aaa"), hello(3, "0.2.0", "aaa"), hello(3, "0.1.0", "bbb")]
        {
            let why = differs(&other, &ours, true).unwrap();
            assert!(
                why.contains(&Build::of(&other).to_string()) && why.contains("hopbench kube image"),
                "{why}"
            );
            let of_subject = differs(&other, &ours, false);
            assert_eq!(of_subject.is_some(), other.protocol != ours.protocol, "{of_subject:?}");
        }
    }
}
