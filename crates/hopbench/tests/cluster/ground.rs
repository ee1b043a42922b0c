//! A real cluster, and `hopbench run` on it.
//!
//! `HOPBENCH_CLUSTER_KUBECONFIG` names the cluster, which is that of `tests/cluster`;
//! `HOPBENCH_CLUSTER_IMAGE` the image of the agents, if it is not the usual one;
//! `HOPBENCH_CLUSTER_AGENT` another image of them, as `tests/cluster/agent.sh` makes it.
#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hopbench_kube::Access;
use hopbench_model::{Record, RunFile, record_of_line};
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::api::node::v1::RuntimeClass;
use kube::Api;
use kube::api::ListParams;

/// One run at a time: they share the nodes' CPUs, and what is done to the cluster is done to all of
/// it.
static ONE: Mutex<()> = Mutex::new(());

/// The testbed's nodes, where any three will do.
pub(crate) const ANY_THREE: &str = "nodes: {a: {}, b: {}, c: {}}";

/// The cluster and a folder, for one test.
#[derive(Debug)]
pub(crate) struct Ground {
    kubeconfig: PathBuf,
    folder: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// The cluster, or `None`, which is said.
pub(crate) fn ground(test: &str) -> Option<Ground> {
    let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(kubeconfig) =
        std::env::var_os("HOPBENCH_CLUSTER_KUBECONFIG").filter(|path| !path.is_empty())
    else {
        let required = std::env::var("HOPBENCH_REQUIRE_CLUSTER").is_ok_and(|said| said == "1");
        assert!(
            !required,
            "HOPBENCH_REQUIRE_CLUSTER=1, and HOPBENCH_CLUSTER_KUBECONFIG names no cluster"
        );
        println!("SKIP {test}: HOPBENCH_CLUSTER_KUBECONFIG names no cluster");
        return None;
    };
    Some(Ground {
        kubeconfig: kubeconfig.into(),
        folder: tempfile::tempdir().unwrap(),
        _alone: alone,
    })
}

/// Says that `test` leaves something out, or fails where `variable` is 1; false.
fn lacks(test: &str, variable: &str, why: &str) -> bool {
    let required = std::env::var(variable).is_ok_and(|said| said == "1");
    assert!(!required, "{test}: {variable}=1, and {why}");
    // Not `println`: what that prints is kept back when the test passes, and a skip is to be seen.
    let _ = writeln!(std::io::stdout(), "\nSKIP {test}: {why}");
    false
}

impl Ground {
    /// A connection of the test's own.
    pub(crate) fn access(&self) -> Access {
        Access::open_file(Some(&self.kubeconfig), None).unwrap()
    }

    /// Whether the cluster has the RuntimeClass `gvisor`. Where it has not, that is said for
    /// `test`, which ends; with `HOPBENCH_REQUIRE_GVISOR=1` it fails.
    pub(crate) fn has_gvisor(&self, test: &str) -> bool {
        let access = self.access();
        let classes: Api<RuntimeClass> = Api::all(access.client.clone());
        let found = access.ask("RuntimeClass", classes.get_opt("gvisor")).unwrap().is_some();
        found || lacks(test, "HOPBENCH_REQUIRE_GVISOR", "the cluster has no RuntimeClass gvisor")
    }

    /// The same of the image `hopbench.test/envoy:1`, and of `HOPBENCH_REQUIRE_ENVOY=1`.
    pub(crate) fn has_envoy(&self, test: &str) -> bool {
        let access = self.access();
        let nodes: Api<Node> = Api::all(access.client.clone());
        let listed = access.ask("nodes", nodes.list(&ListParams::default())).unwrap();
        let images = listed.items.into_iter().filter_map(|node| node.status?.images).flatten();
        let found = images
            .filter_map(|image| image.names)
            .flatten()
            .any(|name| name == "hopbench.test/envoy:1");
        found
            || lacks(
                test,
                "HOPBENCH_REQUIRE_ENVOY",
                "the cluster has no image hopbench.test/envoy:1",
            )
    }

    /// Another image of the agents; `None`: there is none, which is said for `test`.
    pub(crate) fn other_agent(&self, test: &str) -> Option<String> {
        let image = std::env::var("HOPBENCH_CLUSTER_AGENT").ok().filter(|name| !name.is_empty());
        let why = "HOPBENCH_CLUSTER_AGENT names no image (tests/cluster/agent.sh)";
        let is_there = image.is_some() || lacks(test, "HOPBENCH_REQUIRE_CLUSTER", why);
        image.filter(|_| is_there)
    }

    /// The image of the agents.
    pub(crate) fn image(&self) -> String {
        std::env::var("HOPBENCH_CLUSTER_IMAGE")
            .unwrap_or_else(|_| hopbench_kube::image::default_tag())
    }

    /// A file of the test.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The results folder of the run.
    pub(crate) fn out(&self) -> PathBuf {
        self.file("out")
    }

    /// `hopbench run` on a scenario of this name; `testbed` goes into the testbed's block, `rest`
    /// stands below it.
    pub(crate) fn run(&self, name: &str, testbed: &str, rest: &str) -> Command {
        let image = self.image();
        let testbed = format!("{{image: \"{image}\", pull-policy: Never, {testbed}}}");
        let scenario =
            format!("name: {name}\ntestbed: {{kubernetes: {testbed}}}\nwarmup: 300ms\n{rest}");
        let file = self.file("scenario.yaml");
        std::fs::write(&file, scenario).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_hopbench"));
        command
            .arg("run")
            .arg(file)
            .args(["--testbed", "kubernetes", "--no-report", "--out"])
            .arg(self.out());
        command.env("KUBECONFIG", &self.kubeconfig);
        command
    }

    /// The same to its end, which is a good one: its records.
    pub(crate) fn measured(&self, name: &str, testbed: &str, rest: &str) -> Vec<Record> {
        let ended = self.run(name, testbed, rest).output().unwrap();
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&ended.stdout),
            String::from_utf8_lossy(&ended.stderr)
        );
        assert!(ended.status.success(), "{said}");
        self.records()
    }

    /// What the run left of its trials; nothing where it left no file.
    pub(crate) fn records(&self) -> Vec<Record> {
        let text = std::fs::read_to_string(self.out().join("records.jsonl")).unwrap_or_default();
        let shared = || self.run_file().shared;
        let record = |line: &str| record_of_line(line.as_bytes(), &shared()).unwrap();
        text.lines().map(record).collect()
    }

    /// What the run says of itself.
    pub(crate) fn run_file(&self) -> RunFile {
        serde_json::from_slice(&std::fs::read(self.out().join("run.json")).unwrap()).unwrap()
    }
}

/// Every proof and invariant of a record holds, and there are some.
pub(crate) fn assert_sound(record: &Record) {
    let what = format!("{} {} round {}", record.path, record.workload, record.round);
    assert_eq!((&record.incomplete, &record.error), (&None, &None), "{what}");
    assert!(
        !record.proof.is_empty() && record.proof.iter().all(|proof| proof.ok),
        "{what}: {:#?}",
        record.proof
    );
    let invariants = &record.invariants;
    assert!(
        !invariants.is_empty() && invariants.iter().all(|one| one.ok),
        "{what}: {invariants:#?}"
    );
}
