//! `mesh:` of a cluster, who puts sidecars beside the agents.

use std::collections::BTreeSet;

use hopbench_model::{IpFamily, MeshProvider, MeshSpec};

use crate::document::fields::Fields;
use crate::document::node::{Kind, Node};
use crate::document::problem::Problems;
use crate::testbed::names::{self, LABEL, is_label};

/// The keys.
pub(crate) const MESH_KEYS: &[&str] = &["provider", "image", "revision", "families"];
/// The image of our own sidecars and gateways.
pub(crate) const ENVOY: &str = "envoyproxy/envoy:v1.40.0";

const FORM: &str = "the provider of the mesh, like istio or {provider: istio, revision: canary}";
const FAMILIES: &str = "the families of addresses that its proxies take, like [ipv4, ipv6]";

/// Reads the block; without a provider, the sidecars are our own.
pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> MeshSpec {
    let mut out = MeshSpec {
        provider: MeshProvider::default(),
        image: ENVOY.to_owned(),
        revision: None,
        families: BTreeSet::new(),
    };
    if let Kind::Scalar(_) = &node.kind {
        out.provider = provider(node, path, problems).unwrap_or_default();
        return out;
    }
    let Some(fields) = Fields::read(node, path, MESH_KEYS, FORM, problems) else {
        return out;
    };
    let named = fields.get("provider");
    let read = named.and_then(|node| provider(node, &fields.path_of("provider"), problems));
    let image =
        fields.checked("image", names::IMAGE, |image: &String| names::is_image(image), problems);
    out.revision = fields.checked("revision", LABEL, |name: &String| is_label(name), problems);
    if let Some(node) = fields.get("families") {
        out.families = families(node, &fields.path_of("families"), problems);
    }
    // Of a provider that nobody knows, nobody knows what it takes.
    if named.is_some() && read.is_none() {
        return out;
    }
    out.provider = read.unwrap_or_default();
    let istio = matches!(out.provider, MeshProvider::Istio | MeshProvider::IstioAmbient);
    let envoy = out.provider == MeshProvider::Envoy;
    for (key, takes, whose) in [("revision", istio, "istio"), ("image", envoy, "envoy")] {
        if let Some(node) = fields.get(key).filter(|_| !takes) {
            let expected = format!(
                "no {key}: only the provider {whose} has one; {} does not",
                out.provider.name()
            );
            problems.add(node.at, &fields.path_of(key), node.shown(), expected);
        }
    }
    if let Some(node) = fields.get("families").filter(|_| envoy) {
        let expected = "no families: the proxies of envoy are hopbench's own, and take all that \
                        their pods have";
        problems.add(node.at, &fields.path_of("families"), node.shown(), expected);
    }
    out.image = image.unwrap_or(out.image);
    out
}

fn families(node: &Node, path: &str, problems: &mut Problems) -> BTreeSet<IpFamily> {
    let mut out = BTreeSet::new();
    let list = match &node.kind {
        Kind::List(list) if !list.is_empty() => list,
        _ => {
            problems.add(node.at, path, node.shown(), FAMILIES);
            return out;
        }
    };
    for one in list {
        match one.text().and_then(IpFamily::named) {
            Some(family) if out.insert(family) => {}
            Some(_) => {
                let found = format!("{} a second time", one.shown());
                problems.add(one.at, path, found, "each family once");
            }
            None => problems.add(one.at, path, one.shown(), "ipv4 or ipv6"),
        }
    }
    out
}

fn provider(node: &Node, path: &str, problems: &mut Problems) -> Option<MeshProvider> {
    let names = MeshProvider::ALL.map(MeshProvider::name);
    let Some(text) = node.text() else {
        problems.add(node.at, path, node.shown(), format!("one of {}", names.join(", ")));
        return None;
    };
    let found = MeshProvider::ALL.into_iter().find(|provider| provider.name() == text);
    if found.is_none() {
        problems.unknown(node.at, path, text, &names);
    }
    found
}
