//! The Services of a run as the cluster has them: addresses of load balancers, and endpoints.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use futures::future::try_join_all;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::api::ListParams;
use kube::{Client, ResourceExt};
use tokio::time::{Instant, sleep};

use crate::api::client::Api;
use crate::api::labels::RunIdentity;
use crate::objects::service::ServiceEntry;

/// Polling interval for a load balancer's address.
const LOOK: Duration = Duration::from_millis(500);

/// Waits for the addresses of load balancers, at most until `until`; those that have none stay
/// without.
pub(crate) async fn balancers(
    client: &Client,
    run: &RunIdentity,
    names: &[String],
    until: Instant,
) -> kube::Result<BTreeMap<String, ServiceEntry>> {
    let services: Api<Service> = Api::namespaced(client.clone(), &run.namespace);
    loop {
        let found = try_join_all(names.iter().map(|name| services.get(name))).await?;
        let entries: BTreeMap<_, _> =
            found.iter().map(|service| (service.name_any(), ServiceEntry::of(service))).collect();
        if entries.values().all(|entry| entry.balancer.is_some()) || Instant::now() >= until {
            return Ok(entries);
        }
        sleep(LOOK).await;
    }
}

/// The addresses behind each Service of a run that take traffic.
pub(crate) async fn endpoints(
    client: &Client,
    run: &RunIdentity,
) -> kube::Result<BTreeMap<String, BTreeSet<IpAddr>>> {
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), &run.namespace);
    let mut all: BTreeMap<String, BTreeSet<IpAddr>> = BTreeMap::new();
    for slice in slices.list(ListParams::default()).await? {
        let Some(service) = slice.labels().get("kubernetes.io/service-name").cloned() else {
            continue;
        };
        let ready = slice.endpoints.iter().filter(|endpoint| {
            // Without a word it is ready.
            endpoint.conditions.as_ref().and_then(|conditions| conditions.ready) != Some(false)
        });
        let addresses = ready
            .flat_map(|endpoint| &endpoint.addresses)
            .filter_map(|address| address.parse::<IpAddr>().ok());
        all.entry(service).or_default().extend(addresses);
    }
    Ok(all)
}
