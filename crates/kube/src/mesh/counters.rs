//! Counters and gauges of the processes of the mesh, asked for around a trial.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::join_all;
use hopbench_model::Fault;
use hopbench_testbed::placement::{Endpoints, Met, PodId};
use hopbench_testbed::{Counters, Gauges, Proxy, Route, of_proxy};
use tokio::time::sleep;

use super::admin::Door;
use super::processes::{beside, on_route};
use super::{admin, injected, on_nodes, services};
use crate::api::access::Access;
use crate::provision::built::Built;

/// The time that a proxy needs to look at its own state.
const LOOK: Duration = Duration::from_millis(5);
/// Give up asking a proxy about its connections after so many questions.
const MOST_QUESTIONS: usize = 5;

/// The proxies in the pods of a path, for a trial: whatever they have open now was opened before
/// it.
pub(crate) fn proxies(
    access: &Access,
    built: &Built,
    ends: &Endpoints,
    servers: &[PodId],
    bypassed: bool,
) -> Vec<Proxy> {
    if ends.rules.captures_pods {
        return on_nodes::proxies(built, ends, bypassed);
    }
    let met = built.placement.met(ends, servers, bypassed);
    let open = access.runtime.block_on(join_all(met.iter().filter(|met| met.role.is_proxy()).map(
        |met| async move {
            // The first question makes it look, and the answer to the second has what it saw.
            ask(built, met).await.ok()?;
            sleep(LOOK).await;
            let said = injected::gauges(built, &ask(built, met).await.ok()?).ok()?;
            Some((met.pod.clone(), *said.get("upstream_active_connections")?))
        },
    )));
    built.mesh.set_warm(open.into_iter().flatten().collect());
    let proxy = |met: Met| Proxy {
        beside: beside(built, &met),
        workers: met.workers,
        name: met.name,
        node: met.pod.place.node,
        named: met.named,
        // They are in other machines' /proc.
        pids: Vec::new(),
        cpus: None,
    };
    met.into_iter().map(proxy).collect()
}

async fn ask(built: &Built, met: &Met) -> Result<Vec<u8>, String> {
    let (port, path) = injected::statistics(built.spec.mesh.provider);
    admin::get(built, &Door::of(built, &met.pod, port)?, path).await
}

/// The counters of a process of the mesh.
async fn count(built: &Built, met: &Met) -> Result<BTreeMap<String, u64>, String> {
    if !met.role.is_proxy() {
        let door = Door::of(built, &met.pod, services::totals_port(met.role))?;
        let text = admin::line(&door).await?;
        let totals: BTreeMap<String, serde_json::Value> =
            serde_json::from_slice(&text).map_err(|e| e.to_string())?;
        return Ok(totals
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_u64()?)))
            .collect());
    }
    let mut counters = injected::counters(built, met, &ask(built, met).await?)?;
    // Times of connecting are as of an earlier question, each of which makes it bring them up to
    // date.
    for _ in 1..MOST_QUESTIONS {
        if hopbench_mesh::untold(&counters) == 0 {
            break;
        }
        sleep(LOOK).await;
        counters = injected::counters(built, met, &ask(built, met).await?)?;
    }
    Ok(counters)
}

/// The counters of all processes on a route, by the names of [`of_proxy`]. A process that the path
/// does not name may be silent: then it has none.
pub(crate) fn counters(access: &Access, built: &Built, route: &Route) -> Result<Counters, Fault> {
    if built.spec.mesh.provider.is_on_nodes() {
        return on_nodes::counters(access, built, route);
    }
    let (services, proxies): (Vec<Met>, Vec<Met>) =
        on_route(built, route).into_iter().partition(|met| !met.role.is_proxy());
    let mut counters = Counters::new();
    // The services first: proxies report nothing more to them meanwhile.
    for group in [services, proxies] {
        let read = join_all(group.iter().map(|met| async move { (met, count(built, met).await) }));
        for (met, read) in access.runtime.block_on(read) {
            match read {
                // The proof says so.
                Err(_) if !met.named => {}
                Err(why) => return Err(silent(built, met, &why)),
                Ok(read) => {
                    counters.extend(
                        read.into_iter()
                            .map(|(counter, value)| (of_proxy(&met.name, &counter), value)),
                    );
                }
            }
        }
    }
    Ok(counters)
}

/// The gauges of all proxies on a route, and `warm_upstream_connections`: the upstream connections
/// that a proxy had open before the trial.
pub(crate) fn gauges(
    access: &Access,
    built: &Built,
    route: &Route,
) -> Result<BTreeMap<String, Gauges>, Fault> {
    let all: Vec<Met> =
        on_route(built, route).into_iter().filter(|met| met.role.is_proxy()).collect();
    let read = join_all(all.iter().map(|met| async move { (met, ask(built, met).await) }));
    let mut gauges = BTreeMap::new();
    for (met, answer) in access.runtime.block_on(read) {
        let mut said = match answer.and_then(|answer| injected::gauges(built, &answer)) {
            Err(_) if !met.named => continue,
            Err(why) => return Err(silent(built, met, &why)),
            Ok(said) => said,
        };
        let warm = built.mesh.warm(&met.pod);
        said.extend(warm.map(|open| ("warm_upstream_connections".to_owned(), open)));
        gauges.insert(met.name.clone(), said);
    }
    Ok(gauges)
}

fn silent(built: &Built, met: &Met, why: &str) -> Fault {
    let pod = built.names.get(&met.pod).map(String::as_str).unwrap_or_default();
    Fault::measuring(format!(
        "{} in pod {pod} of {} does not say what it counted: {why}",
        met.name, met.pod
    ))
}
