//! `gateway:`, an ingress gateway of the cluster, or the class by which the run gets one.

use std::collections::BTreeMap;

use hopbench_model::{GatewaySpec, ParentGateway};

use super::networks::entries;
use super::texts::labels;
use crate::document::fields::{Fields, joined};
use crate::document::node::{Node, quoted};
use crate::document::problem::Problems;
use crate::testbed::names::{DOMAIN, ENDPOINT, LABEL, endpoint, is_domain, is_label};

/// The keys.
pub(crate) const GATEWAY_KEYS: &[&str] =
    &["address", "parent", "class", "ingress", "namespace", "labels"];

const FORM: &str =
    "where it is, like {address: 203.0.113.7:80, namespace: ingress, labels: {app: gateway}}";

const PARENT: &str = "a Gateway of the Gateway API, as NAMESPACE/NAME";
const CLASS: &str = "the GatewayClass of a Gateway that the run makes";
const INGRESS: &str = "the IngressClass of an Ingress that the run makes";
const SEVERAL: &str = "gateways by name, like {public: {parent: infra/public}, new: {class: NAME}}";
/// The longest name of one of several: controllers put words before and behind it.
const LONGEST: usize = 30;
const NAME: &str = "a name of at most 30 lower-case letters, digits and -";
/// The keys of which there is one; only an `ingress` may have an address.
const WAYS: [&str; 4] = ["address", "parent", "class", "ingress"];

/// Reads the block.
pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<GatewaySpec> {
    let fields = Fields::read(node, path, GATEWAY_KEYS, FORM, problems)?;
    let ways: Vec<(&str, &Node)> =
        WAYS.iter().filter_map(|key| Some((*key, fields.get(key)?))).collect();
    match ways[..] {
        [] => {
            let expected = format!(
                "{ENDPOINT}; or `parent`, {PARENT}; or `class`, {CLASS}; or `ingress`, {INGRESS}"
            );
            problems.add(fields.at, path, "no `address`", expected);
        }
        [_] | [("address", _), ("ingress", _)] => {}
        [(first, _), (second, node), ..] => {
            let expected = "one of them: the address of a Gateway comes from its status";
            let found = format!("`{second}` beside `{first}`");
            problems.add(node.at, &fields.path_of(second), found, expected);
        }
    }
    let address =
        fields.checked("address", ENDPOINT, |text: &String| endpoint(text).is_some(), problems);
    let parent: Option<String> =
        fields.checked("parent", PARENT, |text: &String| parent_of(text).is_some(), problems);
    let parent = parent.and_then(|text| parent_of(&text));
    let is_class = |name: &String| is_domain(name);
    let class = fields.checked("class", &format!("{CLASS}: {DOMAIN}"), is_class, problems);
    let ingress = fields.checked("ingress", &format!("{INGRESS}: {DOMAIN}"), is_class, problems);
    let namespace = fields.checked("namespace", LABEL, |name: &String| is_label(name), problems);
    let of_pods = fields.get("labels");
    let labels =
        of_pods.map(|node| labels(node, &fields.path_of("labels"), problems)).unwrap_or_default();
    // Either alone finds no pods.
    for (there, missing) in [("labels", "namespace"), ("namespace", "labels")] {
        if let (Some(node), None) = (fields.get(there), fields.get(missing)) {
            let expected = format!(
                "{missing} beside it: by both the gateway's pods are found, whose CPU counts"
            );
            problems.add(node.at, &fields.path_of(there), format!("`{there}` alone"), expected);
        }
    }
    if address.is_none() && parent.is_none() && class.is_none() && ingress.is_none() {
        return None;
    }
    Some(GatewaySpec { address, parent, class, ingress, namespace, labels })
}

/// Reads `gateways:`, the same by names.
pub(super) fn several(
    node: &Node,
    path: &str,
    problems: &mut Problems,
) -> BTreeMap<String, GatewaySpec> {
    let mut out = BTreeMap::new();
    for (name, at, value) in entries(node, path, SEVERAL, problems).unwrap_or_default() {
        let key_path = joined(path, name);
        if name.len() > LONGEST {
            problems.add(at, &key_path, quoted(name), NAME);
        }
        out.extend(read(value, &key_path, problems).map(|gateway| (name.to_owned(), gateway)));
    }
    out
}

fn parent_of(text: &str) -> Option<ParentGateway> {
    let (namespace, name) = text.split_once('/')?;
    let fits = is_label(namespace) && is_label(name);
    fits.then(|| ParentGateway { namespace: namespace.to_owned(), name: name.to_owned() })
}
