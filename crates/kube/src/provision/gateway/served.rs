//! The versions in which a cluster has the kinds of routes.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use kube::Client;
use serde_json::Value;

use crate::api::access::explain;
use crate::api::client::resources;
use crate::plan::traffic::{GROUP, Traffic};

/// The group and version of the routes for each traffic, or why there is none.
pub(crate) type Served = BTreeMap<Traffic, Result<String, String>>;

/// Those for this traffic, as the cluster says them now.
pub(crate) async fn served(client: &Client, wanted: impl IntoIterator<Item = Traffic>) -> Served {
    let wanted: BTreeSet<Traffic> = wanted.into_iter().collect();
    let all =
        wanted.into_iter().map(|traffic| async move { (traffic, version(client, traffic).await) });
    join_all(all).await.into_iter().collect()
}

async fn version(client: &Client, traffic: Traffic) -> Result<String, String> {
    for version in traffic.versions() {
        let version = format!("{GROUP}/{version}");
        match resources(client, &version).await {
            Ok(known) if has(&known, traffic.resource()) => return Ok(version),
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => return Err(explain(&error)),
        }
    }
    let (kind, versions) = (traffic.kind(), traffic.versions().join(", "));
    Err(format!("the cluster has no {kind} of {GROUP} ({versions}): its CRD is not installed"))
}

/// Whether a resource is among those of a group and version.
fn has(known: &Value, resource: &str) -> bool {
    let mut all = known["resources"].as_array().into_iter().flatten();
    all.any(|one| one["name"] == resource)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_kind_is_there_if_its_version_lists_it() {
        let known = json!({"groupVersion": "gateway.networking.k8s.io/v1alpha2", "resources": [
            {"name": "tcproutes", "kind": "TCPRoute"},
            {"name": "tlsroutes/status", "kind": "TLSRoute"},
        ]});
        assert!(has(&known, "tcproutes") && !has(&known, "tlsroutes"));
        assert!(!has(&json!({}), "tcproutes"));
    }
}
