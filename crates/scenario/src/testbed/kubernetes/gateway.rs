//! `gateway:`, an ingress gateway that is there already.

use hopbench_model::GatewaySpec;

use super::texts::labels;
use crate::document::fields::Fields;
use crate::document::node::Node;
use crate::document::problem::Problems;
use crate::testbed::names::{ENDPOINT, LABEL, endpoint, is_label};

/// The keys.
pub(crate) const GATEWAY_KEYS: &[&str] = &["address", "namespace", "labels"];

const FORM: &str =
    "where it is, like {address: 203.0.113.7:80, namespace: ingress, labels: {app: gateway}}";

/// Reads the block.
pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<GatewaySpec> {
    let fields = Fields::read(node, path, GATEWAY_KEYS, FORM, problems)?;
    if fields.get("address").is_none() {
        problems.add(fields.at, path, "no `address`", ENDPOINT);
    }
    let address =
        fields.checked("address", ENDPOINT, |text: &String| endpoint(text).is_some(), problems);
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
    Some(GatewaySpec { address: address?, namespace, labels })
}
