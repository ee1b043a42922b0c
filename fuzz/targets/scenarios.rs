//! Scenario files: a plan, or at least one problem, and never a panic.
#![no_main]

use std::sync::LazyLock;

use hopbench_scenario::{Network, Overrides, PeerWord, Server, Vocabularies, Vocabulary, read};
use libfuzzer_sys::fuzz_target;

static WORDS: LazyLock<Vocabularies> = LazyLock::new(|| {
    let network = |name: &&str| Network {
        name: (*name).to_owned(),
        summary: "a way".to_owned(),
        pod: *name != "host",
        both_ends: true,
    };
    let nginx = Server {
        name: "nginx".to_owned(),
        summary: "a server".to_owned(),
        request: format!("/bytes/{}", Server::BYTES),
    };
    let vocabulary = |networks: &[&str], any_runtime| Vocabulary {
        networks: networks.iter().map(network).collect(),
        runtimes: vec![("runsc".to_owned(), "gVisor".to_owned())],
        any_runtime,
        sidecars_in_runtimes: any_runtime,
        servers: vec![nginx.clone()],
        peers: vec![PeerWord {
            name: "ping",
            summary: "round trips",
            kind_of: |name, job, agent| match (job.workload.as_str(), agent) {
                ("rr", true) => Ok(name),
                (other, _) => Err(format!("it does not measure `{other}`")),
            },
        }],
    };
    Vocabularies {
        lab: vocabulary(&["host", "bridge", "overlay", "ptp", "macvlan", "eni"], false),
        kubernetes: vocabulary(&["host", "pod", "bridge", "overlay"], true),
        hosts: vocabulary(&["host"], false),
    }
});

fuzz_target!(|text: &str| {
    match read("x.yaml", text, &WORDS, &Overrides { new_seed: 1, ..Overrides::default() }) {
        Ok(resolved) => {
            let written = serde_json::to_string(&resolved.plan).expect("a plan can be written");
            let read: hopbench_model::Plan = serde_json::from_str(&written).expect("and read");
            assert_eq!(serde_json::to_string(&read).expect("again"), written);
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            for problem in problems {
                assert!(!problem.to_string().is_empty());
            }
        }
    }
});
