//! Making everything that a run needs, and waiting until it is there.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use futures::future::{join_all, try_join_all};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod, Secret, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::api::ListParams;
use kube::{Client, ResourceExt};
use tokio::time::{Instant, sleep};

use crate::access::explain;
use crate::api::Api;
use crate::apply::create;
use crate::blueprint::Blueprint;
use crate::fronts::Entry;
use crate::labels::{RUN, Run};
use crate::pod::PodId;
use crate::ready::Pods;
use crate::trouble::{self, State};

/// How long everything but the pods may take.
pub(crate) const OBJECTS: Duration = Duration::from_secs(20);
/// How often a load balancer's address is looked for.
const LOOK: Duration = Duration::from_millis(500);

/// Makes a run's namespace, and the object that owns all others; the number that it got.
///
/// # Errors
/// What the API server says.
pub(crate) async fn frame(client: &Client, namespace: &Namespace, owner: &ConfigMap) -> kube::Result<String> {
    let until = Instant::now() + OBJECTS;
    let name = namespace.name_any();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    match create(&namespaces, namespace, until).await {
        // Somebody made it for this run: whoever may not make namespaces.
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let found = namespaces.get(&name).await?;
            if found.labels().get(RUN) != namespace.labels().get(RUN) {
                return Err(kube::Error::Api(status));
            }
        }
        made => drop(made?),
    }
    let owners: Api<ConfigMap> = Api::namespaced(client.clone(), &name);
    let owner = create(&owners, owner, until).await?;
    Ok(owner.metadata.uid.unwrap_or_default())
}

/// Makes what the pods need.
///
/// # Errors
/// What the API server says. Where the Services are, by their names.
pub(crate) async fn objects(
    client: &Client,
    run: &Run,
    blueprint: &Blueprint,
) -> kube::Result<BTreeMap<String, Entry>> {
    let until = Instant::now() + OBJECTS;
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &run.namespace);
    try_join_all(blueprint.secrets.iter().map(|secret| create(&secrets, secret, until))).await?;
    if let Some(policy) = &blueprint.network_policy {
        let policies: Api<NetworkPolicy> = Api::namespaced(client.clone(), &run.namespace);
        create(&policies, policy, until).await?;
    }
    let services: Api<Service> = Api::namespaced(client.clone(), &run.namespace);
    let made = try_join_all(blueprint.services.iter().map(|service| create(&services, service, until))).await?;
    Ok(made.iter().map(|service| (service.name_any(), Entry::of(service))).collect())
}

/// Pods that were made, by their names, and why the others were not.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) names: BTreeMap<String, PodId>,
    pub(crate) refused: BTreeMap<PodId, String>,
}

/// The pods that were made and are ready, and why the others are not.
#[derive(Debug, Default)]
pub(crate) struct Raised {
    pub(crate) pods: BTreeMap<String, Pod>,
    pub(crate) refused: BTreeMap<PodId, String>,
}

/// Makes pods, all at once. Their names, and why some are not made.
pub(crate) async fn make(api: &Pods, wanted: &BTreeMap<PodId, Pod>, until: Instant) -> Made {
    let made = wanted.iter().map(|(id, pod)| async move { (id, create(&api.pods, pod, until).await) });
    let mut all = Made::default();
    for (id, answer) in join_all(made).await {
        match answer {
            Ok(pod) => {
                all.names.insert(pod.name_any(), id.clone());
            }
            Err(error) => {
                all.refused.insert(id.clone(), refusal(&wanted[id].name_any(), &error));
            }
        }
    }
    all
}

/// Waits until each of these pods is ready or nothing helps.
///
/// # Errors
/// The API server does not say how they are.
pub(crate) async fn settle(api: &Pods, made: Made, until: Instant) -> kube::Result<Raised> {
    let Made { names, refused } = made;
    let mut raised = Raised { pods: BTreeMap::new(), refused };
    raised.pods = api.wait(&names.keys().cloned().collect::<BTreeSet<_>>(), until).await?;
    let states: BTreeMap<&String, Option<State>> =
        names.keys().map(|name| (name, raised.pods.get(name).map(trouble::state))).collect();
    if states.values().all(|state| *state == Some(State::Ready)) {
        return Ok(raised);
    }
    let events = api.events().await;
    for (name, state) in states.into_iter().filter(|(_, state)| *state != Some(State::Ready)) {
        raised.refused.insert(names[name].clone(), trouble::tell(name, state.as_ref(), &events));
    }
    Ok(raised)
}

/// Why the API server takes no such pod: quota, Pod Security, a webhook, a RuntimeClass that is not there.
fn refusal(name: &str, error: &kube::Error) -> String {
    let why = explain(error);
    let remedy = if why.contains("exceeded quota") {
        "; a ResourceQuota of the cluster holds for every namespace: have it raised, or use fewer pods"
    } else if why.contains("failed quota") && why.contains("must specify") {
        "; a ResourceQuota of the cluster asks for these of every container: say them in `patch:`"
    } else if why.contains("violates PodSecurity") {
        "; the cluster lets no namespace have such pods: leave these paths out, or have it allowed"
    } else {
        ""
    };
    format!("the cluster takes no pod {name}: {why}{remedy}")
}

/// Waits for the addresses of load balancers, at most until `until`; those that have none stay without.
///
/// # Errors
/// The API server does not say.
pub(crate) async fn balancers(
    client: &Client,
    run: &Run,
    names: &[String],
    until: Instant,
) -> kube::Result<BTreeMap<String, Entry>> {
    let services: Api<Service> = Api::namespaced(client.clone(), &run.namespace);
    loop {
        let found = try_join_all(names.iter().map(|name| services.get(name))).await?;
        let entries: BTreeMap<_, _> = found.iter().map(|service| (service.name_any(), Entry::of(service))).collect();
        if entries.values().all(|entry| entry.balancer.is_some()) || Instant::now() >= until {
            return Ok(entries);
        }
        sleep(LOOK).await;
    }
}

/// The addresses behind each Service of a run that take traffic.
///
/// # Errors
/// The API server does not say.
pub(crate) async fn endpoints(client: &Client, run: &Run) -> kube::Result<BTreeMap<String, BTreeSet<IpAddr>>> {
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), &run.namespace);
    let mut all: BTreeMap<String, BTreeSet<IpAddr>> = BTreeMap::new();
    for slice in slices.list(ListParams::default()).await? {
        let Some(service) = slice.labels().get("kubernetes.io/service-name").cloned() else { continue };
        let ready = slice.endpoints.iter().filter(|endpoint| {
            // Without a word it is ready.
            endpoint.conditions.as_ref().and_then(|conditions| conditions.ready) != Some(false)
        });
        let addresses =
            ready.flat_map(|endpoint| &endpoint.addresses).filter_map(|address| address.parse::<IpAddr>().ok());
        all.entry(service).or_default().extend(addresses);
    }
    Ok(all)
}
