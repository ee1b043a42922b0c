//! The resolver: from a scenario's text to a plan, or to all of its problems.

mod only;
pub(crate) mod rounds;
mod subjects;
mod twin;
mod windows;

use std::collections::BTreeSet;
use std::ops::Range;

use hopbench_model::secret::Secrets;
use hopbench_model::units::Span;
use hopbench_model::{Cell, PLAN_SCHEMA, Path, Plan, Subject, TestbedSpec, Via};

use crate::document::fields::{Fields, NAME, is_name, named};
use crate::document::node::{At, Kind, Node};
use crate::document::problem::{Problems, ScenarioProblem};
use crate::document::{share, yaml};
use crate::paths::mesh::Mesh;
use crate::paths::place::Words;
use crate::paths::{listed, matrix, sidecars, variants};
use crate::testbed::reach::ClusterOverrides;
use crate::testbed::{Blocks, Testbed};
use crate::vocabulary::Vocabularies;
use crate::workload::Shared;
use crate::workload::short_times::{ShortTimes, UnsaidWindows};
use rounds::Extent;

/// The keys of a scenario.
#[rustfmt::skip]
pub(crate) const KEYS: &[&str] = &[
    "name", "testbed", "budget", "rounds", "stop", "seed", "baseline", "a-a", "minimum-effect",
    "stay-connected", "subjects", "paths", "places", "mesh", "workloads",
];
/// Keys of workloads that a scenario can say once for all of them.
pub(crate) const DEFAULT_KEYS: &[&str] =
    &["time", "warmup", "interval", "timeout", "engine", "cpu"];

/// The settings of the command line, which override the scenario's.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--rounds`.
    pub rounds: Option<u32>,
    /// `--budget`: time for the rounds.
    pub budget: Option<Span>,
    /// `--time`: the measured window of every trial, but for those that end with their count.
    pub time: Option<Span>,
    /// `--only`: cells that one of them selects are kept; all without any.
    pub only: Vec<String>,
    /// `--subject`: the subjects instead of the scenario's, `NAME=CHANGES` each.
    pub subjects: Vec<String>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// The seed where neither the command line nor the scenario says one.
    pub new_seed: u64,
    /// `--testbed`; without it, the scenario's first, and a lab where it says none.
    pub testbed: Option<TestbedChoice>,
    /// How to reach the cluster, for clusters only.
    pub cluster: ClusterOverrides,
}

/// Which testbed a scenario runs on.
#[derive(Debug, Clone)]
pub enum TestbedChoice {
    /// That of this name, as the scenario says it; one of which it says nothing is as usual.
    Named(String),
    /// What a file says, in place of what the scenario says.
    File {
        /// The file, as it was named.
        name: String,
        /// What would be under `testbed:`.
        text: String,
    },
}

/// The result of reading a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// All that a run needs.
    pub plan: Plan,
    /// What the scenario says that does not hold on the testbed that was chosen, a line each.
    pub notes: Vec<String>,
    /// Its secrets, which the plan does not have.
    pub secrets: Secrets,
    /// The scenario as it was written, without them.
    pub text: String,
}

/// Reads a scenario. `file` is for messages only.
///
/// # Errors
/// All that is wrong with it, in the file's order; what is wrong with the overrides comes first.
pub fn read(
    file: &str,
    text: &str,
    vocabularies: &Vocabularies,
    overrides: &Overrides,
) -> Result<Resolved, Vec<ScenarioProblem>> {
    let mut problems = Problems::new(file);
    let draft = yaml::load(text, &mut problems)
        .and_then(|root| resolve(&root, vocabularies, overrides, &mut problems));
    let resolved = match draft {
        Some(Draft { resolved, pairs, unsaid_windows, is_default }) if problems.count() == 0 => {
            let Resolved { plan, notes, secrets, .. } = resolved;
            let text = secrets.redact(text);
            let baseline = plan.baseline.clone();
            only::keep(plan, &overrides.only, &mut problems).map(|plan| {
                let unselected = only::without(baseline.as_deref(), &plan);
                let notes = notes.into_iter().chain(unselected).collect();
                let mut plan =
                    if plan.subjects.is_empty() { plan } else { subjects::split(plan, pairs) };
                if is_default {
                    rounds::leave_searches(&mut plan);
                }
                // Last, since they depend on how many cells there are.
                windows::fill(&mut plan, &unsaid_windows);
                Resolved { plan, notes, secrets, text }
            })
        }
        other => other.map(|draft| draft.resolved),
    };
    problems.finish(resolved)
}

