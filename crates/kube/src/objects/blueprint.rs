//! The blueprint of a run: all its objects, before any of them is made.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hopbench_control::conductor::RunKey;
use hopbench_control::keys::KeyPair;
use hopbench_model::{ClusterSpec, Fault, Place, Via};
use hopbench_testbed::placement::{Placement, PodId};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod, Secret, Service};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use serde_json::Value;

use crate::api::labels::RunIdentity;
use crate::objects::security::{Level, beyond_restricted};
use crate::objects::sidecar::Sidecar;
use crate::objects::typed::typed;
use crate::objects::{frame, network_policy, patch, pod, secret, service};
use crate::plan::attachment::{Attachment, has_agent};
use crate::plan::gateways;
use crate::plan::names;
use crate::plan::nodes::NodeFacts;
use crate::plan::peers;
use crate::plan::placement::agent_port;
use crate::plan::services::{self, PathService};

/// The input of a blueprint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) spec: &'a ClusterSpec,
    pub(crate) placement: &'a Placement,
    /// The cluster's nodes, by the names of the scenario's.
    pub(crate) nodes: &'a BTreeMap<String, NodeFacts>,
    pub(crate) sidecars: &'a BTreeMap<PodId, Sidecar>,
    /// The first port of the agents on each node's own network.
    pub(crate) host_port: u16,
}

/// The objects of a run that are in its namespace, but for the one that owns them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Blueprint {
    /// The keys by which each agent proves its identity.
    pub(crate) secrets: Vec<Secret>,
    pub(crate) services: Vec<Service>,
    pub(crate) pods: BTreeMap<PodId, Pod>,
    pub(crate) network_policy: Option<NetworkPolicy>,
}

impl Blueprint {
    /// With these key pairs for the agents, which know their conductor by `conductor`.
    pub(crate) fn of(
        ground: &Ground<'_>,
        run: &RunIdentity,
        conductor: &RunKey,
        agents: &BTreeMap<PodId, KeyPair>,
    ) -> Result<Self, Fault> {
        let of_path = |wanted: &PathService| {
            let program = wanted.program.as_ref().and_then(|name| ground.spec.servers.get(name));
            let port = program.map(|program| program.port);
            typed(&service::service(run, wanted, port))
        };
        let pods = typed_pods(ground, run)?;
        let policy = || -> Result<NetworkPolicy, Fault> {
            let nodes: Vec<IpAddr> =
                ground.nodes.values().flat_map(|node| node.addresses.iter().copied()).collect();
            let leaves = |via: &Via| matches!(via, Via::LoadBalancer | Via::Address(_));
            let open = ground.placement.paths.values().any(|ends| {
                leaves(&ends.path.via) || gateways::of_path(ground.spec, &ends.path).is_some()
            });
            let entrances = gateways::entrances(ground.spec, ground.placement);
            typed(&network_policy::network_policy(run, &nodes, open, &entrances))
        };
        let names = names::pods(&ground.placement.pods);
        let secret = |(id, keys): (&PodId, &KeyPair)| {
            typed(&secret::secret(run, &names[id], keys, conductor))
        };
        Ok(Self {
            secrets: agents.iter().map(secret).collect::<Result<_, _>>()?,
            services: services::services(ground.spec, ground.placement)
                .iter()
                .map(of_path)
                .collect::<Result<_, _>>()?,
            pods,
            network_policy: if ground.spec.network_policy { Some(policy()?) } else { None },
        })
    }
}

/// The pods with the scenario's patches, as the API server takes them.
pub(crate) fn typed_pods(
    ground: &Ground<'_>,
    run: &RunIdentity,
) -> Result<BTreeMap<PodId, Pod>, Fault> {
    pods(ground, run)?.into_iter().map(|(id, pod)| Ok((id, typed(&pod)?))).collect()
}

/// The pods with the scenario's patches.
pub(crate) fn pods(
    ground: &Ground<'_>,
    run: &RunIdentity,
) -> Result<BTreeMap<PodId, Value>, Fault> {
    let Ground { spec, placement, nodes, sidecars, host_port } = ground;
    let services = services::services(spec, placement);
    let behind = services::behind(&services);
    let names = names::pods(&placement.pods);
    let attachments = attachments(spec, placement)?;
    let mut all = BTreeMap::new();
    for (id, name) in &names {
        let attachment = &attachments[&id.place];
        let node =
            nodes.get(&id.place.node).map_or(id.place.node.as_str(), |node| node.name.as_str());
        let recipe = pod::Recipe {
            run,
            spec,
            name,
            node,
            attachment,
            port: agent_port(placement, *host_port, id),
            has_agent: has_agent(spec, id),
            is_end: id.is_end(),
            program: id.program.as_ref().and_then(|program| spec.servers.get(program)),
            settings: placement.settings.get(id),
            tools: peers::image(spec, placement, id),
            answers_tools: peers::ask_agent(spec, placement, id),
            echoes: placement.paths.values().any(|ends| ends.echoes && ends.clients.contains(id)),
            services: &behind.get(id).cloned().unwrap_or_default(),
            sidecar: sidecars.get(id),
        };
        let mut pod = pod::pod(&recipe);
        for patch in [&spec.patch, &attachment.network.patch].into_iter().flatten() {
            patch::merge(&mut pod, patch)?;
        }
        all.insert(id.clone(), pod);
    }
    Ok(all)
}

/// The attachment of the pods of each place.
pub(crate) fn attachments(
    spec: &ClusterSpec,
    placement: &Placement,
) -> Result<BTreeMap<Place, Attachment>, Fault> {
    let places = placement.pods.iter().map(|pod| &pod.place);
    let attachment = |place: &Place| match Attachment::of(spec, place) {
        Ok(attachment) => Ok((place.clone(), attachment)),
        Err(why) => Err(Fault::input(format!("{}; {}", why.why, why.remedy))),
    };
    places.map(attachment).collect()
}

/// The needs of the pods beyond `restricted`, by name, and the level that their namespace has to
/// have. `more` has the needs of injected containers.
pub(crate) fn level(
    pods: &BTreeMap<PodId, Value>,
    more: BTreeMap<String, Vec<String>>,
) -> (Level, BTreeMap<String, Vec<String>>) {
    let beyond = pods.iter().map(|(id, pod)| (id.to_string(), beyond_restricted(pod)));
    let mut beyond: BTreeMap<_, _> = beyond.filter(|(_, what)| !what.is_empty()).collect();
    for (pod, what) in more {
        beyond.entry(pod).or_default().extend(what);
    }
    (if beyond.is_empty() { Level::Restricted } else { Level::Privileged }, beyond)
}

/// The namespace of a run, and the object in it that owns all others.
pub(crate) fn frame(
    run: &RunIdentity,
    level: Level,
    scenario: &str,
    conductor: &str,
) -> Result<(Namespace, ConfigMap), Fault> {
    let owner = frame::owner(run, scenario, env!("CARGO_PKG_VERSION"), conductor);
    Ok((typed(&frame::namespace(run, level))?, typed(&owner)?))
}

#[cfg(test)]
mod tests;
