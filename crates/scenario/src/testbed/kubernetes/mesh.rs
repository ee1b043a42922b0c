//! `mesh:` of a cluster, who puts sidecars beside the agents.

use hopbench_model::{MeshProvider, MeshSpec};

use crate::document::fields::Fields;
use crate::document::node::{Kind, Node};
use crate::document::problem::Problems;
use crate::testbed::names::{self, LABEL, is_label};

/// The keys.
pub(crate) const MESH_KEYS: &[&str] = &["provider", "image", "revision"];
/// The image of our own sidecars and gateways.
pub(crate) const ENVOY: &str = "envoyproxy/envoy:v1.40.0";

const FORM: &str = "the provider of the mesh, like istio or {provider: istio, revision: canary}";

/// Reads the block; without a provider, the sidecars are our own.
pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> MeshSpec {
    let mut out =
        MeshSpec { provider: MeshProvider::default(), image: ENVOY.to_owned(), revision: None };
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
    out.image = image.unwrap_or(out.image);
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
