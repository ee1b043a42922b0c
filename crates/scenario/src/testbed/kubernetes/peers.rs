//! `peers:`, the image with the tools of others.

use hopbench_model::PeerImage;

use crate::document::fields::Fields;
use crate::document::node::Node;
use crate::document::problem::Problems;
use crate::testbed::names;

/// The keys of the tools.
pub(crate) const PEER_KEYS: &[&str] = &["image"];

const FORM: &str = "the image that has the tools, like {image: tools:1}";

/// Reads the mapping.
pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<PeerImage> {
    let fields = Fields::read(node, path, PEER_KEYS, FORM, problems)?;
    if fields.get("image").is_none() {
        problems.add(fields.at, path, "no `image`", FORM);
    }
    let is_image = |image: &String| names::is_image(image);
    Some(PeerImage { image: fields.checked("image", names::IMAGE, is_image, problems)? })
}
