//! Creation of pods in waves. A proxy reads its peers' addresses at start, so a pod waits until its
//! peers exist.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use hopbench_model::IpFamily;
use hopbench_testbed::placement::PodId;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::{Patch, PatchParams};
use kube::{Client, ResourceExt};
use tokio::time::{Instant, sleep};

use super::envoy::{Described, describe};
use super::injected::lacking as lacking_sidecar;
use crate::api::access::explain;
use crate::api::client::Api;
use crate::api::create::passes;
use crate::objects::typed::typed;
use crate::provision::built::Built;
use crate::provision::launch::{self, CreatedPods, Launched};
use crate::provision::mesh_state::Peer;
use crate::provision::pod_diagnosis::{self, State};

/// Polling interval for pod addresses.
const LOOK: Duration = Duration::from_millis(200);
/// Give up on a pod that has been failing for this long.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time limit for the creation of a Secret.
const SECRET: Duration = Duration::from_secs(10);
/// The owner of the fields of Secrets.
const MANAGER: &str = "hopbench";

/// Makes pods, each as soon as it is known where those are to which its proxy leads. Those of
/// agents alone come last, so that they take no place of others in a quota. Then it waits until all
/// others are ready or nothing helps.
pub(crate) async fn pods(
    built: &Built,
    client: &Client,
    wanted: &BTreeMap<PodId, Pod>,
    until: Instant,
) -> kube::Result<Launched> {
    let mut known: BTreeMap<PodId, Pod> = built.pods.clone();
    known.retain(|id, _| !wanted.contains_key(id));
    let (alone, mut waiting): (BTreeMap<PodId, Pod>, BTreeMap<PodId, Pod>) =
        wanted.clone().into_iter().partition(|(id, _)| id.is_agent_alone());
    let mut made = CreatedPods::default();
    while !waiting.is_empty() {
        let address =
            |id: &PodId, family: Option<IpFamily>| built.address_of(id, known.get(id)?, family);
        let describe = |id: &PodId| describe(built, id, &address);
        let all: BTreeMap<PodId, Option<Described>> =
            waiting.keys().map(|id| (id.clone(), describe(id))).collect();
        let asked = lacking(&all, |id| address(id, None).is_some());
        let ready: BTreeMap<PodId, Option<Described>> =
            all.into_iter().filter(|(id, _)| !asked.contains_key(id)).collect();
        let lost =
            |peer: &PodId| !waiting.contains_key(peer) && !made.names.values().any(|id| id == peer);
        // A proxy that leads to a pod which will never be there is not made, either.
        let without: Vec<(PodId, PodId)> = asked
            .iter()
            .filter_map(|(id, peers)| {
                Some((id.clone(), peers.iter().find(|peer| lost(peer))?.clone()))
            })
            .collect();
        if !without.is_empty() {
            for (id, peer) in without {
                waiting.remove(&id);
                made.refused.insert(id, format!("its proxy leads to {peer}, which is not there"));
            }
            continue;
        }
        let mut wave = BTreeMap::new();
        for (id, described) in ready {
            let Some(pod) = waiting.remove(&id) else { continue };
            match put(built, client, &id, described).await {
                Ok(()) => {
                    wave.insert(id, pod);
                }
                Err(why) => {
                    made.refused.insert(id, why);
                }
            }
        }
        let more = launch::make(&built.api, &wave, until).await;
        made.names.extend(more.names);
        made.refused.extend(more.refused);
        let peers: BTreeSet<PodId> = asked.into_values().flatten().collect();
        let peers: BTreeSet<PodId> =
            peers.into_iter().filter(|id| made.names.values().any(|made| made == id)).collect();
        for (id, why) in addresses(built, &peers, &mut known, until).await? {
            let name = built.names.get(&id).cloned().unwrap_or_default();
            made.names.remove(&name);
            made.refused.insert(id, why);
        }
    }
    let more = launch::make(&built.api, &alone, until).await;
    made.names.extend(more.names);
    made.refused.extend(more.refused);
    let mut launched = launch::settle(&built.api, made, until).await?;
    for id in wanted.keys() {
        let pod = built.names.get(id).and_then(|name| launched.pods.get(name));
        if let Some(why) = pod.and_then(|pod| lacking_sidecar(built, id, pod)) {
            launched.refused.insert(id.clone(), why);
        }
    }
    Ok(launched)
}

/// The peers without an address, by the pod whose proxy needs them. `has_one`: whether a pod has
/// an address of any family. Then it gets no further ones, and a path of another family fails when
/// it is asked for.
fn lacking(
    all: &BTreeMap<PodId, Option<Described>>,
    has_one: impl Fn(&PodId) -> bool,
) -> BTreeMap<PodId, BTreeSet<PodId>> {
    let of = |described: &Described| -> BTreeSet<PodId> {
        let unknown = described
            .peers
            .iter()
            .filter(|((peer, _), address)| address.is_none() && !has_one(peer));
        unknown.map(|((peer, _), _)| peer.clone()).collect()
    };
    let all = all.iter().filter_map(|(id, described)| Some((id.clone(), of(described.as_ref()?))));
    all.filter(|(_, peers)| !peers.is_empty()).collect()
}

