//! The further objects of a scenario, which Kubernetes understands and we do not.

use hopbench_model::Fault;
use kube::Client;
use serde_json::Value;
use tokio::time::Instant;

use crate::api::access::{Access, explain};
use crate::api::client::{Api, resources};
use crate::api::create::create;
use crate::api::labels::RunIdentity;
use crate::api::rights::may;

/// Makes them, one after the other, in the order of the scenario.
pub(super) async fn make(
    client: &Client,
    run: &RunIdentity,
    objects: &[Value],
    until: Instant,
) -> Result<(), String> {
    for object in objects {
        let failed = |why: String| format!("cannot make {}: {why}", named(object));
        let resource = resource(client, object).await.map_err(failed)?;
        let all: Api<Value> =
            Api::others(client.clone(), text(&object["apiVersion"]), &run.namespace, &resource);
        create(&all, &owned(run, object), until).await.map_err(|e| failed(explain(&e)))?;
    }
    Ok(())
}

/// Why the cluster cannot have one of them, or this user may not make it in the namespace that is
/// given; `None`: nothing is known against it.
pub(crate) fn lacking(access: &Access, namespace: Option<&str>, object: &Value) -> Option<String> {
    let asked = async { Ok(possible(&access.client, namespace, object).await) };
    let found: Result<_, Fault> = access.ask("its kinds", asked);
    let why = found.map_or_else(|fault| Some(fault.text), Result::err)?;
    Some(format!("{}: {why}", named(object)))
}

async fn possible(client: &Client, namespace: Option<&str>, object: &Value) -> Result<(), String> {
    let resource = resource(client, object).await?;
    let group = text(&object["apiVersion"]).split_once('/').map_or("", |(group, _)| group);
    match may(client, (group, &resource), "create", namespace).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("this user may not create {resource}")),
        Err(error) => Err(explain(&error)),
    }
}

/// The resource of an object's kind: `telemetries`.
async fn resource(client: &Client, object: &Value) -> Result<String, String> {
    let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let known = match resources(client, version).await {
        Ok(known) => known,
        Err(kube::Error::Api(status)) if status.code == 404 => {
            return Err(format!("the cluster does not know {version}"));
        }
        Err(error) => return Err(explain(&error)),
    };
    of_kind(&known, version, kind)
}

/// The resource of a kind among those of its group and version. Those with a `/` are parts of
/// others.
fn of_kind(known: &Value, version: &str, kind: &str) -> Result<String, String> {
    let mut all = known["resources"].as_array().into_iter().flatten();
    let found = all.find(|one| one["kind"] == kind && !text(&one["name"]).contains('/'));
    let found = found.ok_or_else(|| format!("the cluster has no {kind} of {version}"))?;
    if found["namespaced"] != true {
        return Err(format!(
            "a {kind} is in no namespace, and a run makes objects in its own only"
        ));
    }
    Ok(text(&found["name"]).to_owned())
}

/// The object with the labels and the owner of its run.
fn owned(run: &RunIdentity, object: &Value) -> Value {
    let mut object = object.clone();
    let ours = run.metadata(text(&object["metadata"]["name"]));
    for key in ["namespace", "ownerReferences"] {
        if let Some(value) = ours.get(key) {
            object["metadata"][key] = value.clone();
        }
    }
    for (key, value) in ours["labels"].as_object().into_iter().flatten() {
        object["metadata"]["labels"][key] = value.clone();
    }
    object
}

fn named(object: &Value) -> String {
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_kind_has_a_resource_in_namespaces() {
        let known = json!({"resources": [
            {"name": "telemetries/status", "kind": "Telemetry", "namespaced": true},
            {"name": "telemetries", "kind": "Telemetry", "namespaced": true},
            {"name": "meshes", "kind": "Mesh", "namespaced": false},
        ]});
        let of = |kind: &str| of_kind(&known, "example.org/v1", kind);
        assert_eq!(of("Telemetry").unwrap(), "telemetries");
        assert_eq!(of("Route").unwrap_err(), "the cluster has no Route of example.org/v1");
        assert!(of("Mesh").unwrap_err().starts_with("a Mesh is in no namespace"));
    }

    #[test]
    fn an_object_goes_with_its_run() {
        let run = RunIdentity {
            name: "k2v9xq1bzr".into(),
            namespace: "hopbench-k2v9xq1bzr".into(),
            is_guest: false,
            owner: "uid".into(),
        };
        let object = json!({
            "kind": "T", "metadata": {"name": "t", "labels": {"own": "x"}}, "spec": {"a": 1},
        });
        let made = owned(&run, &object);
        assert_eq!(made["spec"], object["spec"]);
        assert_eq!(made["metadata"]["namespace"], "hopbench-k2v9xq1bzr");
        assert_eq!(made["metadata"]["ownerReferences"][0]["uid"], "uid");
        assert_eq!(made["metadata"]["labels"]["own"], "x");
        assert_eq!(made["metadata"]["labels"]["hopbench.dev/run"], "k2v9xq1bzr");
    }
}
