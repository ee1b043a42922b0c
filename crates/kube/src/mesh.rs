//! Sidecars and gateways: what paths with proxies need and have, and what the proxies count.
//!
//! ```text
//!   demand ─► posts: which proxies ─► envoy: containers ┐
//!             listeners: what they do ─► bootstraps ────┴► waves: pods, in order ─► admin: counters ─► proof
//! ```

mod admin;
mod envoy;
mod injected;
mod linkerd;
mod listeners;
mod needs;
mod posts;
mod services;
mod waves;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use hopbench_control::authority::Authority;
use hopbench_mesh::{Offer, Role};
use hopbench_model::{ClusterSpec, Fault, MeshProvider, Point};
use hopbench_testbed::{Counters, Gauges, MeteredKind, Proxy, Route, of_proxy};
use tokio::time::sleep;

use self::admin::Admins;
pub(crate) use self::envoy::{GATEWAY, SIDECAR};
pub(crate) use self::needs::{missing, unsupported};
use self::posts::Met;
pub(crate) use self::waves::{pods, stale};
use crate::access::Access;
use crate::built::Built;
use crate::cast::{Ask, Cast, program};
use crate::demand::Demand;
use crate::meters::{Container, Target};
use crate::pod::PodId;
use crate::sidecar::Sidecar;
use crate::target;

/// How long a proxy needs to look at its own state.
const LOOK: Duration = Duration::from_millis(5);
/// Who has not told of its connections after so many questions does not know of all, and will not.
const MOST_QUESTIONS: usize = 5;

/// The mesh of a run.
#[derive(Debug)]
pub(crate) struct Mesh {
    authority: Authority,
    admins: Admins,
    /// Where each pod's proxy was told that the others are.
    told: Mutex<BTreeMap<PodId, BTreeMap<PodId, IpAddr>>>,
    /// Connections to upstreams that each proxy had open already at the trial's start.
    warm: Mutex<BTreeMap<PodId, f64>>,
}

impl Mesh {
    /// Nothing yet.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn new() -> Result<Self, Fault> {
        Ok(Self {
            authority: Authority::new()?,
            admins: Admins::default(),
            told: Mutex::default(),
            warm: Mutex::default(),
        })
    }

    fn authority(&self) -> &Authority {
        &self.authority
    }

    fn told(&self, pod: &PodId, peers: BTreeMap<PodId, IpAddr>) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(pod.clone(), peers);
    }

    fn peers(&self, pod: &PodId) -> BTreeMap<PodId, IpAddr> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).get(pod).cloned().unwrap_or_default()
    }
}

/// What each pod gets beside its agent.
pub(crate) fn sidecars(spec: &ClusterSpec, demand: &Demand) -> BTreeMap<PodId, Sidecar> {
    match spec.mesh.provider {
        MeshProvider::Envoy => envoy::sidecars(spec, demand),
        provider => injected::sidecars(provider, spec, demand),
    }
}

/// What the mesh itself puts into pods that is beyond `restricted`, by the pods' names.
pub(crate) fn beyond(spec: &ClusterSpec, demand: &Demand) -> BTreeMap<String, Vec<String>> {
    let what = injected::beyond(spec.mesh.provider).map(str::to_owned);
    what.map(|what| demand.sidecars.keys().map(|pod| (pod.to_string(), vec![what.clone()])).collect())
        .unwrap_or_default()
}

