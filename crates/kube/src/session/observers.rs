//! The observers of a run: the watches over what changes, the cluster's own meters, and the agents
//! that look at nodes.

use std::collections::BTreeSet;
use std::time::Duration;

use hopbench_model::{ClusterSpec, GatewaySpec, Via};
use hopbench_testbed::placement::PodId;
use hopbench_testbed::{AgentId, MeteredKind, NodeOnlooker, Proxy, Route};
use k8s_openapi::api::core::v1::{Pod, PodSpec};
use kube::ResourceExt;
use kube::api::ListParams;

use crate::api::access::Access;
use crate::api::client::Api;
use crate::api::labels;
use crate::mesh;
use crate::objects::containers::{AGENT, PROGRAM};
use crate::observe::meters;
use crate::observe::meters::reading::Readings;
use crate::observe::meters::target::{Container, MeterTarget};
use crate::observe::watch::{Concern, Scope, Watch};
use crate::plan::gateways;
use crate::plan::placement::{passed, seeing};
use crate::provision::built::Built;
use crate::provision::pod_diagnosis::{self, State};
use crate::provision::pod_status;
use crate::provision::proxy_pods::{self, GATEWAY, ProxyPod};

/// Time limit for the watches to list what there is.
const SETTLE: Duration = Duration::from_secs(5);

/// Begins to watch what stands, and the pods of a gateway that others made.
pub(crate) fn watch(access: &Access, built: &Built) -> Watch {
    let mut scopes = vec![Scope {
        namespace: built.run.namespace.clone(),
        // Pods of others in a namespace that was given are no part of the run.
        labels: built.run.is_guest.then(|| labels::of_run(&built.run.name)),
    }];
    scopes.extend(given(&built.spec).filter_map(scope));
    let nodes = built.nodes.values().map(|node| node.name.clone()).collect();
    let watch = Watch::start(access.runtime.handle(), &access.client, &scopes, &nodes);
    watch.settle(SETTLE);
    watch
}

/// The gateways that the scenario names.
fn given(spec: &ClusterSpec) -> impl Iterator<Item = &GatewaySpec> {
    spec.gateway.iter().chain(spec.gateways.values())
}

/// The scope of a gateway whose pods the scenario names.
fn scope(gateway: &GatewaySpec) -> Option<Scope> {
    let (namespace, labels) = gateways::pods(gateway)?;
    Some(Scope { namespace: namespace.to_owned(), labels: Some(labels) })
}

/// The objects that concern a route.
pub(crate) fn concern(built: &Built, route: &Route) -> Concern {
    let namespace = &built.run.namespace;
    let here = |name: &String| (namespace.clone(), name.clone());
    let ends = agents(route).filter_map(|agent| built.names.get(built.pod(&agent.0).ok()?));
    let proxies = mesh::targets(built, route);
    let of_proxies = proxies.iter().filter_map(|target| target.container.as_ref());
    let mut namespaces = BTreeSet::from([namespace.clone()]);
    // Gateways of others have no node of the scenario: what happens there concerns every path that
    // may enter by them.
    let path = built.placement.paths.get(&route.path).map(|ends| &ends.path);
    let entered: Vec<&GatewaySpec> = match path.map(|path| (path, built.spec.gateway_of(path))) {
        Some((_, Some(gateway))) => vec![gateway],
        Some((path, None)) if may_enter(&path.via) => given(&built.spec).collect(),
        _ => Vec::new(),
    };
    namespaces.extend(entered.into_iter().filter_map(scope).map(|scope| scope.namespace));
    Concern {
        pods: ends
            .map(here)
            .chain(of_proxies.map(|c| (c.namespace.clone(), c.pod.clone())))
            .chain(made(built, route).iter().map(|p| (p.namespace.clone(), p.name.clone())))
            .collect(),
        services: built
            .services
            .iter()
            .filter(|service| service.path == route.path)
            .map(|service| here(&service.name))
            .collect(),
        nodes: nodes(built, route).into_iter().map(|(_, node)| node).collect(),
        namespaces,
    }
}

/// Whether a path may enter by any gateway of others: it is not known what is behind an address.
fn may_enter(via: &Via) -> bool {
    matches!(via, Via::Address(_) | Via::LoadBalancer)
}

