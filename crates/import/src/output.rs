//! Files of other tools as a plan with its records.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{
    Cell, EngineKind, Environment, HostsSpec, Job, PLAN_SCHEMA, Pacing, Params, Path, Place, Plan,
    Point, Problem, RECORD_SCHEMA, ROUNDS, Record, Schedule, ServerSpec, TestbedSpec, Timing,
    moment, point_label,
};
use serde_json::{Value, json};

use crate::formats;
use crate::stated::Stated;

/// The name of every plan of imported files.
const NAME: &str = "import";
/// The value of a setting that one file states and another does not.
const NOT_STATED: &str = "not stated";
/// The longest time that a plan can have, s: some 30 years.
const LONGEST_S: f64 = 1e9;

/// One file.
#[derive(Debug, Clone)]
pub struct Given<'a> {
    /// The path that it is about.
    pub path: String,
    /// Its own name, for problems and for the record.
    pub file: String,
    /// Its content.
    pub content: &'a str,
}

/// The files as hopbench keeps results.
#[derive(Debug)]
pub struct Imported {
    /// Their paths, workloads and points.
    pub plan: Plan,
    /// A record for each file, in their order. The run's identity is left empty, and so is the
    /// start where the format has none.
    pub records: Vec<Record>,
    /// Sentences that every reader must see.
    pub notes: Vec<String>,
}

/// A file that was read.
struct Trial<'a> {
    given: &'a Given<'a>,
    tool: &'static str,
    workload: String,
    stated: Stated,
}