/// Where the clients of a path connect to because of its mesh or its gateway; `None`: where they would without.
///
/// # Errors
/// Somebody has no address.
pub(crate) fn target(built: &Built, cast: &Cast, point: &Point) -> Result<Option<SocketAddr>, Fault> {
    let path = &cast.path;
    let nowhere = |what: &str| Fault::environment(format!("path {}: {what}", path.name));
    if let (true, Some(gateway)) = (is_existing_gateway(cast), &built.spec.gateway) {
        return target::resolve(&gateway.address).map(Some).map_err(|why| nowhere(&why));
    }
    if !path.is_proxied() || point.job.bypasses_proxies() {
        return Ok(None);
    }
    let ask = Ask { program: program(&point.server), protocol: Offer::of(&point.job, &point.server).protocol };
    let port = || listeners::taken(&built.demand, cast, &ask).ok_or_else(|| nowhere("no proxy takes this"));
    if let Some(gateway) = &cast.gateway {
        let address = built.address(gateway).ok_or_else(|| nowhere("its gateway has no address"))?;
        return Ok(Some(SocketAddr::new(address, port()?)));
    }
    if path.mesh.has_client() && !cast.intercepted {
        return Ok(Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port()?))));
    }
    if let Some(outside) = listeners::outside(built, cast, &ask) {
        return Ok(Some(outside));
    }
    let server = cast.servers_of(&point.server).first().ok_or_else(|| nowhere("it has no server"))?;
    let address = built.address(server).ok_or_else(|| nowhere("its server has no address"))?;
    Ok(Some(SocketAddr::new(address, listeners::entry(built, cast, &ask, server))))
}

/// Whether the gateway of a path is one that was there before.
pub(crate) fn is_existing_gateway(cast: &Cast) -> bool {
    matches!(&cast.path.via, hopbench_model::Via::Gateway(node) if node.is_empty())
}

/// The proxies in the pods of a path, for a trial: whatever they have open now was opened before it.
pub(crate) fn proxies(access: &Access, built: &Built, cast: &Cast, servers: &[PodId], bypassed: bool) -> Vec<Proxy> {
    let met = posts::met(&built.demand, cast, servers, bypassed);
    let open = access.runtime.block_on(join_all(met.iter().filter(|met| is_envoy(met)).map(|met| async move {
        // The first question makes it look, and the answer to the second has what it saw.
        ask(built, met).await.ok()?;
        sleep(LOOK).await;
        let said = injected::gauges(built, &ask(built, met).await.ok()?).ok()?;
        Some((met.pod.clone(), *said.get("upstream_active_connections")?))
    })));
    *built.mesh.warm.lock().unwrap_or_else(PoisonError::into_inner) = open.into_iter().flatten().collect();
    let proxy = |met: Met| Proxy {
        workers: posts::workers(&built.demand, cast, &met),
        name: met.name,
        node: met.pod.place.node,
        named: met.named,
        // They are in other machines' /proc.
        pids: Vec::new(),
        cpus: None,
    };
    met.into_iter().map(proxy).collect()
}

/// The processes of the mesh on a route.
fn met(built: &Built, route: &Route) -> Vec<Met> {
    let Some(cast) = built.demand.paths.get(&route.path) else { return Vec::new() };
    let servers: Vec<PodId> = route.servers.iter().filter_map(|agent| built.demand.pod(&agent.0)).cloned().collect();
    let bypassed = route.proxies.iter().all(|proxy| !proxy.named);
    posts::met(&built.demand, cast, &servers, bypassed)
}

fn is_envoy(met: &Met) -> bool {
    matches!(met.role, Role::Sidecar | Role::Gateway)
}

async fn ask(built: &Built, met: &Met) -> Result<Vec<u8>, String> {
    let (port, path) = injected::statistics(built.spec.mesh.provider);
    built.mesh.admins.get(built, &met.pod, port, path).await
}

/// What a process of the mesh has counted.
async fn count(built: &Built, met: &Met) -> Result<BTreeMap<String, u64>, String> {
    if !is_envoy(met) {
        let text = admin::line(built, &met.pod, services::totals_port(met.role)).await?;
        let totals: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&text).map_err(|e| e.to_string())?;
        return Ok(totals.into_iter().filter_map(|(name, value)| Some((name, value.as_u64()?))).collect());
    }
    let mut counters = injected::counters(built, met, &ask(built, met).await?)?;
    // Times of connecting are as of an earlier question, each of which makes it bring them up to date.
    for _ in 1..MOST_QUESTIONS {
        let of = |counter: &str| counters.get(counter).copied().unwrap_or(0);
        if of("upstream_connections") <= of("upstream_connects") + of("upstream_connect_failures") {
            break;
        }
        sleep(LOOK).await;
        counters = injected::counters(built, met, &ask(built, met).await?)?;
    }
    Ok(counters)
}