/// What became of a scenario before `--only`, and before it is split by subjects.
struct Draft {
    resolved: Resolved,
    /// Whether what others are compared with is measured twice.
    pairs: bool,
    unsaid_windows: UnsaidWindows,
    /// Whether the budget is the one that nobody said.
    is_default: bool,
}

fn resolve(
    root: &Node,
    vocabularies: &Vocabularies,
    overrides: &Overrides,
    problems: &mut Problems,
) -> Option<Draft> {
    let known = [KEYS, DEFAULT_KEYS].concat();
    let fields = Fields::read(
        root,
        "",
        &known,
        "a scenario: a mapping with name, paths and workloads",
        problems,
    )?;
    let name = name(root, &fields, problems);
    let Extent { rounds, budget_ns, stop, is_short, is_default } =
        rounds::read(&fields, (overrides.rounds, overrides.budget), problems);
    let seed = fields.parsed("seed", "a whole number up to 18446744073709551615", problems);
    let seed = overrides.seed.or(seed).unwrap_or(overrides.new_seed);
    let testbed = testbed(&fields, overrides, problems)?;
    let vocabulary = &testbed.vocabulary(vocabularies);
    let words = Words {
        vocabulary,
        nodes: testbed.nodes(),
        is_cluster: testbed.provider().is_some(),
        has_gateway: testbed.has_gateway(),
        has_objects: testbed.has_objects(),
        gateways: testbed.gateways(),
    };
    let paths = all_paths(&fields, &words, problems);
    // Who names a path that is not even tried is wrong, whatever else is.
    let tried = if paths.is_none() { tried(&fields) } else { None };
    let subjects = all_subjects(&fields, overrides, (&words, &testbed), paths.as_deref(), problems);
    let baseline = baseline(&fields, paths.as_deref(), tried.as_deref(), problems);
    let (pairs, minimum_effect) = comparison(&fields, problems);
    let stay_connected =
        fields.parsed("stay-connected", "true or false", problems).unwrap_or(false);
    let named_paths: Option<Vec<Path>> =
        paths.as_ref().map(|list| list.iter().map(|(_, path)| path.clone()).collect());
    let short_times = match testbed.is_lab() {
        true if testbed.has_shaped_links() => ShortTimes::SHAPED,
        true => ShortTimes::NEAR,
        false => ShortTimes::FAR,
    };
    let mut shared = Shared {
        vocabulary,
        defaults: fields
            .entries()
            .filter(|(name, ..)| DEFAULT_KEYS.contains(name))
            .map(|(n, _, v)| (n, v))
            .collect(),
        time: overrides.time,
        short_times: is_short.then_some(short_times),
        unsaid_windows: UnsaidWindows::new(),
        seed,
        paths: named_paths.as_deref(),
        tried: tried.as_deref(),
        cells: 0,
        notes: Vec::new(),
        left_out: BTreeSet::new(),
    };
    let Some(workloads) = fields.get("workloads") else {
        problems.add(
            root.at,
            "",
            "no `workloads`",
            "at least one, like workloads: {latency: {rr: {size: 64}}}",
        );
        return None;
    };
    let entries = named(workloads, "workloads", "a mapping from names to workloads", problems)?;
    let (mut points, mut measured) = (Vec::new(), Vec::new());
    let before = problems.count();
    for (key, node) in entries {
        if let Some(made) = shared.read(key, node, problems) {
            let first = points.len();
            points.extend(made.points);
            measured.push((made.paths, first..points.len()));
        }
    }
    let Shared { notes, left_out, unsaid_windows, .. } = shared;
    rounds::check_metric(&fields, stop.as_ref(), &points, problems);
    let (paths, named_paths) = (paths?, named_paths?);
    // Also of points that are on no path: the text has them.
    let mut secrets = Secrets::default();
    points.iter_mut().for_each(|point| secrets.take(&point.workload, &mut point.job));
    let cells = cells(named_paths.len(), &measured);
    if problems.count() == before {
        let used: BTreeSet<usize> =
            left_out.into_iter().chain(cells.iter().map(|cell| cell.path)).collect();
        refuse_idle(&paths, &used, problems);
    }
    let nodes: BTreeSet<&str> = named_paths.iter().flat_map(|path| path.nodes()).collect();
    let (testbed, idle) = testbed.with(&nodes);
    subjects::check_size(&fields, &subjects, &named_paths, &testbed, problems);
    let plan = Plan {
        schema: PLAN_SCHEMA.to_owned(),
        name: name?,
        testbed,
        paths: named_paths.clone(),
        points,
        cells,
        rounds,
        budget_ns,
        baseline,
        seed,
        twin: None,
        stop,
        minimum_effect,
        stay_connected,
        subjects,
    };
    let kept = vec![true; plan.cells.len()];
    let wanted = plan.baseline.clone();
    let mut plan = only::reduced(plan, &kept);
    let unsearched = only::unsearched(wanted.as_deref(), &plan);
    if pairs && plan.subjects.is_empty() {
        twin::add(&mut plan);
    }
    let of_subjects = subjects::note(plan.baseline.as_deref(), &plan.subjects)
        .into_iter()
        .chain(subjects::alike(&plan.subjects));
    let notes = idle.into_iter().chain(notes).chain(unsearched).chain(of_subjects).collect();
    let resolved = Resolved { plan, notes, secrets, text: String::new() };
    Some(Draft { resolved, pairs, unsaid_windows, is_default })
}

