//! A run on a cluster that somebody disturbs, and the cluster afterwards.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use hopbench_kube::{Access, labels};
use hopbench_model::Record;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use serde_json::Value;

use crate::ground::{ANY_THREE, Ground, ground};

/// How long anything may take.
const LONGEST: Duration = Duration::from_secs(120);

/// The file with what a run says on standard error.
const SAID: &str = "said";

/// A run that is on.
pub(crate) struct Running {
    pub(crate) access: Access,
    child: Child,
    events: Receiver<Value>,
    ground: Ground,
}

/// A run that is over.
pub(crate) struct Over {
    pub(crate) code: Option<i32>,
    pub(crate) records: Vec<Record>,
    /// What it said on standard error, and to whoever looks into its log.
    pub(crate) said: String,
    pub(crate) log: String,
    pub(crate) events: Vec<Value>,
}

/// Starts a run of this on the cluster; `None`: there is none, which is said. `more` goes into the
/// testbed's block.
pub(crate) fn start(test: &str, more: &str, rest: &str) -> Option<Running> {
    let ground = ground(test)?;
    let access = ground.access();
    let mut command = ground.run(test, &format!("{ANY_THREE}{more}"), rest);
    let said = std::fs::File::create(ground.file(SAID)).unwrap();
    let mut child = command.arg("--json").stdout(Stdio::piped()).stderr(said).spawn().unwrap();
    let (told, events) = channel();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    std::thread::spawn(move || {
        lines
            .map_while(Result::ok)
            .for_each(|line| drop(told.send(serde_json::from_str(&line).unwrap())));
    });
    Some(Running { access, child, events, ground })
}

impl Running {
    /// Waits until a trial of this path and round is on.
    pub(crate) fn until_trial(&self, path: &str, round: u64) {
        let began = Instant::now();
        loop {
            let left = LONGEST.saturating_sub(began.elapsed());
            let event = self
                .events
                .recv_timeout(left)
                .unwrap_or_else(|e| panic!("{path} {round}: {e}: {}", self.said()));
            if event["event"] == "trial_started" && event["path"] == path && event["round"] == round
            {
                return;
            }
        }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.ground.file(SAID)).unwrap()
    }

    /// The namespace of the run, as soon as it is there.
    pub(crate) fn namespace(&self) -> String {
        let began = Instant::now();
        loop {
            if let Some(found) = self.namespaces().into_iter().next() {
                return found;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "no namespace: {}", self.said());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn namespaces(&self) -> Vec<String> {
        let all: Api<Namespace> = Api::all(self.access.client.clone());
        let ours = ListParams::default().labels(&labels::of_all());
        let found = self.access.ask("namespaces", all.list(&ours)).unwrap().items;
        found.into_iter().map(|namespace| namespace.name_any()).collect()
    }

    /// The pods of the run.
    pub(crate) fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.access.client.clone(), &self.namespace())
    }

    /// Ctrl-C.
    pub(crate) fn interrupt(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    }

    /// Waits for its end, and asserts that nothing of it is left in the cluster.
    pub(crate) fn over(mut self) -> (Self, Over) {
        let began = Instant::now();
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            if began.elapsed() > LONGEST {
                self.child.kill().unwrap();
                panic!("the run does not end: {}", self.said());
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        let over = Over {
            code,
            records: self.ground.records(),
            said: self.said(),
            log: std::fs::read_to_string(self.ground.out().join("agents.log")).unwrap_or_default(),
            events: self.events.iter().collect(),
        };
        assert_eq!(self.namespaces(), Vec::<String>::new(), "{}{}", over.said, over.log);
        (self, over)
    }

    /// Waits until the cluster is as it was: for the tests that follow.
    pub(crate) fn heal(&self) {
        let began = Instant::now();
        loop {
            let ill = self.ill();
            if ill.is_empty() {
                return;
            }
            assert!(began.elapsed() < LONGEST, "not well again: {ill:?}");
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    /// Nodes and pods that are not ready.
    fn ill(&self) -> Vec<String> {
        let nodes: Api<Node> = Api::all(self.access.client.clone());
        let pods: Api<Pod> = Api::all(self.access.client.clone());
        let (all, client) = (ListParams::default(), &self.access);
        let Ok(nodes) = client.ask("nodes", nodes.list(&all)) else {
            return vec!["the API server".to_owned()];
        };
        let Ok(pods) = client.ask("pods", pods.list(&all)) else {
            return vec!["the API server".to_owned()];
        };
        let lost = nodes.items.iter().filter(|node| {
            let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
            // What keeps pods away from a node that was lost goes a moment after it is ready again.
            let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_ref());
            let is_shunned = taints
                .into_iter()
                .flatten()
                .any(|taint| taint.key.starts_with("node.kubernetes.io/"));
            is_shunned
                || !conditions
                    .into_iter()
                    .flatten()
                    .any(|c| c.type_ == "Ready" && c.status == "True")
        });
        let ill = pods.items.iter().filter(|pod| {
            let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
            let is_ready =
                conditions.into_iter().flatten().any(|c| c.type_ == "Ready" && c.status == "True");
            pod.metadata.deletion_timestamp.is_some() || !is_ready
        });
        lost.map(|node| node.name_any()).chain(ill.map(|pod| pod.name_any())).collect()
    }
}

impl Drop for Running {
    /// A test that failed leaves its run to be ended.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Over {
    /// The records of a path that can be used.
    pub(crate) fn good(&self, path: &str) -> Vec<&Record> {
        let of_path = self.records.iter().filter(|record| record.path == path);
        of_path.filter(|record| record.incomplete.is_none() && record.error.is_none()).collect()
    }

    /// Why trials of a path failed, in their order.
    pub(crate) fn failures(&self, path: &str) -> Vec<String> {
        let failed = self
            .events
            .iter()
            .filter(|event| event["event"] == "trial_failed" && event["path"] == path);
        failed.map(|event| event["reason"].as_str().unwrap().to_owned()).collect()
    }
}
