//! Regular expressions for the words of paths, from the words that the reader takes.

use hopbench_model::MeshMode;

use super::testbed::{ENDPOINT, LABEL};
use crate::paths::place::VIAS;
use crate::vocabulary::Vocabulary;

/// No text is like this.
const NEVER: &str = "(?!)";

/// What the parts of a path look like, each in brackets where it has alternatives.
pub(super) struct Grammar {
    /// `bridge` or `bridge+runsc`.
    pub(super) kind: String,
    /// `bridge@a`, `bridge@[a, b]`.
    pub(super) place: String,
    /// A place whose pod can have a sidecar.
    pub(super) pod: String,
    /// `direct`, `node-port@b` ...
    pub(super) via: String,
    /// The same from a client with a sidecar, which leads to no gateway.
    pub(super) via_of_sidecars: String,
}

impl Grammar {
    /// That of a testbed; `node` is what the name of a node looks like.
    pub(super) fn of(vocabulary: &Vocabulary, node: &str) -> Self {
        let names = Names::of(vocabulary);
        let nodes = format!(r"({node}|\[ *{node} *(, *{node} *)*\])");
        let (kind, pod) = (names.kind(), names.with_sidecar(vocabulary.sidecars_in_runtimes));
        Self {
            place: format!("{kind}@{nodes}"),
            pod: pod.map_or_else(|| NEVER.to_owned(), |pod| format!("{pod}@{nodes}")),
            // A gateway without a node is one of a cluster.
            via: via(node, &nodes, |form| form != "gateway" || vocabulary.any_runtime),
            via_of_sidecars: via(node, &nodes, |form| !form.starts_with("gateway")),
            kind,
        }
    }

    /// `FROM -> TO via VIA mesh MODE`: a form for each mode.
    pub(super) fn short(&self) -> String {
        let form = |mode: MeshMode| {
            let from = if mode.has_client() { &self.pod } else { &self.place };
            let to = if mode.has_server() { &self.pod } else { &self.place };
            let via = if mode.has_client() { &self.via_of_sidecars } else { &self.via };
            let mesh = if mode.is_none() {
                format!("( +mesh +{mode})?")
            } else {
                format!(" +mesh +{mode}")
            };
            format!("{from} *-> *{to}( +via +{via})?{mesh}")
        };
        MeshMode::ALL.map(form).join("|")
    }
}

/// The forms of `via` that are kept, with what their capitals stand for.
fn via(node: &str, nodes: &str, kept: impl Fn(&str) -> bool) -> String {
    let forms = VIAS.iter().map(|(form, _)| *form).filter(|form| kept(form));
    let spelled = |form: &str| {
        // Gateways can be on several nodes.
        let node = if form.starts_with("gateway") { nodes } else { node };
        form.replace("NODE", node).replace("HOST:PORT", ENDPOINT)
    };
    let forms: Vec<_> = forms.map(spelled).collect();
    format!("({})", forms.join("|"))
}

/// Names as alternatives.
struct Names {
    networks: String,
    /// The networks of pods.
    pods: String,
    runtimes: String,
}

impl Names {
    /// Where any name is a runtime, a scenario may have network kinds of its own, too.
    fn of(vocabulary: &Vocabulary) -> Self {
        if vocabulary.any_runtime {
            let pods = format!("(?!host[+@]){LABEL}");
            return Self { networks: LABEL.to_owned(), pods, runtimes: LABEL.to_owned() };
        }
        let networks = |pods_only: bool| {
            let networks = vocabulary.networks.iter().filter(|network| network.pod || !pods_only);
            networks.map(|network| network.name.as_str()).collect::<Vec<_>>().join("|")
        };
        let runtimes = vocabulary.runtime_names().join("|");
        Self { networks: networks(false), pods: networks(true), runtimes }
    }

    /// A network kind, of pods with or without a runtime.
    fn kind(&self) -> String {
        let Self { networks, pods, runtimes } = self;
        if runtimes.is_empty() {
            format!("({networks})")
        } else {
            format!("({networks}|({pods})\\+({runtimes}))")
        }
    }

    /// The kind of a pod that can have a sidecar: in a lab one without a runtime.
    fn with_sidecar(&self, in_runtimes: bool) -> Option<String> {
        let Self { pods, runtimes, .. } = self;
        match (pods.as_str(), in_runtimes) {
            ("", _) => None,
            (pods, true) => Some(format!("({pods})(\\+({runtimes}))?")),
            (pods, false) => Some(format!("({pods})")),
        }
    }
}
