//! A scenario as it was resolved: all that a run needs, and all that is needed to repeat it.

mod cluster;
mod mesh;
mod path;
mod peer;
mod references;
mod search;
mod stop;
mod subject;
mod testbed;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Job, Nanos, WorkloadKind};

pub use cluster::{
    ClusterNode, ClusterSpec, GatewaySpec, MeshProvider, MeshSpec, ParentGateway, PeerImage,
    PodNetwork, PrometheusSpec, ServerImage,
};
pub use mesh::{
    BYPASSES_PROXY, FLAGS_HEADER, HttpVersion, MeshMode, NODE_PROXY, Variant, proxy_role,
};
pub use path::{Affinity, Gateways, IpFamily, Path, Place, Reference, Via, nodes_text};
pub use peer::{BY_PEER, Peer};
pub use references::References;
pub use search::{BrokenBound, CpuOf, EQUAL_LOAD, RateRange, SCAN, SearchBound, SearchGoal};
pub use search::{SearchOutcome, SearchSpec, SearchStep, ShortTrials};
pub use stop::{COMMON_METRICS, StopRule, StopWhy, Stopped};
pub use subject::{NodeSettings, OFFLOADS, PodSettings, Subject, SubjectChanges, SubjectCommand};
pub use testbed::{Host, HostsSpec, LabNode, LabSpec, MOST_SERVER_WORK, TestbedSpec};

/// The version of [`Plan`] in `run.json`.
pub const PLAN_SCHEMA: &str = "hopbench.plan/1";

/// Passes over all cells that a plan may have.
pub const ROUNDS: RangeInclusive<u32> = 1..=1000;

/// What will be measured: cells, in rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_SCHEMA`].
    pub schema: String,
    /// The scenario's name; part of the folder's name.
    pub name: String,
    /// The testbed that it runs on.
    pub testbed: TestbedSpec,
    /// The paths, in the scenario's order.
    pub paths: Vec<Path>,
    /// The workloads' points, in the scenario's order.
    pub points: Vec<Point>,
    /// The cells, path by path.
    pub cells: Vec<Cell>,
    /// Passes over all cells, within [`ROUNDS`]. With a budget: those that were begun so far, at
    /// least 1.
    pub rounds: u32,
    /// Time for the rounds of all sessions, ns: one begins while about half of it still fits.
    /// Without rounds: time for the searches of each session. Absent: the number of rounds is as
    /// [`Plan::rounds`] says, and searches have no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<Nanos>,
    /// The path that the others are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The path that is the baseline once more, under another name: what it differs by is noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<String>,
    /// The set-ups that every path is measured with, the first of which the others are compared
    /// with; without any, the paths are as the scenario says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<Subject>,
    /// When the rounds of a cell end before all of them; absent: every cell has all rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopRule>,
    /// Differences below this share are of no interest: 0.02 is `minimum-effect: 2%`; 0: all are.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub minimum_effect: f64,
    /// Whether the connections of a cell stay open between its trials, where they can. Else each
    /// trial opens its own.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub stay_connected: bool,
    /// Seed of the order of the rounds and of everything random in the trials.
    pub seed: u64,
}

/// One setting of a workload's swept parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The workload's name in the scenario; `job.workload` says what kind it is.
    pub workload: String,
    /// The parameters that vary between the points of this workload, with their values here.
    pub point: BTreeMap<String, Value>,
    /// The job, settled, but for the URL of `http`, which the route completes.
    pub job: Job,
    /// What answers at the other end.
    pub server: ServerSpec,
    /// The search that takes the place of the rounds; `job` is then what all its trials share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchSpec>,
    /// The tool of others that measures it; absent: hopbench does. `job` then has a kind of its
    /// own, whose name begins with [`BY_PEER`], and the parameters of the workload beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Peer>,
}

/// What answers at the other end of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServerSpec {
    /// `hopbench` (the agent itself) or the name of a server program that the testbed starts:
    /// `nginx`.
    pub program: String,
    /// Path and query of the URL that `http` requests, from the slash on: `/?size=1024`.
    pub request: String,
    /// Size of the answer's body where the scenario says it, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_bytes: Option<u64>,
}

impl ServerSpec {
    /// The agent's own server.
    pub const AGENT: &'static str = "hopbench";

