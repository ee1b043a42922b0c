//! The check that the ends of a path can have their sidecars.

use hopbench_model::{MeshMode, Path, Place, Via};

use super::place::Words;
use crate::document::node::At;
use crate::document::problem::Problems;

/// Checks that the ends of a path can have the sidecars that its mode asks for.
pub(crate) fn check(path: &Path, at: At, key: &str, words: &Words<'_>, problems: &mut Problems) {
    let mode = path.mesh;
    if let (Via::Gateway(_), true) = (&path.via, mode.has_client()) {
        let found = format!("mesh {mode} via {}", path.via);
        let expected = format!(
            "mesh {} or {}: a gateway's clients are outside of the mesh",
            MeshMode::None,
            MeshMode::Server
        );
        problems.add(at, key, found, expected);
    }
    for (has, place, whose) in
        [(mode.has_client(), &path.from, "client"), (mode.has_server(), &path.to, "server")]
    {
        if has {
            end(place, whose, mode, at, key, words, problems);
        }
    }
}

fn end(
    place: &Place,
    whose: &str,
    mode: MeshMode,
    at: At,
    key: &str,
    words: &Words<'_>,
    problems: &mut Problems,
) {
    let Place { network, runtime, .. } = place;
    let expected = if !words.vocabulary.network(network).is_some_and(|kind| kind.pod) {
        format!("a pod for the {whose}'s sidecar; {network} is none")
    } else if let Some(runtime) =
        runtime.as_ref().filter(|_| !words.vocabulary.sidecars_in_runtimes)
    {
        format!(
            "a pod without a runtime for the {whose}'s sidecar: {runtime} takes the pod's network \
             over"
        )
    } else {
        return;
    };
    problems.add(at, key, format!("mesh {mode} with the {whose} on `{place}`"), expected);
}
