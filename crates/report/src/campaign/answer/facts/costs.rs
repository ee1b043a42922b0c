//! The CPU time that each path spends on a request, and the part of its proxies.

use hopbench_analysis::{CellSummary, FigureSummary, Summary, WorkloadSummary};

use super::super::tables::Value;
use super::super::text::short;
use super::fact::Fact;
use crate::number::counted;

/// More paths than this are counted; the dearest are told.
const MOST: usize = 5;

/// The costs of the workload that says most: one through proxies, one of requests.
pub(in super::super) fn fact(summary: &Summary) -> Option<Fact> {
    let candidates =
        summary.workloads.iter().filter_map(|workload| Some((workload, cost(workload)?)));
    let best =
        candidates.reduce(|best, next| if weight(next) > weight(best) { next } else { best });
    let (workload, figure) = best?;
    let points = workload.points();
    let point = points.last().copied().unwrap_or_default();
    let here = |cell: &&CellSummary| !cell.is_twin && cell.point_label == point;
    let named = |text: String| {
        let at = if point.is_empty() { String::new() } else { format!(" at {point}") };
        Fact { label: label(figure.name), text: format!("{}{at}: {text}", workload.name) }
    };
    if let Some(text) = compared(summary, workload, figure, point) {
        return Some(named(text));
    }
    let mut told: Vec<(f64, String)> = Vec::new();
    for cell in workload.cells.iter().filter(here) {
        let Some(estimate) = cell.figure(figure.name) else { continue };
        let spent = short(figure.name, estimate.spread.median);
        let proxies = proxies(workload).and_then(|proxies| cell.figure(proxies.name));
        let of_proxies = proxies.map_or(String::new(), |proxies| {
            format!(" (proxies {})", short(figure.name, proxies.spread.median))
        });
        told.push((estimate.spread.median, format!("{} {spent}{of_proxies}", cell.path)));
    }
    if told.is_empty() {
        return None;
    }
    let left_out = told.len().saturating_sub(MOST);
    if left_out > 0 {
        // The first is the one that the others are read against.
        let mut rest = told.split_off(1);
        rest.sort_by(|a, b| b.0.total_cmp(&a.0));
        rest.truncate(MOST - 1);
        told.extend(rest);
    }
    let each: Vec<String> = told.into_iter().map(|(_, text)| text).collect();
    let more = if left_out > 0 {
        format!(" and {}", counted(left_out as u64, "cheaper one", "cheaper ones"))
    } else {
        String::new()
    };
    Some(named(format!("{}{more}", each.join(", "))))
}

/// Of a run with subjects, by how much each path's costs differ from those with the first subject;
/// `None` of other runs. `sidecars.new +11 ±6 % (442 us to 483 us), gateway.new not decided (...)`.
fn compared(
    summary: &Summary,
    workload: &WorkloadSummary,
    figure: &FigureSummary,
    point: &str,
) -> Option<String> {
    let here = || workload.cells.iter().filter(|cell| !cell.is_twin && cell.point_label == point);
    let one = |cell: &CellSummary| {
        let base = summary.paths[cell.path_index].compared_with.as_ref()?;
        let own = cell.figure(figure.name)?;
        let base = here().find(|other| other.path == *base)?.figure(figure.name)?;
        let value = Value::of(own.ratio.as_ref()?);
        let spent = [base, own].map(|one| short(figure.name, one.spread.median));
        // The legend is about the tables.
        let verdict = match &value {
            Value::NotDecided => "not decided",
            Value::Late | Value::NoRatio => "no verdict",
            other => other.text(),
        };
        let text = format!("{} {verdict} ({} to {})", cell.path, spent[0], spent[1]);
        Some((matches!(value, Value::Effect { .. }), text))
    };
    let mut all: Vec<(bool, String)> =
        if summary.run.subjects.is_empty() { Vec::new() } else { here().filter_map(one).collect() };
    if all.is_empty() {
        return None;
    }
    // Those that differ first.
    all.sort_by_key(|(differs, _)| !differs);
    let left_out = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    let each: Vec<String> = all.into_iter().map(|(_, text)| text).collect();
    let more = if left_out > 0 { format!(" and {left_out} more") } else { String::new() };
    Some(format!("{}{more}", each.join(", ")))
}

/// CPU time of all ends and proxies for a unit of work.
fn cost(workload: &WorkloadSummary) -> Option<&FigureSummary> {
    workload.figures.iter().find(|figure| figure.name.starts_with("cpu_per_"))
}

/// The part of the proxies.
fn proxies(workload: &WorkloadSummary) -> Option<&FigureSummary> {
    workload.figures.iter().find(|figure| figure.name.starts_with("proxy_cpu_per_"))
}

fn weight((workload, figure): (&WorkloadSummary, &FigureSummary)) -> (bool, bool, bool) {
    (proxies(workload).is_some(), figure.name == "cpu_per_request_ns", workload.traits.is_http())
}

fn label(name: &str) -> &'static str {
    match name {
        "cpu_per_request_ns" => "CPU per request",
        "cpu_per_message_ns" => "CPU per message",
        "cpu_per_connection_ns" => "CPU per connect",
        "cpu_per_packet_ns" => "CPU per packet",
        "cpu_per_kib_ns" => "CPU per KiB",
        _ => "CPU",
    }
}