/// Reads files. Those of one path that test the same are rounds of one cell, in their order.
/// `tool`: all are of this one. `baseline`: the path that the others are compared with.
///
/// # Errors
/// All that is wrong: a problem for each file that is not read, with its place.
pub fn import(
    files: &[Given<'_>],
    tool: Option<&str>,
    baseline: Option<&str>,
) -> Result<Imported, Vec<Problem>> {
    let (mut trials, mut problems) = (Vec::new(), Vec::new());
    for given in files {
        match formats::read(&given.file, given.content, tool) {
            Ok((tool, stated)) => {
                let workload = stated.kind.workload(tool);
                trials.push(Trial { given, tool, workload, stated });
            }
            Err(problem) => problems.push(problem),
        }
    }
    if let Some(name) = baseline.filter(|name| files.iter().all(|given| given.path != **name)) {
        let known: BTreeSet<&str> = files.iter().map(|given| given.path.as_str()).collect();
        let known: Vec<&str> = known.into_iter().collect();
        let expected = format!("a path of the files: {}", known.join(", "));
        problems.push(Problem::new("--baseline", name, expected));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    arranged(&trials, baseline)
}

/// The trials as cells of a plan.
fn arranged(trials: &[Trial<'_>], baseline: Option<&str>) -> Result<Imported, Vec<Problem>> {
    let varying = varying(trials);
    let (mut paths, mut points): (Vec<Path>, Vec<Point>) = (Vec::new(), Vec::new());
    let mut rounds: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    let mut records = Vec::new();
    for trial in trials {
        let name = &trial.given.path;
        let known = paths.iter().position(|path| path.name == *name);
        let path = known.unwrap_or_else(|| {
            paths.push(path_of(name));
            paths.len() - 1
        });
        let values = point_of(trial, &varying);
        let is_same = |point: &Point| point.workload == trial.workload && point.point == values;
        let known = points.iter().position(is_same);
        let point = known.unwrap_or_else(|| {
            points.push(Point {
                workload: trial.workload.clone(),
                point: values.clone(),
                job: job(&trial.stated),
                server: ServerSpec {
                    program: String::new(),
                    request: String::new(),
                    response_bytes: None,
                },
                search: None,
                peer: None,
            });
            points.len() - 1
        });
        let round = rounds.entry((path, point)).or_default();
        *round += 1;
        if *round > *ROUNDS.end() {
            let found =
                format!("file {round} of {name} {} {}", trial.workload, point_label(&values));
            let expected = format!("at most {} of one cell", ROUNDS.end());
            return Err(vec![Problem::new(&trial.given.file, found, expected)]);
        }
        records.push(record(trial, values, *round));
    }
    let tools: BTreeSet<&str> = trials.iter().map(|trial| trial.tool).collect();
    let tools: Vec<&str> = tools.into_iter().collect();
    let plan = Plan {
        schema: PLAN_SCHEMA.to_owned(),
        name: NAME.to_owned(),
        testbed: TestbedSpec::Hosts(HostsSpec { nodes: Vec::new(), token_file: None }),
        paths,
        points,
        cells: rounds.keys().map(|(path, point)| Cell { path: *path, point: *point }).collect(),
        rounds: rounds.values().copied().max().unwrap_or(1),
        budget_ns: None,
        baseline: baseline.map(str::to_owned),
        twin: None,
        subjects: Vec::new(),
        stop: None,
        minimum_effect: 0.0,
        stay_connected: false,
        seed: 0,
    };
    let notes = vec![format!(
        "imported, not proved: the figures are as {} stated them, and the order of rounds is that \
         of the files",
        tools.join(", ")
    )];
    Ok(Imported { plan, records, notes })
}

/// The settings of each workload in which its files differ. They make its points.
fn varying(trials: &[Trial<'_>]) -> BTreeMap<String, BTreeSet<String>> {
    let mut first: BTreeMap<&str, BTreeMap<String, Value>> = BTreeMap::new();
    let mut out: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for trial in trials {
        let settings = settings(&trial.stated);
        let known = first.entry(&trial.workload).or_insert_with(|| settings.clone());
        let differing = out.entry(trial.workload.clone()).or_default();
        for name in known.keys().chain(settings.keys()) {
            if known.get(name) != settings.get(name) {
                differing.insert(name.clone());
            }
        }
    }
    out
}

/// All settings that were asked for, by name.
fn settings(stated: &Stated) -> BTreeMap<String, Value> {
    let params = stated.params.iter().map(|(name, value)| (name.clone(), value.clone()));
    let connections = stated.connections.map(|count| ("connections".to_owned(), count.into()));
    params.chain(connections).collect()
}

fn point_of(
    trial: &Trial<'_>,
    varying: &BTreeMap<String, BTreeSet<String>>,
) -> BTreeMap<String, Value> {
    let settings = settings(&trial.stated);
    let names = varying.get(&trial.workload).into_iter().flatten();
    names
        .map(|name| {
            let value = settings.get(name).cloned();
            (name.clone(), value.unwrap_or_else(|| NOT_STATED.into()))
        })
        .collect()
}

/// A path of which nothing is known but its name.
fn path_of(name: &str) -> Path {
    let place = || Place {
        network: String::new(),
        node: String::new(),
        more_nodes: Vec::new(),
        runtime: None,
    };
    Path::straight(name, place(), place())
}

fn nanos(seconds: f64) -> u64 {
    (seconds.min(LONGEST_S) * 1e9) as u64
}

/// The job of a plan. What the file does not state is 0, and its schedule is a closed loop; reports
/// show neither.
fn job(stated: &Stated) -> Job {
    let window_ns = nanos(stated.window_s);
    Job {
        workload: stated.kind.name().to_owned(),
        kind: Some(stated.traits()),
        params: Params::from(Value::Object(stated.params.clone())),
        schedule: Schedule::Closed,
        burst: 1,
        engine: EngineKind::Epoll,
        connections: stated.connections.unwrap_or(0),
        local_addresses: Vec::new(),
        threads: 0,
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: None,
        timing: Timing {
            warmup_ns: nanos(stated.warmup_s),
            window_ns,
            interval_ns: window_ns,
            timeout_ns: 0,
        },
        seed: 0,
    }
}

/// The job of a record: only what the file states.
fn stated_job(stated: &Stated) -> Value {
    let mut job = json!({
        "workload": stated.kind.name(),
        "kind": stated.traits(),
        "params": stated.params,
    });
    if let Some(connections) = stated.connections {
        job["connections"] = connections.into();
    }
    if stated.warmup_s > 0.0 {
        job["timing"] = json!({"warmup_ns": nanos(stated.warmup_s)});
    }
    job
}

fn record(trial: &Trial<'_>, point: BTreeMap<String, Value>, round: u32) -> Record {
    let Trial { given, tool, workload, stated } = trial;
    let mut record = bare(stated);
    record.settings.insert("imported from".to_owned(), format!("{} of {tool}", given.file));
    if record.started_at.is_empty() {
        let when = "not stated: the time of the import".to_owned();
        record.settings.insert("started".to_owned(), when);
    }
    Record { path: given.path.clone(), workload: workload.clone(), point, round, ..record }
}

/// The output of a tool for one test, as a record of no run: its figures and settings, and nothing
/// else. The kind of its job begins with `imported-`.
///
/// # Errors
/// What is wrong with the output, with its line.
pub fn stated(tool: &str, output: &str) -> Result<Record, Problem> {
    let name = format!("the output of {tool}");
    formats::read(&name, output, Some(tool)).map(|(_, stated)| bare(&stated))
}

/// The record of what is stated, without the names of its cell.
fn bare(stated: &Stated) -> Record {
    Record {
        schema: RECORD_SCHEMA.to_owned(),
        run_id: String::new(),
        path: String::new(),
        workload: String::new(),
        point: BTreeMap::new(),
        round: 1,
        session: 1,
        started_at: stated.started_s.and_then(moment::utc).unwrap_or_default(),
        window_s: stated.window_s,
        limited_by: String::new(),
        limited_because: String::new(),
        explanation: stated.explanation.clone(),
        metrics: stated.metrics.clone(),
        latency: BTreeMap::new(),
        intervals: stated.intervals.clone(),
        cost: stated.cost.clone(),
        proof: Vec::new(),
        invariants: Vec::new(),
        warnings: stated.warnings.clone(),
        statuses: stated.statuses.clone(),
        errors: stated.errors.clone(),
        settings: stated.settings.clone(),
        job: stated_job(stated),
        environment: Environment { client: stated.client.clone(), ..Environment::default() },
        search: None,
        testbed_changed: None,
        incomplete: None,
        error: None,
    }
}