/// Waits until these pods have addresses, which are told in `known`; why some will have none.
async fn addresses(
    built: &Built,
    peers: &BTreeSet<PodId>,
    known: &mut BTreeMap<PodId, Pod>,
    until: Instant,
) -> kube::Result<BTreeMap<PodId, String>> {
    let mut stuck: BTreeMap<PodId, Instant> = BTreeMap::new();
    let mut lost = BTreeMap::new();
    loop {
        let mut now = built.api.now_until(until).await?;
        let mut waits = false;
        for id in peers.iter().filter(|id| !lost.contains_key(*id)).collect::<Vec<_>>() {
            let name = built.names.get(id).map(String::as_str).unwrap_or_default();
            let pod = now.remove(name);
            let state = pod.as_ref().map(pod_diagnosis::state);
            match pod {
                Some(pod) if built.address_of(id, &pod, None).is_some() => {
                    known.insert(id.clone(), pod);
                    continue;
                }
                _ => {}
            }
            let since = *stuck.entry(id.clone()).or_insert_with(Instant::now);
            let is_stuck = !matches!(state, Some(State::Starting(_) | State::Ready));
            if !is_stuck {
                stuck.remove(id);
            }
            if is_stuck && since.elapsed() >= PATIENCE || Instant::now() >= until {
                let events = built.api.events().await;
                lost.insert(id.clone(), pod_diagnosis::tell(name, state.as_ref(), &events));
            } else {
                waits = true;
            }
        }
        if !waits {
            return Ok(lost);
        }
        sleep(LOOK).await;
    }
}

/// Makes the Secret with the bootstrap of a pod's proxy, or changes it to what it must be now.
async fn put(
    built: &Built,
    client: &Client,
    id: &PodId,
    described: Option<Described>,
) -> Result<(), String> {
    let Some(described) = described else { return Ok(()) };
    let peers: BTreeMap<Peer, IpAddr> = described
        .peers
        .iter()
        .filter_map(|(peer, address)| Some((peer.clone(), (*address)?)))
        .collect();
    let name = built.names.get(id).map(String::as_str).unwrap_or_default();
    let secret = described.secret(&built.run, name, built.mesh.authority());
    let secret: Secret = secret.and_then(|secret| typed(&secret)).map_err(|fault| fault.text)?;
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &built.run.namespace);
    let until = Instant::now() + SECRET;
    loop {
        match secrets
            .patch(&secret.name_any(), &PatchParams::apply(MANAGER).force(), &Patch::Apply(&secret))
            .await
        {
            Ok(_) => break,
            Err(error) if passes(&error) && Instant::now() < until => sleep(LOOK).await,
            Err(error) => return Err(format!("its proxy's Secret: {}", explain(&error))),
        }
    }
    built.mesh.set_peers(id, peers);
    Ok(())
}

/// The pods of `pods` whose proxies lead to addresses that peers no longer have.
pub(crate) fn stale(built: &Built, pods: &[PodId]) -> Vec<PodId> {
    let moved = |((peer, family), told): (&Peer, &IpAddr)| {
        built.address(peer, *family).is_some_and(|now| now != *told)
    };
    let all = pods.iter().filter(|id| built.mesh.peers(id).iter().any(moved));
    all.cloned().collect()
}

#[cfg(test)]
mod tests {
    use hopbench_model::{MeshMode, Path, Variant, Via};

    use super::*;
    use crate::plan::fixture::{path, plan, point};
    use crate::provision::built::fixture::{built, named};

    #[tokio::test]
    async fn a_pod_waits_for_an_address_and_not_for_a_family_that_never_comes() {
        let (family, variant) = (Some(IpFamily::Ipv6), Some(Variant::plain()));
        let ends = path("p", "pod@a", "pod@b", Via::Direct);
        let path = Path { family, mesh: MeshMode::Both, variant, ..ends };
        let built = built(&plan(vec![path], vec![point("rr", "hopbench")]));
        let ends = ["pod@a/client", "pod@b"].map(|name| named(&built, name));
        let nothing = |_: &PodId, _: Option<IpFamily>| -> Option<IpAddr> { None };
        let all: BTreeMap<PodId, Option<Described>> =
            ends.iter().map(|id| (id.clone(), describe(&built, id, &nothing))).collect();
        let [client, server] = ends;
        let waits = BTreeMap::from([(client, BTreeSet::from([server]))]);
        assert_eq!(lacking(&all, |_| false), waits);
        assert!(lacking(&all, |_| true).is_empty());
    }
}