/// What they have counted, by the names of [`of_proxy`]; nothing of those that the path does not name and that cannot be
/// asked.
///
/// # Errors
/// One that the path names and that does not answer.
pub(crate) fn counters(access: &Access, built: &Built, route: &Route) -> Result<Counters, Fault> {
    let (services, proxies): (Vec<Met>, Vec<Met>) = met(built, route).into_iter().partition(|met| !is_envoy(met));
    let mut counters = Counters::new();
    // The services first: what proxies report meanwhile was sent by nobody otherwise.
    for group in [services, proxies] {
        let read = join_all(group.iter().map(|met| async move { (met, count(built, met).await) }));
        for (met, read) in access.runtime.block_on(read) {
            match read {
                // The proof says so.
                Err(_) if !met.named => {}
                Err(why) => return Err(silent(built, met, &why)),
                Ok(read) => {
                    counters.extend(read.into_iter().map(|(counter, value)| (of_proxy(&met.name, &counter), value)));
                }
            }
        }
    }
    Ok(counters)
}

/// What the proxies say of themselves now, and `warm_upstream_connections`: those to upstreams that they had open already
/// when the trial began.
///
/// # Errors
/// The same.
pub(crate) fn gauges(access: &Access, built: &Built, route: &Route) -> Result<BTreeMap<String, Gauges>, Fault> {
    let all: Vec<Met> = met(built, route).into_iter().filter(is_envoy).collect();
    let read = join_all(all.iter().map(|met| async move { (met, ask(built, met).await) }));
    let mut gauges = BTreeMap::new();
    for (met, answer) in access.runtime.block_on(read) {
        let mut said = match answer.and_then(|answer| injected::gauges(built, &answer)) {
            Err(_) if !met.named => continue,
            Err(why) => return Err(silent(built, met, &why)),
            Ok(said) => said,
        };
        let warm = built.mesh.warm.lock().unwrap_or_else(PoisonError::into_inner).get(&met.pod).copied();
        said.extend(warm.map(|open| ("warm_upstream_connections".to_owned(), open)));
        gauges.insert(met.name.clone(), said);
    }
    Ok(gauges)
}

fn silent(built: &Built, met: &Met, why: &str) -> Fault {
    let pod = built.names.get(&met.pod).map(String::as_str).unwrap_or_default();
    Fault::measuring(format!("{} in pod {pod} of {} does not say what it counted: {why}", met.name, met.pod))
}

/// Their containers, for whoever meters and watches them.
pub(crate) fn targets(built: &Built, route: &Route) -> Vec<Target> {
    let target = |met: Met| {
        let container = match met.role {
            Role::Sidecar => injected::container(built.spec.mesh.provider),
            Role::Gateway => GATEWAY,
            Role::Policy | Role::Telemetry => met.role.word(),
        };
        let (namespace, pod) = (built.run.namespace.clone(), built.names.get(&met.pod)?.clone());
        Some(Target {
            who: met.name,
            what: MeteredKind::Proxy,
            node: built.nodes.get(&met.pod.place.node)?.name.clone(),
            container: Some(Container { namespace, pod, name: container.to_owned() }),
        })
    };
    met(built, route).into_iter().filter_map(target).collect()
}

/// What a reader has to know about the proxies.
pub(crate) fn facts(built: &Built) -> BTreeMap<String, String> {
    let sidecars = built.demand.sidecars.iter();
    let mut facts: BTreeMap<String, String> =
        sidecars.map(|(pod, variant)| (format!("pod {pod} sidecar"), format!("variant {}", variant.name))).collect();
    for pod in built.demand.sidecars.keys() {
        let found = built.pods.get(pod).and_then(|found| injected::describe(built.spec.mesh.provider, found));
        facts.extend(found.map(|found| (format!("pod {pod} proxy"), found)));
    }
    facts
}

#[cfg(test)]
mod tests;