    /// Whether the agent itself answers.
    pub fn is_agent(&self) -> bool {
        self.program == Self::AGENT
    }
}

/// Path x workload x point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// Index into [`Plan::paths`].
    pub path: usize,
    /// Index into [`Plan::points`].
    pub point: usize,
}

/// A point in one line, wherever a person reads it: `connections=4 size=64B`; empty where nothing
/// varies.
pub fn point_label(point: &BTreeMap<String, Value>) -> String {
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let parts: Vec<_> = point.iter().map(|(name, v)| format!("{name}={}", value(v))).collect();
    parts.join(" ")
}

impl Plan {
    /// The contradiction in a plan that somebody else wrote; `None`: there is none.
    pub fn contradiction(&self) -> Option<String> {
        if !ROUNDS.contains(&self.rounds) {
            return Some(format!(
                "the plan has {} rounds, expected {} to {}",
                self.rounds,
                ROUNDS.start(),
                ROUNDS.end()
            ));
        }
        let (paths, points) = (self.paths.len(), self.points.len());
        let beyond = |(number, cell): (usize, &Cell)| {
            let (what, at, most) = match cell {
                Cell { path, .. } if *path >= paths => ("path", cell.path, paths),
                Cell { point, .. } if *point >= points => ("point", cell.point, points),
                _ => return None,
            };
            Some(format!("cell {number} has {what} {at}, expected less than {most}"))
        };
        let mut names = BTreeSet::new();
        let twice = self.paths.iter().find(|path| !names.insert(&path.name));
        let beyond = self.cells.iter().enumerate().find_map(beyond);
        beyond.or_else(|| twice.map(|path| format!("two paths are called `{}`", path.name)))
    }

    /// The most rounds that a session may make.
    pub fn most_rounds(&self) -> u32 {
        if self.budget_ns.is_some() { *ROUNDS.end() } else { self.rounds }
    }

    /// Whether a cell is measured in rounds. If not, all are searched.
    pub fn has_rounds(&self) -> bool {
        self.cells.iter().any(|cell| self.points[cell.point].search.is_none())
    }

    /// Whether its trials were measured by other tools: it has no testbed, and nothing is proved.
    pub fn is_imported(&self) -> bool {
        self.points.iter().any(|point| WorkloadKind::is_imported(&point.job.workload))
    }

    /// A program that somebody chose by it, in words, or what can be one; `None`: it has none.
    pub fn program(&self) -> Option<String> {
        let nodes = match &self.testbed {
            TestbedSpec::Lab(lab) => lab.nodes.as_slice(),
            _ => &[],
        };
        let of_node = |node: &LabNode| {
            let NodeSettings { envoy, env, .. } = &node.settings;
            let envoy = envoy.as_ref().map(|path| format!("envoy {path}"));
            envoy.or_else(|| Some(format!("env {}", env.keys().next()?)))
        };
        let of_subject = |subject: &Subject| {
            let SubjectCommand { before, after } = &subject.command;
            let command = before.as_ref().or(after.as_ref());
            let command = command.map(|line| format!("command {line}"));
            command.or_else(|| Some(format!("env {}", subject.pod.env.keys().next()?)))
        };
        let of_path = |path: &Path| {
            let script = path.variant.as_ref()?.lua.as_ref()?;
            Some(format!("a script of Lua, {} bytes", script.len()))
        };
        let subjects = || self.subjects.iter().find_map(of_subject);
        let paths = || self.paths.iter().find_map(of_path);
        nodes.iter().find_map(of_node).or_else(subjects).or_else(paths)
    }

    /// The reference of each path.
    pub fn references(&self) -> References {
        References::of_paths(&self.paths, self.baseline.as_ref(), self.twin.as_ref())
    }

    /// The path and the point of a cell.
    ///
    /// # Panics
    /// When the cell is of another plan: [`Plan::contradiction`] tells before.
    pub fn at(&self, cell: Cell) -> (&Path, &Point) {
        (&self.paths[cell.path], &self.points[cell.point])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_point_is_written_as_it_was_given() {
        let point = BTreeMap::from([
            ("size".to_owned(), json!("4KiB")),
            ("connections".to_owned(), json!(8)),
        ]);
        assert_eq!(point_label(&point), "connections=8 size=4KiB");
        assert_eq!(point_label(&BTreeMap::new()), "");
    }
}
