//! Creation of a run's objects, all but its pods.

pub(crate) mod scenario;

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::try_join_all;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, Service};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::{Client, ResourceExt};
use serde_json::Value;
use tokio::time::Instant;

use crate::api::client::Api;
use crate::api::create::create;
use crate::api::labels::{RUN, RunIdentity};
use crate::objects::blueprint::Blueprint;
use crate::objects::service::ServiceEntry;

/// Time limit for all of them.
const PATIENCE: Duration = Duration::from_secs(20);

/// Makes a run's namespace, where none was given, and the object that owns all others; the number
/// that it got.
pub(crate) async fn frame(
    client: &Client,
    namespace: Option<&Namespace>,
    owner: &ConfigMap,
) -> kube::Result<String> {
    let until = Instant::now() + PATIENCE;
    if let Some(namespace) = namespace {
        own(client, namespace, until).await?;
    }
    let name = owner.namespace().unwrap_or_default();
    let owners: Api<ConfigMap> = Api::namespaced(client.clone(), &name);
    let owner = create(&owners, owner, until).await?;
    Ok(owner.metadata.uid.unwrap_or_default())
}

async fn own(client: &Client, namespace: &Namespace, until: Instant) -> kube::Result<()> {
    let name = namespace.name_any();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    match create(&namespaces, namespace, until).await {
        // It was made for this run by a user that may make namespaces.
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let found = namespaces.get(&name).await?;
            if found.labels().get(RUN) != namespace.labels().get(RUN) {
                return Err(kube::Error::Api(status));
            }
            Ok(())
        }
        made => made.map(drop),
    }
}

/// Makes the further objects of the scenario.
///
/// # Errors
/// The first that cannot be made, with the reason.
pub(crate) async fn of_scenario(
    client: &Client,
    run: &RunIdentity,
    objects: &[Value],
) -> Result<(), String> {
    scenario::make(client, run, objects, Instant::now() + PATIENCE).await
}

/// Makes what the pods need. The entries of its Services, by their names.
pub(crate) async fn objects(
    client: &Client,
    run: &RunIdentity,
    blueprint: &Blueprint,
) -> kube::Result<BTreeMap<String, ServiceEntry>> {
    let until = Instant::now() + PATIENCE;
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &run.namespace);
    try_join_all(blueprint.secrets.iter().map(|secret| create(&secrets, secret, until))).await?;
    if let Some(policy) = &blueprint.network_policy {
        let policies: Api<NetworkPolicy> = Api::namespaced(client.clone(), &run.namespace);
        create(&policies, policy, until).await?;
    }
    let services: Api<Service> = Api::namespaced(client.clone(), &run.namespace);
    let made =
        try_join_all(blueprint.services.iter().map(|service| create(&services, service, until)))
            .await?;
    Ok(made.iter().map(|service| (service.name_any(), ServiceEntry::of(service))).collect())
}
