//! Conversion of JSON into the objects of Kubernetes.

use hopbench_model::Fault;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// An object from its JSON. Nothing of it may get lost: what Kubernetes would not know is told.
pub(crate) fn typed<K: Serialize + DeserializeOwned>(value: &Value) -> Result<K, Fault> {
    let object: K = serde_json::from_value(value.clone())
        .map_err(|e| Fault::input(format!("no {}: {e}", kind(value))))?;
    let read = serde_json::to_value(&object)
        .map_err(|e| Fault::input(format!("no {}: {e}", kind(value))))?;
    match lost(value, &read, "") {
        Some(field) => {
            let kind = kind(value);
            Err(Fault::input(format!(
                "a {kind} has no field `{field}`: check its spelling and where it stands"
            )))
        }
        None => Ok(object),
    }
}

fn kind(value: &Value) -> String {
    value["kind"].as_str().unwrap_or("object").to_owned()
}

/// The first field of `given` that is not in `read`.
fn lost(given: &Value, read: &Value, at: &str) -> Option<String> {
    match (given, read) {
        (Value::Object(given), Value::Object(read)) => given.iter().find_map(|(name, value)| {
            let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            match read.get(name) {
                Some(read) => lost(value, read, &at),
                // Nothing is what is left out.
                None if value.is_null() || value.as_array().is_some_and(Vec::is_empty) => None,
                None if value.as_object().is_some_and(serde_json::Map::is_empty) => None,
                None => Some(at),
            }
        }),
        (Value::Array(given), Value::Array(read)) => given
            .iter()
            .zip(read)
            .enumerate()
            .find_map(|(i, (value, read))| lost(value, read, &format!("{at}[{i}]"))),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_that_nobody_knows_is_told() {
        let pod = |spec: Value| {
            typed::<Pod>(&json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": spec}))
        };
        assert!(
            pod(json!({"containers": [{"name": "agent", "env": []}], "nodeSelector": {}})).is_ok()
        );
        let told = pod(
            json!({"containers": [{"name": "agent"}, {"name": "b", "resource": {}, "img": "x"}]}),
        )
        .unwrap_err();
        assert!(told.text.starts_with("a Pod has no field `spec.containers[1].img`"), "{told}");
        let told = pod(json!({"containers": "all"})).unwrap_err();
        assert!(told.text.starts_with("no Pod: invalid type"), "{told}");
    }
}