/// The readings of a route's containers and nodes.
pub(crate) fn readings(access: &Access, built: &Built, route: &Route) -> Readings {
    let mut targets = mesh::targets(built, route);
    for agent in agents(route) {
        let Ok(pod) = built.pod(&agent.0) else { continue };
        let (Some(name), Some(node)) = (built.names.get(pod), built.nodes.get(&pod.place.node))
        else {
            continue;
        };
        let mut add = |what: MeteredKind, container: &str| {
            let (namespace, pod) = (built.run.namespace.clone(), name.clone());
            let container = Some(Container { namespace, pod, name: container.to_owned() });
            targets.push(MeterTarget {
                who: agent.0.clone(),
                what,
                node: node.name.clone(),
                container,
            });
        };
        add(MeteredKind::Agent, AGENT);
        if pod.program.is_some() {
            add(MeteredKind::Program, PROGRAM);
        }
    }
    let nodes = nodes(built, route).into_iter();
    targets.extend(nodes.map(|(who, node)| MeterTarget {
        who,
        what: MeteredKind::Node,
        node,
        container: None,
    }));
    targets.extend(proxy_pods::targets(proxy_pods::named(GATEWAY, made(built, route))));
    targets.extend(of_others(access, built, route));
    let prometheus = built.spec.prometheus.as_ref();
    let mut readings =
        access.runtime.block_on(meters::read(&access.client, prometheus, &targets, &built.clocks));
    // Meters keep the last reading of a container that has ended for minutes, under the name of its
    // successor.
    readings.metered.retain(|reading| {
        let target =
            targets.iter().find(|target| target.what == reading.what && target.who == reading.who);
        target.and_then(|target| began(built, target)).is_none_or(|began| reading.at >= began)
    });
    readings
}

/// When a container of the run was started, as far as is known, by this machine's clock since 1970
/// UTC.
fn began(built: &Built, target: &MeterTarget) -> Option<Duration> {
    let container =
        target.container.as_ref().filter(|container| container.namespace == built.run.namespace)?;
    let (id, _) = built.names.iter().find(|(_, name)| **name == container.pod)?;
    Some(
        built.clocks.here(&target.node, pod_status::started(built.pods.get(id)?, &container.name)?),
    )
}

/// The pods of the Gateway that the run made for a route.
fn made<'a>(built: &'a Built, route: &Route) -> &'a [ProxyPod] {
    built.gateway_pods.get(&route.path).map(Vec::as_slice).unwrap_or_default()
}

/// The containers of the gateway that was there before, if the route enters by it: `gateway
/// POD/CONTAINER`. Where its pods cannot be listed there are none.
fn of_others(access: &Access, built: &Built, route: &Route) -> Vec<MeterTarget> {
    let path = built.placement.paths.get(&route.path).map(|ends| &ends.path);
    let entered = path.and_then(|path| built.spec.gateway_of(path));
    let scope = entered
        .filter(|gateway| gateway.class.is_none())
        .and_then(scope)
        .filter(|scope| scope.labels.as_ref().is_some_and(|labels| !labels.is_empty()));
    let Some(Scope { namespace, labels: Some(labels) }) = scope else { return Vec::new() };
    let api: Api<Pod> = Api::namespaced(access.client.clone(), &namespace);
    let found = access.ask("the gateway's pods", api.list(ListParams::default().labels(&labels)));
    let pods =
        found.unwrap_or_default().into_iter().filter_map(|pod| Some((pod.name_any(), pod.spec?)));
    let of_pod = |(pod, spec): (String, PodSpec)| {
        let (namespace, node) = (namespace.clone(), spec.node_name.unwrap_or_default());
        spec.containers.into_iter().map(move |container| MeterTarget {
            who: format!("gateway {pod}/{}", container.name),
            what: MeteredKind::Proxy,
            node: node.clone(),
            container: Some(Container {
                namespace: namespace.clone(),
                pod: pod.clone(),
                name: container.name,
            }),
        })
    };
    pods.filter(|(_, spec)| spec.node_name.is_some()).flat_map(of_pod).collect()
}

/// The onlookers on nodes of a route that none of its agents is on, where the run has agents that
/// see these nodes.
pub(crate) fn onlookers(built: &Built, route: &Route) -> Vec<NodeOnlooker> {
    let has_agent = |node: &str| {
        let is_beside = |proxy: &Proxy| proxy.node == node && proxy.seen_by_agent().is_some();
        route.nodes.iter().any(|(_, of_end)| of_end == node) || route.proxies.iter().any(is_beside)
    };
    let names = nodes(built, route).into_iter().map(|(name, _)| name);
    names.filter(|name| !has_agent(name)).filter_map(|name| onlooker(built, &name)).collect()
}

/// The onlooker on a node: of the agents that see it the first that is there.
fn onlooker(built: &Built, node: &str) -> Option<NodeOnlooker> {
    let may = |pod: &&PodId| !built.is_sandbox(pod) && built.foreign_agent(pod).is_none();
    let all: Vec<&PodId> = seeing(&built.spec, &built.placement, node).filter(may).collect();
    let there = all.iter().find(|pod| absent(built, pod).is_none());
    let pod = there.or_else(|| all.first())?;
    Some(NodeOnlooker { node: node.to_owned(), agent: pod.agent(), absent: absent(built, pod) })
}

