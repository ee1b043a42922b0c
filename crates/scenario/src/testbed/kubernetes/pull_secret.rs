//! `pull-secret:`, the Secrets with which nodes pull images.

use crate::document::node::{Kind, Node};
use crate::document::problem::Problems;
use crate::testbed::names::is_domain;

const FORM: &str = "the name of a Secret, or a list of such names";

/// One name, or a list of them.
pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> Vec<String> {
    let nodes = match &node.kind {
        Kind::List(list) if !list.is_empty() => list.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut out: Vec<String> = Vec::new();
    for node in nodes {
        match node.text().filter(|name| is_domain(name)) {
            Some(name) if out.iter().any(|known| known == name) => {
                let found = format!("{} a second time", node.shown());
                problems.add(node.at, path, found, "each name once");
            }
            Some(name) => out.push(name.to_owned()),
            None => problems.add(node.at, path, node.shown(), FORM),
        }
    }
    out
}

/// What to do where no namespace is given that has this Secret.
pub(super) fn remedy(name: &str) -> String {
    format!(
        "the namespace that has the Secret `{name}` of `pull-secret`. Make it there (`kubectl \
         create secret docker-registry {name} --namespace NAME ...`) and give `--namespace NAME`: \
         a namespace that a run makes has no such Secret"
    )
}
