//! One entry of `workloads:`.

pub(crate) mod flags;
mod keys;
pub(crate) mod peers;
mod points;
pub(crate) mod search;
pub(crate) mod short_times;

use std::collections::BTreeSet;

use hopbench_load::workload::without_flag;
use hopbench_load::{WORKLOADS, workload};
use hopbench_model::units::Span;
use hopbench_model::{Path, Point};
use wildmatch::WildMatch;

use self::flags::command;
use self::keys::Reader;
use self::peers::Peers;
use self::points::Maker;
use self::search::Search;
use self::short_times::{ShortTimes, UnsaidWindows, says_window};
use crate::document::fields::{Fields, joined};
use crate::document::node::{At, Key, Kind, Node, quoted};
use crate::document::problem::Problems;
use crate::document::values::Value;
use crate::http::{contradiction, unsized_answers};
use crate::paths::variants;
use crate::vocabulary::Vocabulary;

/// More cells than this are refused.
pub const MOST_CELLS: usize = 100_000;

const FORM: &str = "a workload like {rr: {size: 64}}";

/// What all workloads of a scenario share.
pub(crate) struct Shared<'a> {
    pub(crate) vocabulary: &'a Vocabulary,
    /// Keys of the scenario that hold for every workload that does not say otherwise.
    pub(crate) defaults: Vec<(&'a str, &'a Node)>,
    /// Of the command line, instead of every other.
    pub(crate) time: Option<Span>,
    /// Of a run with a budget.
    pub(crate) short_times: Option<ShortTimes>,
    /// The windows that may be longer than the short ones.
    pub(crate) unsaid_windows: UnsaidWindows,
    pub(crate) seed: u64,
    /// `None` if it is not known which there are.
    pub(crate) paths: Option<&'a [Path]>,
    /// Their names where only these are known.
    pub(crate) tried: Option<&'a [&'a str]>,
    /// Cells so far.
    pub(crate) cells: usize,
    /// What a search leaves out, in sentences.
    pub(crate) notes: Vec<String>,
    /// The paths that it leaves out.
    pub(crate) left_out: BTreeSet<usize>,
}

/// The keys of a workload beside its kind.
const BESIDE: [&str; 3] = ["paths", "search", "peer"];

/// The points of a workload and the paths that they are measured on.
pub(crate) struct Made {
    pub(crate) points: Vec<Point>,
    /// Indices.
    pub(crate) paths: Vec<usize>,
}

/// The parts of an entry.
struct Entry<'n> {
    /// The workload: `rr`.
    kind: &'n str,
    /// Its parameters; absent: as usual.
    params: Option<&'n Node>,
    /// The names of its paths.
    globs: Option<&'n Node>,
    search: Option<&'n Node>,
    /// Tools of others beside it.
    peer: Option<&'n Node>,
}

impl<'n> Entry<'n> {
    fn read(node: &'n Node, path: &str, names: &[&str], problems: &mut Problems) -> Option<Self> {
        // `latency: rr`
        if let Some(kind) = node.text() {
            return Some(Self { kind, params: None, globs: None, search: None, peer: None });
        }
        let known = [names, &BESIDE].concat();
        let before = problems.count();
        let fields = Fields::read(node, path, &known, FORM, problems)?;
        let kinds: Vec<_> = fields.entries().filter(|(name, ..)| !BESIDE.contains(name)).collect();
        let [(_, kind, params)] = kinds.as_slice() else {
            if kinds.is_empty() && problems.count() == before {
                problems.add(node.at, path, "no workload", format!("one of {}", names.join(", ")));
            } else if let Some((_, second, _)) = kinds.get(1) {
                problems.add(
                    second.at,
                    path,
                    format!("{} too", quoted(&second.text)),
                    "one workload an entry",
                );
            }
            return None;
        };
        let (globs, search) = (fields.get("paths"), fields.get("search"));
        let (kind, params) = (&kind.text, Some(*params));
        Some(Self { kind, params, globs, search, peer: fields.get("peer") })
    }
}

