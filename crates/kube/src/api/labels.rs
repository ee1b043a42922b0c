//! Labels and owners of objects, by which everything that a run made is found.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The label of everything that was made, with its value.
pub const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "hopbench");
/// The label that says by which run.
pub const RUN: &str = "hopbench.dev/run";
/// The label that says which pod it is, by its name.
pub(crate) const POD: &str = "hopbench.dev/pod";
/// The label that says which variant the pod's sidecar has, for selectors of a scenario's objects.
pub(crate) const VARIANT: &str = "hopbench.dev/variant";
/// The annotation of Istio that says which image the pod's sidecar has.
pub(crate) const PROXY_IMAGE: &str = "sidecar.istio.io/proxyImage";
/// The start of the labels of pods that are behind a Service: `service.hopbench.dev/NAME`.
const SERVICE: &str = "service.hopbench.dev/";
/// The object that owns all others of a run.
pub(crate) const OWNER: &str = "run";

/// A selector of all that was made, by any run.
pub fn of_all() -> String {
    format!("{}={}", MANAGED_BY.0, MANAGED_BY.1)
}

/// A selector of all that one run made.
pub fn of_run(run: &str) -> String {
    format!("{RUN}={run}")
}

/// The labels of everything that a run makes.
pub(crate) fn labels(run: &str) -> BTreeMap<String, String> {
    let all = [MANAGED_BY, ("app.kubernetes.io/name", "hopbench"), (RUN, run)];
    all.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// The label of the pods behind a Service; it has no value.
pub(crate) fn behind(service: &str) -> String {
    format!("{SERVICE}{service}")
}

/// A name as the value of a label, which has at most 63 letters, digits and `-_.`, with a letter or
/// a digit at both ends. All else becomes a `-`.
pub(crate) fn label(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).take(63).collect();
    plain.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}

/// The run that makes objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunIdentity {
    /// Its name: ten letters and digits.
    pub(crate) name: String,
    pub(crate) namespace: String,
    /// Whether the namespace was there before, with objects of others.
    pub(crate) is_guest: bool,
    /// The number that the API server gave to the object that owns all others; empty: not made yet.
    pub(crate) owner: String,
}

impl RunIdentity {
    /// The metadata of an object of this name.
    pub(crate) fn metadata(&self, name: &str) -> Value {
        let mut metadata =
            json!({"name": name, "namespace": self.namespace, "labels": labels(&self.name)});
        if !self.owner.is_empty() {
            metadata["ownerReferences"] = json!([{
                "apiVersion": "v1", "kind": "ConfigMap", "name": OWNER, "uid": self.owner,
            }]);
        }
        metadata
    }
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn any_name_can_be_a_label() {
        assert_eq!(label("plain"), "plain");
        assert_eq!(label("policy-check+concurrency=4"), "policy-check-concurrency-4");
        assert_eq!(label(&"x+".repeat(40)), "x-".repeat(31) + "x");
        assert_eq!(label("é"), "");
    }
}
