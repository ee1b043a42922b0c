//! The testbeds that scenarios can name.

use std::fs::File;

use hopbench_agent::hello;
use hopbench_hosts::Hosts;
use hopbench_kube::Cluster;
use hopbench_lab::{KINDS, Lab, RUNTIMES, Reach, SERVERS};
use hopbench_model::{Job, TestbedSpec};
use hopbench_peer::{PEERS, PeerTool, peer};
use hopbench_scenario::{Network, PeerWord, Server, Vocabularies, Vocabulary};
use hopbench_testbed::Testbed;

/// Every testbed by its name, with a line about each; the usual one first.
pub(crate) const TESTBEDS: &[(&str, &str)] = &[
    ("lab", "network namespaces on this machine; no root needed"),
    ("kubernetes", "pods of a Kubernetes cluster, by the kubeconfig as kubectl takes it"),
    ("hosts", "machines on which somebody started `hopbench serve --both-ends`"),
];

/// The words that scenarios for them may use.
pub(crate) fn vocabularies() -> Vocabularies {
    Vocabularies { lab: lab(), kubernetes: kubernetes(), hosts: hosts() }
}

/// The words for the testbed of this name.
pub(crate) fn vocabulary(name: &str) -> Vocabulary {
    match name {
        "kubernetes" => kubernetes(),
        "hosts" => hosts(),
        _ => lab(),
    }
}

// Of pods there are two on a node; on a host the ends have ports of their own.
fn network(name: &str, summary: &str, pod: bool) -> Network {
    Network { name: name.to_owned(), summary: summary.to_owned(), pod, both_ends: true }
}

fn lab() -> Vocabulary {
    let of_lab = |server: &&dyn hopbench_lab::ServerProgram| {
        let (name, summary) = (server.name().to_owned(), server.summary().to_owned());
        Server { name, summary, request: format!("/bytes/{}", Server::BYTES) }
    };
    Vocabulary {
        networks: KINDS
            .iter()
            .map(|kind| network(kind.name(), kind.summary(), kind.reach() != Reach::Node))
            .collect(),
        runtimes: RUNTIMES.iter().map(|r| (r.name().to_owned(), r.summary().to_owned())).collect(),
        any_runtime: false,
        sidecars_in_runtimes: false,
        servers: SERVERS.iter().map(of_lab).collect(),
        peers: PEERS.iter().map(|tool| word(tool)).collect(),
    }
}

fn word(tool: &PeerTool) -> PeerWord {
    PeerWord { name: tool.name, summary: tool.measures, kind_of: kind_of_peer }
}

/// The kind of what a tool measures for a job, or why it cannot.
fn kind_of_peer(name: &'static str, job: &Job, is_agent: bool) -> Result<&'static str, String> {
    let tool = peer(name).ok_or("it is not known")?;
    tool.kind_of(job, is_agent)
}

/// What is the lab's only is a word here, too, so that its scenarios can be read. What such a kind,
/// server or tool is on a cluster, a scenario says under `networks:`, `servers:` or `peers:`.
/// Without that the testbed says so of each path.
fn kubernetes() -> Vocabulary {
    let lab = lab();
    let mut networks = vec![
        network("host", "the node's own network (hostNetwork)", false),
        network("pod", "the cluster's own pod network", true),
        network("bridge", "the same as pod, so that a lab's scenarios run unchanged", true),
    ];
    for kind in lab.networks {
        if networks.iter().all(|known| known.name != kind.name) {
            networks.push(network(
                &kind.name,
                "what `networks:` says it is; nothing without that",
                kind.pod,
            ));
        }
    }
    let unmapped =
        |server: Server| Server { summary: "the image that `servers:` says".to_owned(), ..server };
    Vocabulary {
        networks,
        runtimes: vec![(
            "runsc".to_owned(),
            "RuntimeClass gvisor; any other name is that of a RuntimeClass".to_owned(),
        )],
        any_runtime: true,
        sidecars_in_runtimes: true,
        servers: lab.servers.into_iter().map(unmapped).collect(),
        peers: lab.peers,
    }
}

fn hosts() -> Vocabulary {
    Vocabulary {
        networks: vec![network(
            "host",
            "the machine's own network, where its agent listens",
            false,
        )],
        runtimes: Vec::new(),
        any_runtime: false,
        sidecars_in_runtimes: false,
        servers: Vec::new(),
        peers: Vec::new(),
    }
}

/// A testbed, not built yet. What its agents say goes to `log`. Where building it or the command of
/// a subject may take long, that ends early when `wanted` says that the user wants to stop. What it
/// does meanwhile it says to `tell`, a line each.
pub(crate) fn open(
    spec: &TestbedSpec,
    log: Option<File>,
    wanted: impl Fn() -> bool + Send + Sync + 'static,
    tell: impl Fn(&str) + Send + Sync + 'static,
) -> Box<dyn Testbed> {
    match spec {
        TestbedSpec::Lab(lab) => Box::new(Lab::new(lab, log).stopped_by(wanted)),
        TestbedSpec::Kubernetes(cluster) => {
            Box::new(Cluster::new(cluster, log).only_of(hello()).stopped_by(wanted).telling(tell))
        }
        TestbedSpec::Hosts(hosts) => Box::new(Hosts::new(hosts, hello())),
    }
}

/// The same for a look at a plan: nothing that the plan names is started.
pub(crate) fn to_look_at(spec: &TestbedSpec) -> Box<dyn Testbed> {
    match spec {
        TestbedSpec::Lab(lab) => Box::new(Lab::new(lab, None).starting_nothing()),
        TestbedSpec::Kubernetes(_) | TestbedSpec::Hosts(_) => open(spec, None, || false, |_| ()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_cluster_knows_every_word_of_the_lab_once() {
        let all = vocabularies();
        let names: BTreeSet<&str> =
            all.kubernetes.networks.iter().map(|network| network.name.as_str()).collect();
        assert_eq!(names.len(), all.kubernetes.networks.len());
        for network in &all.lab.networks {
            let same = all.kubernetes.network(&network.name).expect("a word");
            assert_eq!(
                (same.pod, same.both_ends),
                (network.pod, network.both_ends),
                "{}",
                network.name
            );
        }
        let servers = |vocabulary: &Vocabulary| {
            vocabulary
                .servers
                .iter()
                .map(|server| (server.name.clone(), server.request.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(servers(&all.lab), servers(&all.kubernetes));
        assert_eq!(all.lab.peers, all.kubernetes.peers);
    }
}
