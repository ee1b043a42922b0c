//! A plan as text, 80 columns wide.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use hopbench_model::units::Span;
use hopbench_model::{Cell, MeshProvider, Path, Plan, Point, TestbedSpec, Variant, Via};
use hopbench_report::comparison::Bound;
use hopbench_report::number::percent_as_written;
use hopbench_run::looked_at_instead;

use super::estimate::Range;
use super::outlook::Outlook;
use super::queue::too_short;
use super::searches;
use super::testbed::needs;
use super::words::{counted, extent, listed, short, until};

const WIDTH: u16 = 80;
/// Rows of a table; more of them are counted.
const MOST_ROWS: usize = 40;

impl Outlook {
    /// The whole page.
    pub(super) fn page(&self) -> String {
        let plan = &self.plan;
        let mut out = String::new();
        let estimate = self.estimate();
        wrap(&mut out, 0, &format!("{}: {}", plan.name, extent(&estimate)));
        let impossible = plan.cells.len() - self.measurable.len();
        if impossible > 0 {
            let _ = writeln!(
                out,
                "{} more cannot run here, see below",
                counted(impossible as u64, "cell")
            );
        }
        let wanted = self.estimate_if_nothing_missing();
        if self.possible.len() > self.measurable.len() {
            wrap(&mut out, 0, &format!("if nothing were missing: {}", extent(&wanted)));
        }
        // Where nothing can run, no number of rounds says anything of the rule.
        let rounds = if self.measurable.is_empty() { wanted.rounds } else { estimate.rounds };
        let workload_heads = ["workload", "kind", "points", "paths", "trial", "swept"];
        let mut rows = about(plan, self.seed, &self.nodes, rounds);
        rows.extend(profiles(plan, &self.profiled_of(&self.measurable), estimate.profile_ns));
        table(&mut out, &[], rows);
        table(&mut out, &["path", "way", "needs"], paths(plan));
        table(&mut out, &["variant", "paths", "what its proxies do"], variants(plan));
        table(&mut out, &workload_heads, workloads(plan));
        table(&mut out, &["search", "for", "on"], searches::rows(plan));
        let needs = self.needs.iter().map(|need| {
            let who = need.path.clone().unwrap_or_else(|| "everything".to_owned());
            (format!("{}: {}{}", need.what, need.why, need.advice()), who)
        });
        let cells = self
            .unsupported
            .iter()
            .map(|(path, workload, why)| (why.clone(), format!("{workload} on {path}")));
        paragraphs(&mut out, "cannot run here", needs.chain(cells));
        let idle = self
            .without_effect()
            .map(|(path, setting, why)| (format!("{setting}: {why}"), path.to_owned()));
        paragraphs(&mut out, "changes nothing", idle);
        for (title, lines) in [
            ("compared with nothing", &self.uncompared),
            ("too short", &too_short(plan)),
            ("left out", &self.notes),
        ] {
            if !lines.is_empty() {
                let _ = writeln!(out, "\n{title}");
            }
            lines.iter().for_each(|line| wrap(&mut out, 2, line));
        }
        out
    }
}

/// Who is concerned, and the reason once for all of them.
fn paragraphs(out: &mut String, title: &str, reasons: impl Iterator<Item = (String, String)>) {
    let mut grouped: Vec<(String, Vec<String>)> = Vec::new();
    for (why, who) in reasons {
        match grouped.iter_mut().find(|(known, _)| *known == why) {
            Some((_, all)) => all.push(who),
            None => grouped.push((why, vec![who])),
        }
    }
    if !grouped.is_empty() {
        let _ = writeln!(out, "\n{title}");
    }
    for (why, who) in grouped {
        wrap(out, 2, &listed(&who));
        wrap(out, 4, &why);
    }
}

/// Words on lines of at most 80 columns.
fn wrap(out: &mut String, indent: usize, text: &str) {
    for line in hopbench_report::wrap(text, usize::from(WIDTH) - indent) {
        let _ = writeln!(out, "{:indent$}{line}", "");
    }
}