fn name(root: &Node, fields: &Fields<'_>, problems: &mut Problems) -> Option<String> {
    if fields.get("name").is_none() {
        problems.add(root.at, "", "no `name`", NAME);
    }
    fields.checked("name", NAME, |name: &String| is_name(name), problems)
}

/// The cells, by path. `measured`: points, and the paths that they are measured on.
fn cells(paths: usize, measured: &[(Vec<usize>, Range<usize>)]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for path in 0..paths {
        for (_, points) in measured.iter().filter(|(on, _)| on.binary_search(&path).is_ok()) {
            cells.extend(points.clone().map(|point| Cell { path, point }));
        }
    }
    cells
}

/// The first path that nothing uses is a problem.
fn refuse_idle(paths: &[(At, Path)], used: &BTreeSet<usize>, problems: &mut Problems) {
    if let Some((_, (at, path))) = paths.iter().enumerate().find(|(index, _)| !used.contains(index))
    {
        let key = format!("paths.{}", path.name);
        problems.add(*at, &key, "no workload on it", "at least one that has it in its paths");
    }
}

/// Reads a testbed without a scenario; its nodes are those that it says something of.
///
/// # Errors
/// All that is wrong with it.
pub fn read_testbed(
    choice: &TestbedChoice,
    cluster: &ClusterOverrides,
) -> Result<TestbedSpec, Vec<ScenarioProblem>> {
    let mut problems = Problems::new("");
    let (testbed, cluster) = (Some(choice.clone()), cluster.clone());
    let overrides = Overrides { testbed, cluster, ..Overrides::default() };
    let Some(testbed) = chosen(None, &overrides, &mut problems) else {
        return problems.finish(None);
    };
    let nodes = testbed
        .nodes()
        .listed
        .unwrap_or_default()
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    let (spec, _) = testbed.with(&nodes.iter().map(String::as_str).collect());
    problems.finish(Some(spec))
}

/// The testbed that the command line asks for, or the scenario; `None` after a problem that leaves
/// none, so that nobody knows which words hold.
fn testbed(fields: &Fields<'_>, overrides: &Overrides, problems: &mut Problems) -> Option<Testbed> {
    let own = fields.get("testbed").map(|node| Blocks::read(node, "testbed", problems));
    chosen(own, overrides, problems)
}

fn chosen(own: Option<Blocks>, overrides: &Overrides, problems: &mut Problems) -> Option<Testbed> {
    let mut testbed = match (&overrides.testbed, own) {
        (None, Some(own)) if own.are_none() => return None,
        (None, own) => own.unwrap_or_default().choose(None, None, problems),
        (Some(TestbedChoice::Named(name)), own) => {
            own.unwrap_or_default().choose(Some(name), None, problems)
        }
        (Some(TestbedChoice::File { name, text }), own) => {
            let mut of_file = Problems::new(name);
            let blocks =
                yaml::load(text, &mut of_file).map(|root| Blocks::read(&root, "", &mut of_file));
            problems.adopt(of_file);
            let blocks = blocks.filter(|blocks| !blocks.are_none())?;
            own.unwrap_or_default().choose(None, Some(blocks), problems)
        }
    };
    testbed.reached(&overrides.cluster, problems);
    Some(testbed)
}

