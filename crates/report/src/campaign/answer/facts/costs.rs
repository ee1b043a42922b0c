//! The CPU time that each path spends on a request, and the part of its proxies.

use hopbench_analysis::{CellSummary, FigureSummary, Outcome, Summary, WorkloadSummary};

use super::super::tables::Value;
use super::super::text::short;
use super::fact::Fact;
use crate::number::counted;

/// More paths than this are counted; the dearest are told, or those that differ most.
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
    let named = |text: String| {
        let at = if point.is_empty() { String::new() } else { format!(" at {point}") };
        Fact { label: label(figure.name), text: format!("{}{at}: {text}", workload.name) }
    };
    if let Some(text) = compared(summary, workload, figure, point) {
        return Some(named(text));
    }
    let mut told: Vec<(f64, String)> = Vec::new();
    for cell in cells_at(workload, point) {
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

/// Of a run with subjects, which paths cost more or less than with the first subject, and how many
/// are the same, not decided or without a verdict. `sidecars.new +11 ±6 % (442 us to 483 us), 2
/// same`. `None` of other runs, and where there are too few rounds to say so.
fn compared(
    summary: &Summary,
    workload: &WorkloadSummary,
    figure: &FigureSummary,
    point: &str,
) -> Option<String> {
    if summary.run.subjects.is_empty() {
        return None;
    }
    let mut differ: Vec<(f64, String)> = Vec::new();
    let [mut same, mut open, mut unjudged] = [0; 3];
    for cell in cells_at(workload, point) {
        let base = summary.paths[cell.path_index].compared_with.as_ref();
        let base =
            base.and_then(|base| cells_at(workload, point).find(|other| other.path == *base));
        let both = base.map(|base| [base, cell].map(|one| one.figure(figure.name)));
        let Some([Some(base), Some(own)]) = both else { continue };
        let verdict = own.ratio.as_ref().and_then(|ratio| ratio.verdict.as_ref());
        if verdict.is_some_and(|verdict| verdict.outcome == Outcome::TooFewRounds) {
            return None;
        }
        let medians = [base, own].map(|one| one.spread.median);
        match own.ratio.as_ref().map(Value::of) {
            Some(Value::Effect { text, .. }) => {
                let [from, to] = medians.map(|median| short(figure.name, median));
                let size = (medians[1] / medians[0]).ln().abs();
                differ.push((size, format!("{} {text} ({from} to {to})", cell.path)));
            }
            Some(Value::Same(_)) => same += 1,
            Some(Value::NotDecided) => open += 1,
            _ => unjudged += 1,
        }
    }
    // The largest first.
    differ.sort_by(|a, b| b.0.total_cmp(&a.0));
    let more = differ.len().saturating_sub(MOST);
    let mut told: Vec<String> = differ.into_iter().take(MOST).map(|(_, text)| text).collect();
    for (count, what) in [
        (more, "more differ"),
        (same, "same"),
        (open, "not decided"),
        (unjudged, "without a verdict"),
    ] {
        told.extend((count > 0).then(|| format!("{count} {what}")));
    }
    (!told.is_empty()).then(|| told.join(", "))
}

/// The cells of a point, without the baseline's twin.
fn cells_at<'a>(
    workload: &'a WorkloadSummary,
    point: &'a str,
) -> impl Iterator<Item = &'a CellSummary> {
    workload.cells.iter().filter(move |cell| !cell.is_twin && cell.point_label == point)
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