impl Shared<'_> {
    /// Reads one workload.
    pub(crate) fn read(&mut self, key: &Key, node: &Node, problems: &mut Problems) -> Option<Made> {
        let path = joined("workloads", &key.text);
        let names: Vec<&str> = WORKLOADS.iter().map(|w| w.name()).collect();
        let Entry { kind, params, globs, search, peer } =
            Entry::read(node, &path, &names, problems)?;
        let Some(workload) = workload(kind) else {
            problems.unknown(node.at, &path, kind, &names);
            return None;
        };
        let chosen = self.chosen(globs, &joined(&path, "paths"), problems);
        let peers = peer.map(|node| {
            let key = joined(&path, "peer");
            Peers::read(node, key, search.is_some(), self.vocabulary, problems)
        });
        let before = problems.count();
        let search =
            search.map(|node| Search::read(node, joined(&path, "search"), workload, problems));
        let path = joined(&path, kind);
        let mut command = command(workload);
        let is_http = workload.kind().is_http();
        let mut reader =
            Reader { command: &mut command, http: is_http, vocabulary: self.vocabulary };
        let own = match params.filter(|params| !matches!(params.kind, Kind::Null)) {
            None => None,
            Some(params) => Some(Fields::read_or_say(
                params,
                &path,
                &reader.names(),
                "a mapping of parameters",
                |name| without_flag(workload, name),
                problems,
            )?),
        };
        let (mut keys, wrong) = reader.read(&self.defaults, own.as_ref(), problems);
        if let Some(time) = self.time {
            keys.retain(|key| key.name != "time");
            let value = Value { text: time.to_string(), at: At::default() };
            keys.push(reader.swept("time", "--time".to_owned(), value));
        }
        if let Some(node) = own
            .as_ref()
            .filter(|own| is_http && own.get("response").is_some())
            .and_then(|own| own.get("path"))
        {
            contradiction(node.at, &path, problems);
        }
        let of = |name: &str| keys.iter().find(|key| key.name == name);
        if let (Some(response), Some(server)) = (of("response"), of("server")) {
            unsized_answers(
                &response.values,
                &response.key,
                &server.values,
                self.vocabulary,
                problems,
            );
        }
        let is_searched = search.is_some();
        let mut search = search.flatten();
        let mut chosen = chosen;
        if let Some(search) = &mut search {
            search.set(&mut keys, &mut reader, problems);
            if let (Some(paths), Some(on)) = (self.paths, &mut chosen) {
                let (with, without, note) = search.on(on, paths, problems);
                *on = with;
                self.left_out.extend(without);
                self.notes.extend(note);
            }
        }
        let mut maker = Maker {
            name: &key.text,
            workload,
            command: &mut command,
            keys: &keys,
            at: key.at,
            path: &path,
            vocabulary: self.vocabulary,
            seed: self.seed,
        };
        let is_broken = wrong > 0 || is_searched && problems.count() > before;
        let chosen = chosen.filter(|_| !is_broken);
        if let (Some(search), None) = (&search, &chosen)
            && let Some(point) = maker.first()
        {
            // What is wrong with the search for a job, too.
            search.spec(workload, &point.job, problems);
        }
        let chosen = chosen?;
        let points = keys.iter().fold(1usize, |n, key| n.saturating_mul(key.len()));
        let points = points.saturating_mul(1 + peers.as_ref().map_or(0, Peers::count));
        if let Some(found) = self.too_many(points, chosen.len()) {
            problems.add(key.at, &path, found, "at most 100 000 cells");
            return None;
        }
        let mut points = maker.make(problems);
        let says = |name: &str| keys.iter().any(|key| key.name == name);
        if self.short_times.is_some() && search.is_none() && !says_window(says) {
            self.unsaid_windows.insert(key.text.clone(), !says("interval"));
        }
        for point in &mut points {
            if let Some(times) = self.short_times.filter(|_| search.is_none()) {
                times.suit(&mut point.job, says);
            }
            point.search = search.as_ref().and_then(|it| it.spec(workload, &point.job, problems));
            if let (Some(spec), Some(times)) = (&mut point.search, self.short_times) {
                times.suit_search(spec, &mut point.job, says);
            }
        }
        let theirs =
            peers.map(|peers| peers.points(&points, says("time"), self.vocabulary, problems));
        points.extend(theirs.into_iter().flatten());
        Some(Made { points, paths: chosen })
    }

    /// Counts the cells of a workload; of too many in all, what was found.
    fn too_many(&mut self, points: usize, paths: usize) -> Option<String> {
        self.cells = self.cells.saturating_add(points.saturating_mul(paths.max(1)));
        (self.cells > MOST_CELLS)
            .then(|| format!("{points} points on {paths} paths, {} cells so far", self.cells))
    }

    /// The paths that `paths:` of a workload selects; all without it.
    fn chosen(
        &self,
        globs: Option<&Node>,
        key: &str,
        problems: &mut Problems,
    ) -> Option<Vec<usize>> {
        let Some(node) = globs else {
            return Some((0..self.paths.map_or(0, <[Path]>::len)).collect());
        };
        let list = match &node.kind {
            Kind::List(list) if !list.is_empty() => list.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let Some(paths) = self.paths else {
            for (text, glob) in list.iter().filter_map(|glob| Some((glob.text()?, glob))) {
                let known = |tried: &[&str]| {
                    let matcher = WildMatch::new(text);
                    tried.iter().any(|name| matcher.matches(name)) || variants::may_be(text, tried)
                };
                if let Some(tried) = self.tried.filter(|tried| !known(tried)) {
                    problems.unknown(glob.at, key, text, tried);
                }
            }
            return Some(Vec::new());
        };
        let mut chosen = vec![false; paths.len()];
        let before = problems.count();
        for glob in list {
            let Some(text) = glob.text() else {
                problems.add(
                    glob.at,
                    key,
                    glob.shown(),
                    "names of paths, `*` standing for any characters",
                );
                continue;
            };
            let matcher = WildMatch::new(text);
            let found: Vec<usize> =
                (0..paths.len()).filter(|i| matcher.matches(&paths[*i].name)).collect();
            if found.is_empty() {
                variants::unknown(glob.at, key, text, paths, problems);
            }
            for index in found {
                chosen[index] = true;
            }
        }
        let chosen = (0..paths.len()).filter(|i| chosen[*i]).collect();
        (problems.count() == before).then_some(chosen)
    }
}
