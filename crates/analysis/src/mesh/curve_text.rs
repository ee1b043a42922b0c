//! A curve in words.

use hopbench_model::number::by_name;
use hopbench_stats::FEWEST_PLACES;

use super::over::Over;
use crate::summary::{CurvePoint, CurveSummary, LineSummary, Resource};
use crate::text::load_text::saturated;
use crate::text::{Scale, interval_text};

/// A point further from the line than this share of its value makes the line doubtful.
const FAR: f64 = 0.15;

/// More points than this are counted, not listed; the other formats have them.
const MOST_LISTED: usize = 8;

/// `server-sidecar: idle 0.010 cores [0.008, 0.012], 62.0 us [58.0, 66.0] CPU a request between
/// 100/s and 4000/s`. Where there is no line the points: `server-sidecar: 0.210 cores at 3100/s
/// (connections=8), ...`.
pub(crate) fn text(curve: &CurveSummary, over: Over, can_be_line: bool) -> String {
    let together =
        if curve.proxies > 1 { format!(", {} together", curve.proxies) } else { String::new() };
    let name = format!("{}{together}{}", curve.proxy, curve.place());
    let own = match &curve.line {
        Some(line) => fitted(curve, line, over),
        None => listed(curve, over, can_be_line),
    };
    format!("{name}: {own}{}", not_carried(curve))
}

/// The points at which the path is saturated; empty where it is at none.
fn not_carried(curve: &CurveSummary) -> String {
    let one = |point: &CurvePoint| {
        Some(format!("; {} at {}", saturated(point.saturated_per_s?), point.label()))
    };
    curve.points.iter().filter_map(one).collect()
}

fn fitted(curve: &CurveSummary, line: &LineSummary, over: Over) -> String {
    let mut parts = Vec::new();
    let (at_rest, what) = match curve.resource {
        Resource::Cores => ("idle", " CPU"),
        _ => ("allocated at rest", ""),
    };
    let measured = measured(curve);
    if !line.is_near_rest() {
        parts.extend(measured);
    } else {
        let measured = measured.map_or(String::new(), |text| format!(" ({text})"));
        if line.intercept > 0.0 {
            let idle = match line.intercept_low.zip(line.intercept_high) {
                Some((low, high)) => with_ends(curve.resource, line.intercept, low.max(0.0), high),
                None => amount(curve.resource, line.intercept),
            };
            parts.push(format!("{at_rest} {idle}{measured}"));
        } else {
            parts.push(format!("{at_rest} not seen: below what the fit can tell{measured}"));
        }
    }
    // Cores over work a second are CPU seconds for each.
    let (name, factor) =
        if curve.resource == Resource::Cores { ("cpu_ns", 1e9) } else { ("allocated_bytes", 1.0) };
    let slope = match line.slope_low.zip(line.slope_high) {
        Some((low, high)) => {
            Scale::with_ends(name, line.slope * factor, low * factor, high * factor)
        }
        None => Scale::one(name, line.slope * factor),
    };
    let (from, to) = (over.text(line.from), over.text(line.to));
    parts.push(format!("{slope}{what} a {} between {from} and {to}", over.unit()));
    let far = match line.off_ratio {
        off if off > FAR => {
            format!("; not a straight line: it misses a point by {:.0} %", off * 100.0)
        }
        _ => String::new(),
    };
    format!("{}{far}", parts.join(", "))
}

fn listed(curve: &CurveSummary, over: Over, can_be_line: bool) -> String {
    let what = match curve.resource {
        Resource::Cores => "",
        Resource::RssBytes => "resident, largest so far: ",
        Resource::AllocatedBytes => "allocated: ",
    };
    let by_load = matches!(over, Over::Connections) || can_be_line;
    let one = |point: &CurvePoint| {
        let label = if by_load { String::new() } else { format!(" ({})", point.label()) };
        let unit = if matches!(over, Over::Connections) { " connections" } else { "" };
        format!(
            "{} at {}{unit}{label}",
            amount(curve.resource, point.spread.median),
            over.text(point.x)
        )
    };
    let mut few: Vec<String> = curve.points.iter().take(MOST_LISTED).map(one).collect();
    let more = curve.points.len().saturating_sub(MOST_LISTED);
    if more > 0 {
        few.push(format!("and {more} more"));
    }
    few.extend(measured(curve));
    let why = if can_be_line {
        format!("; a line needs {FEWEST_PLACES} different loads")
    } else {
        String::new()
    };
    format!("{what}{}{why}", few.join(", "))
}

fn measured(curve: &CurveSummary) -> Option<String> {
    curve
        .measured_idle
        .map(|idle| format!("{} measured without traffic", amount(curve.resource, idle)))
}

/// With its unit.
fn amount(resource: Resource, value: f64) -> String {
    match resource {
        Resource::Cores => format!("{value:.3} cores"),
        _ => by_name(resource.name(), value),
    }
}

/// With the ends of its interval.
fn with_ends(resource: Resource, value: f64, low: f64, high: f64) -> String {
    match resource {
        Resource::Cores => {
            let ends = interval_text::of(value, low, high, |value| format!("{value:.3}"));
            format!("{value:.3} cores [{}]", ends.join(", "))
        }
        _ => Scale::with_ends(resource.name(), value, low, high),
    }
}
