//! The tools of others beside a workload: `peer: iperf3`.

use hopbench_model::{Nanos, Peer, Point, SECOND, Timing};

use crate::document::node::{At, Kind, Node, quoted};
use crate::document::problem::Problems;
use crate::vocabulary::{PeerWord, Vocabulary};

/// What the key takes.
const FORM: &str = "the name of a tool, or a list of names";
/// The lengths of a tool's trial where the scenario does not say a time, ns.
const LENGTH: std::ops::RangeInclusive<Nanos> = SECOND..=3 * SECOND;

/// The tools of one workload, each with its place in the file.
pub(crate) struct Peers {
    /// Where the key is in the tree.
    key: String,
    tools: Vec<(PeerWord, At)>,
}

impl Peers {
    /// Reads the key. `is_searched`: the workload has a search.
    pub(crate) fn read(
        node: &Node,
        key: String,
        is_searched: bool,
        vocabulary: &Vocabulary,
        problems: &mut Problems,
    ) -> Self {
        let list = match &node.kind {
            Kind::List(list) if !list.is_empty() => list.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut tools: Vec<(PeerWord, At)> = Vec::new();
        for node in list {
            let known = || vocabulary.peers.iter().map(|tool| tool.name).collect::<Vec<_>>();
            let found = node.text().map(|text| (text, vocabulary.peer(text)));
            match found {
                None => problems.add(node.at, &key, node.shown(), FORM),
                Some((text, _)) if is_searched => {
                    problems.add(node.at, &key, quoted(text), "no tool beside a search");
                }
                Some((text, None)) if vocabulary.peers.is_empty() => {
                    let expected = "no tool on this testbed: labs and clusters start them; or \
                                    leave `peer` out";
                    problems.add(node.at, &key, quoted(text), expected);
                }
                Some((text, None)) => problems.unknown(node.at, &key, text, &known()),
                Some((text, Some(tool))) if tools.iter().any(|(other, _)| *other == tool) => {
                    problems.add(
                        node.at,
                        &key,
                        format!("{} twice", quoted(text)),
                        "each tool once",
                    );
                }
                Some((_, Some(tool))) => tools.push((tool, node.at)),
            }
        }
        Self { key, tools }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.tools.len()
    }

    /// The points of the tools beside these of ours. `says_time`: the scenario has a time for them.
    pub(crate) fn points(
        &self,
        ours: &[Point],
        says_time: bool,
        vocabulary: &Vocabulary,
        problems: &mut Problems,
    ) -> Vec<Point> {
        let mut out = Vec::new();
        for (tool, at) in &self.tools {
            for point in ours {
                match tool.kind(&point.job, &point.server) {
                    Ok(kind) => out.push(beside(point, tool.name, kind, says_time)),
                    Err(why) => {
                        let fits =
                            |other: &&PeerWord| other.kind(&point.job, &point.server).is_ok();
                        let fit: Vec<_> = vocabulary.peers.iter().filter(fits).collect();
                        let names: Vec<&str> = fit.iter().map(|tool| tool.name).collect();
                        let other = match names.is_empty() {
                            true => "no tool, as none measures this".to_owned(),
                            false => format!("one of {}", names.join(", ")),
                        };
                        let expected = format!("{other} ({}: {why})", tool.name);
                        problems.add(*at, &self.key, quoted(tool.name), expected);
                        break;
                    }
                }
            }
        }
        out
    }
}

/// The length of a tool's trial where the scenario does not say it, beside a window of ours.
pub(crate) fn length(window_ns: Nanos) -> Nanos {
    window_ns.clamp(*LENGTH.start(), *LENGTH.end()).next_multiple_of(SECOND)
}

/// A point as a tool measures it: for whole seconds, as some tools have no others.
fn beside(ours: &Point, tool: &str, kind: &str, says_time: bool) -> Point {
    let peer = Peer { tool: tool.to_owned(), of: ours.workload.clone() };
    let mut job = ours.job.clone();
    job.kind = Some(job.kind());
    kind.clone_into(&mut job.workload);
    let asked = job.timing.window_ns;
    let window_ns = if says_time { asked.next_multiple_of(SECOND) } else { length(asked) };
    job.timing = Timing { warmup_ns: 0, window_ns, interval_ns: window_ns, ..job.timing };
    Point { workload: peer.workload(), job, peer: Some(peer), ..ours.clone() }
}