/// The plan as a whole.
fn about(
    plan: &Plan,
    seed: Option<u64>,
    nodes: &BTreeMap<String, String>,
    rounds: Range,
) -> Vec<Vec<String>> {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows: Vec<Vec<String>> = super::testbed::rows(plan, nodes)
        .into_iter()
        .map(|(name, value)| row(name, value))
        .collect();
    for subject in &plan.subjects {
        let bounds: Vec<String> = Bound::of_subject(subject).iter().map(Bound::to_string).collect();
        let bounds = match bounds.is_empty() {
            true => String::new(),
            false => format!("; fails on {}", bounds.join(", ")),
        };
        let set_up = subject.changes().set_up();
        rows.push(row("subject", format!("{}: {set_up}{bounds}", subject.name)));
    }
    match plan.subjects.first() {
        Some(first) => {
            rows.push(row("baseline", format!("each path as {} has it", first.name)));
            if plan.references().twins().next().is_some() {
                let text = "each of those once more; what they differ by is noise";
                rows.push(row("A/A", text.to_owned()));
            }
        }
        None => {
            rows.push(row("baseline", plan.baseline.clone().unwrap_or_else(|| "none".to_owned())));
        }
    }
    rows.extend(plan.twin.as_ref().map(|twin| {
        row("A/A", format!("{twin}: the baseline once more; what they differ by is noise"))
    }));
    if plan.minimum_effect > 0.0 {
        rows.push(row(
            "effect",
            format!(
                "differences below {} are of no interest",
                percent_as_written(plan.minimum_effect)
            ),
        ));
    }
    let budgeted = if plan.has_rounds() { "rounds" } else { "searches" };
    rows.extend(
        plan.budget_ns.map(|ns| row("budget", format!("{} for the {budgeted}", Span(ns).brief()))),
    );
    rows.extend(plan.stop.as_ref().map(|rule| row("rounds", until(rule, plan.rounds, rounds))));
    rows.extend(looked_at_instead(plan).into_iter().map(|instead| row("", instead)));
    rows.push(row(
        "seed",
        seed.map_or_else(|| "chosen at the start".to_owned(), |seed| seed.to_string()),
    ));
    rows
}

/// The cells that are profiled, and the time that it takes, ns; nothing without any.
fn profiles(plan: &Plan, cells: &[Cell], time_ns: u64) -> Option<Vec<String>> {
    let name = |cell: &Cell| {
        let (path, point) = plan.at(*cell);
        format!("{}/{}", path.name, point.workload)
    };
    let names: Vec<String> = cells.iter().map(name).collect();
    (!names.is_empty()).then(|| {
        let trials = counted(names.len() as u64, "extra trial");
        let text = format!("{trials} at the end, about {}: {}", short(time_ns), listed(&names));
        vec!["profiles".to_owned(), text]
    })
}

fn paths(plan: &Plan) -> Vec<Vec<String>> {
    let mut programs: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); plan.paths.len()];
    for cell in &plan.cells {
        let (_, point) = plan.at(*cell);
        if !point.server.is_agent() {
            programs[cell.path].insert(&point.server.program);
        }
        programs[cell.path].extend(point.peer.as_ref().map(|peer| peer.tool.as_str()));
    }
    let row = |(path, programs): (&Path, BTreeSet<&str>)| {
        let count = |n: u32| if n > 1 { format!(" x {n}") } else { String::new() };
        let (from, to) = (
            format!("{}{}", path.from, count(path.clients)),
            format!("{}{}", path.to, count(path.backends)),
        );
        vec![
            path.name.clone(),
            format!("{from} -> {to}{}", between(path)),
            needs(&plan.testbed, path, programs),
        ]
    };
    plan.paths.iter().zip(programs).map(row).collect()
}