/// The subjects, each of which must be possible on every path.
fn all_subjects(
    fields: &Fields<'_>,
    overrides: &Overrides,
    (words, testbed): (&Words<'_>, &Testbed),
    paths: Option<&[(At, Path)]>,
    problems: &mut Problems,
) -> Vec<Subject> {
    let node = fields.get("subjects");
    let mut silent = Problems::new("");
    let mesh = Mesh::read(fields.get("mesh"), words.has_objects, &mut silent);
    let on = (words, testbed);
    let subjects = crate::subjects::read(node, &overrides.subjects, on, mesh.as_ref(), problems);
    for subject in &subjects {
        for (at, path) in paths.unwrap_or_default() {
            let of = subjects::with(path, subject, false);
            listed::check(&of, *at, &format!("paths.{}", of.name), words, problems);
            sidecars::check(&of, *at, &format!("paths.{}", of.name), words, problems);
        }
    }
    subjects
}

/// Those of `paths` and those of `places`, with the variants of `mesh`; `None` if some of it could
/// not be read.
fn all_paths(
    fields: &Fields<'_>,
    words: &Words<'_>,
    problems: &mut Problems,
) -> Option<Vec<(At, Path)>> {
    let before = problems.count();
    let mut out = Vec::new();
    if let Some(node) = fields.get("paths") {
        out.extend(listed::read(node, words, problems));
    }
    if let Some(node) = fields.get("places") {
        out.extend(matrix::read(node, words, problems));
    }
    if fields.get("paths").is_none() && fields.get("places").is_none() {
        problems.add(
            fields.at,
            "",
            "no `paths`",
            "at least one, like paths: {direct: host@a -> host@b}",
        );
    }
    variants::unique(&out, problems);
    let mesh = Mesh::read(fields.get("mesh"), words.has_objects, problems);
    if problems.count() > before {
        return None;
    }
    let out = variants::split(out, &mesh?, problems);
    variants::unique(&out, problems);
    let out = out.into_iter().map(|(at, path)| match &path.via {
        Via::Gateway(name) if words.is_gateway(name) => {
            let gateway_name = Some(name.clone());
            (at, Path { via: Via::Gateway(String::new()), gateway_name, gateways: None, ..path })
        }
        // It is where it is; a node that the path names has no part in it.
        Via::Gateway(_) if words.has_gateway => {
            (at, Path { via: Via::Gateway(String::new()), gateways: None, ..path })
        }
        _ => (at, path),
    });
    let out = out.collect();
    (problems.count() == before).then_some(out)
}

/// The names under `paths:`, also of those that make no sense; `None` where there are others that
/// only sense gives names.
fn tried<'a>(fields: &Fields<'a>) -> Option<Vec<&'a str>> {
    match &fields.get("paths")?.kind {
        Kind::Map(map) if fields.get("places").is_none() => {
            Some(map.iter().map(|(key, _)| key.text.as_str()).collect())
        }
        _ => None,
    }
}

/// Whether there is to be an A/A pair, and below which share differences are of no interest.
fn comparison(fields: &Fields<'_>, problems: &mut Problems) -> (bool, f64) {
    let pairs = fields.switch("a-a", problems);
    if let (Some(true), None, Some(node)) = (pairs, fields.get("baseline"), fields.get("a-a")) {
        problems.add(
            node.at,
            "a-a",
            "`true` without a baseline",
            "`baseline`, which is measured twice",
        );
    }
    let expected = "a share like 2% or 0.02, 0% to 100%";
    let effect = share::read(fields, "minimum-effect", &(0.0..=1.0), expected, problems);
    (pairs.unwrap_or(true), effect.unwrap_or(0.0))
}

fn baseline(
    fields: &Fields<'_>,
    paths: Option<&[(At, Path)]>,
    tried: Option<&[&str]>,
    problems: &mut Problems,
) -> Option<String> {
    let baseline: String = fields.parsed("baseline", "the name of a path", problems)?;
    if let Some(tried) = tried
        && !variants::may_be(&baseline, tried)
    {
        let at = fields.get("baseline").map_or(fields.at, |node| node.at);
        problems.unknown(at, "baseline", &baseline, tried);
    }
    let paths = paths?.iter().map(|(_, path)| path);
    if paths.clone().all(|path| path.name != baseline) {
        let at = fields.get("baseline").map_or(fields.at, |node| node.at);
        variants::unknown(at, "baseline", &baseline, paths, problems);
    }
    Some(baseline)
}
