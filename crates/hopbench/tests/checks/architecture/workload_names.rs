//! The files that decide by a workload's name.

use super::source::{crate_names, crates, shipped_files, shipped_text};

/// More files than this must not know workloads by their names. All others ask the `WorkloadKind`
/// of a job, so that a new workload is one file.
const MOST_FILES: usize = 5;

/// Files in which such a word is something else: a protocol, a scheme, a parameter, a key, a
/// message, a tool of others.
const OTHER_WORDS: &[&str] = &[
    "import/src/formats/text.rs",
    "import/src/formats/text/qperf.rs",
    "kube/src/mesh/on_nodes/cilium.rs",
    "kube/src/objects/pod.rs",
    "kube/src/objects/service.rs",
    "kube/src/objects/service/ingress.rs",
    "lab/src/services/service_rules.rs",
    "load/src/http/h2/hpack.rs",
    "load/src/http/request.rs",
    "load/src/http/url.rs",
    "mesh/src/bootstrap/access_log.rs",
    "model/src/job.rs",
    "peer/src/tools/ping.rs",
    "wire/src/session.rs",
];

/// A job's parameters are JSON in files and messages. Workloads are given them in their own type.
#[test]
fn parameters_get_their_type_in_one_place() {
    let mut found = Vec::new();
    for file in crate_names().iter().flat_map(|krate| shipped_files(krate)) {
        let text = shipped_text(&file);
        let is_parsed = |line: &str| {
            line.contains("from_value(") && line.contains("params") || line.contains(".typed()")
        };
        if text.lines().any(is_parsed) {
            found.push(file.strip_prefix(crates()).expect("a file of ours").to_owned());
        }
    }
    assert_eq!(found, [std::path::Path::new("load/src/workload/typed.rs")]);
}

#[test]
fn few_files_decide_by_the_name_of_a_workload() {
    let names: Vec<String> =
        hopbench_load::WORKLOADS.iter().map(|w| format!("\"{}\"", w.name())).collect();
    let is_named = |text: &str| {
        let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.any(|line| names.iter().any(|name| line.contains(name)))
    };
    assert!(is_named("    \"rr\" => 1,") && !is_named("    /// like \"rr\""));
    let mut found: Vec<String> = Vec::new();
    // The developers' tools drive the binary from outside, by its commands.
    for krate in crate_names()
        .into_iter()
        .filter(|krate| !["bench", "test-webhook"].contains(&krate.as_str()))
    {
        for file in shipped_files(&krate) {
            let path =
                file.strip_prefix(crates()).expect("a file of ours").to_string_lossy().into_owned();
            if is_named(&shipped_text(&file)) && !path.starts_with("load/src/workloads/") {
                found.push(path);
            }
        }
    }
    for other in OTHER_WORDS {
        assert!(
            found.iter().any(|path| path == other),
            "{other} has no such word: take it out of OTHER_WORDS"
        );
    }
    found.retain(|path| !OTHER_WORDS.contains(&path.as_str()));
    assert!(
        found.len() <= MOST_FILES,
        "{} files name workloads, at most {MOST_FILES} may; ask `job.kind()` instead: {found:?}",
        found.len()
    );
}