/// What is said of a path behind its ends: ` via cluster-ip, mesh both`; nothing of one that goes
/// straight.
fn between(path: &Path) -> String {
    let way = path.way();
    match way.strip_prefix("direct").filter(|_| path.via == Via::Direct) {
        Some(rest) => rest.to_owned(),
        None => format!(" via {way}"),
    }
}

/// The variants of the paths, with how many have them.
fn variants(plan: &Plan) -> Vec<Vec<String>> {
    let mut found: Vec<(&Variant, u64)> = Vec::new();
    for variant in plan.paths.iter().filter_map(|path| path.variant.as_ref()) {
        match found.iter_mut().find(|(known, _)| *known == variant) {
            Some((_, paths)) => *paths += 1,
            None => found.push((variant, 1)),
        }
    }
    let row = |(variant, paths): (&Variant, u64)| {
        vec![variant.name.clone(), paths.to_string(), set_up(&plan.testbed, variant)]
    };
    found.into_iter().map(row).collect()
}

/// What the proxies of a variant do. Of those of others it is the control plane that decides, but
/// for what a variant can say to it: `as istio sets it, 2 workers`.
fn set_up(testbed: &TestbedSpec, variant: &Variant) -> String {
    let provider = match testbed {
        TestbedSpec::Kubernetes(spec) => spec.mesh.provider,
        TestbedSpec::Lab(_) | TestbedSpec::Hosts(_) => MeshProvider::Envoy,
    };
    if provider == MeshProvider::Envoy {
        return variant.summary();
    }
    let mut out = format!("as {} sets it", provider.name());
    if !provider.is_on_nodes() {
        out.push_str(&format!(", {}", counted(u64::from(variant.concurrency), "worker")));
    }
    for (key, value) in &variant.annotations {
        out.push_str(&format!(", annotation {key}: {value}"));
    }
    out
}

fn workloads(plan: &Plan) -> Vec<Vec<String>> {
    let row = |points: &[Point]| {
        let workload = &points[0].workload;
        let is_of = |cell: &&Cell| plan.points[cell.point].workload == *workload;
        let on = plan.cells.iter().filter(is_of).count();
        let trial = |p: &Point| p.job.timing.warmup_ns.saturating_add(p.job.timing.window_ns);
        let least = points.iter().map(trial).min().map_or_else(String::new, short);
        let most = points.iter().map(trial).max().map_or_else(String::new, short);
        vec![
            workload.clone(),
            points[0].job.workload.clone(),
            points.len().to_string(),
            (on / points.len()).to_string(),
            if least == most { most } else { format!("{least} to {most}") },
            swept(points),
        ]
    };
    plan.points.chunk_by(|a, b| a.workload == b.workload).map(row).collect()
}

/// The swept keys with their values.
fn swept(points: &[Point]) -> String {
    let keys = points.first().map(|p| p.point.keys().collect::<Vec<_>>()).unwrap_or_default();
    let values = |key: &String| {
        let mut out: Vec<String> = Vec::new();
        for value in points.iter().filter_map(|p| p.point.get(key)) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if out.last() != Some(&text) && !out.contains(&text) {
                out.push(text);
            }
        }
        format!("{key} {}", listed(&out))
    };
    let list: Vec<String> = keys.into_iter().map(values).collect();
    if list.is_empty() { "-".to_owned() } else { list.join("; ") }
}

/// A table below an empty line; nothing without rows.
fn table(out: &mut String, heads: &[&str], mut rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let more = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    if !heads.is_empty() {
        table.set_header(heads);
    }
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    // Names are not broken, as long as they leave half of the line to the rest.
    let name = table.column_max_content_widths().first().copied().unwrap_or(0);
    if let Some(column) = table.column_mut(0).filter(|_| name <= WIDTH / 2) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    out.push('\n');
    for line in table.lines() {
        let _ = writeln!(out, "{}", line.trim_end());
    }
    if more > 0 {
        let _ = writeln!(out, "and {more} more");
    }
}