/// Why the agent of a pod is not there; `None`: it is. Nothing waits for it.
fn absent(built: &Built, pod: &PodId) -> Option<String> {
    let state = built.pods.get(pod).map(pod_diagnosis::state);
    if state == Some(State::Ready) {
        return None;
    }
    let name = built.names.get(pod).map(String::as_str).unwrap_or_default();
    let refused = built.refused.get(pod).cloned();
    Some(refused.unwrap_or_else(|| pod_diagnosis::tell(name, state.as_ref(), &[])))
}

fn agents(route: &Route) -> impl Iterator<Item = &AgentId> {
    let all: BTreeSet<&AgentId> = route.agents().collect();
    all.into_iter()
}

/// The route's nodes: their names in the scenario and in the cluster.
fn nodes(built: &Built, route: &Route) -> Vec<(String, String)> {
    let of_ends = route.nodes.iter().map(|(_, node)| node.as_str());
    let between = built.placement.paths.get(&route.path).into_iter().flat_map(passed);
    // Those of others are on nodes that the plan does not tell.
    let of_proxies = route.proxies.iter().map(|proxy| proxy.node.as_str());
    let all: BTreeSet<&str> = of_ends.chain(between).chain(of_proxies).collect();
    all.into_iter()
        .filter_map(|name| Some((name.to_owned(), built.nodes.get(name)?.name.clone())))
        .collect()
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::Beside;
    use serde_json::json;

    use super::*;
    use crate::plan::fixture::{path, plan, point};
    use crate::provision::built::fixture::{built, named};

    /// From node a to node b through node c, with these proxies.
    fn route(proxies: Vec<Proxy>) -> Route {
        let [client, server] = ["pod@a", "pod@b"].map(|name| AgentId(name.to_owned()));
        Route {
            path: "port".to_owned(),
            clients: vec![client.clone()],
            servers: vec![server.clone()],
            nodes: vec![(client, "a".to_owned()), (server, "b".to_owned())],
            proxies,
            ..Route::to("10.0.0.3:30000".parse().unwrap())
        }
    }

    fn ready() -> Pod {
        let conditions = json!([{"type": "Ready", "status": "True"}]);
        let pod = json!({"metadata": {}, "status": {"conditions": conditions}});
        serde_json::from_value(pod).unwrap()
    }

    #[tokio::test]
    async fn a_node_without_an_agent_of_the_path_has_an_onlooker_as_soon_as_that_is_there() {
        let entered = path("port", "pod@a", "pod@b", Via::NodePort("c".into()));
        let mut built = built(&plan(vec![entered], vec![point("rr", "hopbench")]));
        let id = named(&built, "pod@c/onlooker");
        let absent = |built: &Built| {
            let found = onlookers(built, &route(Vec::new()));
            let [onlooker] = &found[..] else { panic!("{found:?}") };
            assert_eq!((onlooker.node.as_str(), &onlooker.agent), ("c", &id.agent()));
            onlooker.absent.clone()
        };
        let why = "pod pod-c-onlooker is not ready: nobody has given it a node yet";
        assert_eq!(absent(&built).as_deref(), Some(why));
        built.refused.insert(id.clone(), "the quota is exceeded".to_owned());
        assert_eq!(absent(&built).as_deref(), Some("the quota is exceeded"));
        built.pods.insert(id.clone(), ready());
        assert_eq!(absent(&built), None);
        let beside = Beside { agent: id.agent(), container: "0123456789ab".to_owned() };
        let proxy = |beside: Option<Beside>| {
            let (name, node, pids) = ("gateway".to_owned(), "c".to_owned(), Vec::new());
            Proxy { name, node, named: true, pids, beside, workers: 1, cpus: None }
        };
        assert_eq!(onlookers(&built, &route(vec![proxy(None)])).len(), 1);
        assert!(onlookers(&built, &route(vec![proxy(Some(beside))])).is_empty());
        let image = built.agent_image(&id).to_owned();
        built.foreign.insert(("c".to_owned(), image), "of another build".to_owned());
        assert!(onlookers(&built, &route(Vec::new())).is_empty(), "it may not measure");
    }

    #[tokio::test]
    async fn an_end_of_another_path_that_is_there_looks_at_the_node() {
        let entered = path("port", "pod@a", "pod@b", Via::NodePort("c".into()));
        let paths = vec![entered, path("other", "host@c", "pod@c", Via::Direct)];
        let mut built = built(&plan(paths, vec![point("rr", "hopbench")]));
        let agent = |built: &Built| {
            let found = onlookers(built, &route(Vec::new())).remove(0);
            (found.agent.0, found.absent.is_none())
        };
        assert_eq!(agent(&built), ("host@c".to_owned(), false));
        built.pods.insert(named(&built, "pod@c"), ready());
        assert_eq!(agent(&built), ("pod@c".to_owned(), true));
    }
}
