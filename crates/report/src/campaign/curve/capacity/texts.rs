//! Capacities as texts.

use super::{CapacitySummary, Cost, Need, Resource};
use crate::campaign::formats::safe;
use crate::lines;
use crate::number::{bytes, counted, plain};
use crate::wrap::plain as ascii;

/// One MB, as every report counts memory, and one MiB, as Kubernetes does; bytes.
const MB: f64 = 1e6;
const MIB: f64 = 1_048_576.0;
/// The formats.
const FORMATS: [&str; 3] = ["table", "markdown", "json"];

impl CapacitySummary {
    /// The names of the formats.
    pub const FORMATS: [&'static str; 3] = FORMATS;

    /// In a format of these; ends with a line feed. `None` for another.
    pub fn render(&self, format: &str) -> Option<String> {
        match format {
            "table" => Some(self.text()),
            "markdown" => Some(self.markdown()),
            // Every key is a string and every figure finite: there is nothing that cannot be written.
            "json" => Some(serde_json::to_string_pretty(self).unwrap_or_default() + "\n"),
            _ => None,
        }
    }

    fn text(&self) -> String {
        let mut out = lines(&format!("{}: what the proxies would take at {}", self.name, self.load())) + "\n";
        if self.needs.is_empty() {
            out.push_str("No path of this run has proxies.\n");
        }
        let mut before = "";
        for need in &self.needs {
            if need.path != before {
                out.push_str(&format!("\n{}\n", lines(&need.path)));
                before = &need.path;
            }
            let sentence = format!("{}: {}", need.name(), need.text());
            for (index, line) in crate::wrap::wrap(&ascii(&sentence), crate::WIDTH - 4).iter().enumerate() {
                out.push_str(&format!("{}{line}\n", if index == 0 { "  - " } else { "    " }));
            }
        }
        if self.is_far() {
            out.push_str(&format!("\n{}\n", lines(WARNING)));
        }
        out
    }

    fn markdown(&self) -> String {
        let mut out = format!("# {}: capacity\n\nAt {}.\n", safe(&self.name), self.load());
        if self.needs.is_empty() {
            out.push_str("\nNo path of this run has proxies.\n");
            return out;
        }
        out.push_str("\n| path | workload | proxy | needs | line, 95 % | one trial, 95 % | measured | remark |\n");
        out.push_str("| :-- | :-- | :-- | --: | --: | --: | --: | :-- |\n");
        for need in &self.needs {
            let cells = match &need.cost {
                Some(cost) => [
                    format!("{} {}", need.digits(cost.cost), need.unit(cost.cost)),
                    format!("{} to {}", need.digits(cost.line_low), need.digits(cost.line_high)),
                    format!("{} to {}", need.digits(cost.trial_low), need.digits(cost.trial_high)),
                    format!("{} to {}", need.load_text(cost.measured_from), need.load_text(cost.measured_to)),
                    need.stretch(cost),
                ],
                None => [String::new(), String::new(), String::new(), String::new(), safe(&need.why_not)],
            };
            let workload = format!("{}{}", need.workload, need.place());
            let names = [need.path.as_str(), workload.trim_start(), need.proxy.as_str()].map(safe);
            out.push_str(&format!("| {} | {} |\n", names.join(" | "), cells.join(" | ")));
        }
        if self.is_far() {
            out.push_str(&format!("\n**{WARNING}**\n"));
        }
        out
    }

    /// `20000 requests/s and 5000 connections`.
    fn load(&self) -> String {
        let rate = self.asked.requests_per_s.map(|rate| format!("{} requests/s", plain(rate)));
        let connections = self.asked.connections.map(|n| counted(n as u64, "connection", "connections"));
        rate.into_iter().chain(connections).collect::<Vec<_>>().join(" and ")
    }

    fn is_far(&self) -> bool {
        self.needs.iter().any(|need| need.cost.is_some_and(|cost| cost.far))
    }
}

/// What is said where a line is stretched too far.
const WARNING: &str = "Warning: a load of 2 times the highest measured one, or more, is far from anything that was seen. The \
                       intervals take it that the line goes on; measure nearer to it.";

impl Need {
    /// `all proxies (web at size=1024)`.
    fn name(&self) -> String {
        if self.workload.is_empty() {
            return self.proxy.clone();
        }
        format!("{} ({}{})", self.proxy, self.workload, self.place())
    }

    /// `2.47 cores [line 2.44, 2.50; one trial 2.40, 2.54], 5.0 times the highest measured load (4000/s)`.
    fn text(&self) -> String {
        let Some(cost) = &self.cost else {
            let what = if self.resource == Resource::Cores { "cores" } else { "memory" };
            return format!("no {what}: {}", self.why_not);
        };
        let [value, line_low, line_high, trial_low, trial_high] =
            [cost.cost, cost.line_low, cost.line_high, cost.trial_low, cost.trial_high].map(|value| self.digits(value));
        let mark = if cost.far { "! " } else { "" };
        let (unit, far) = (self.unit(cost.cost), self.stretch(cost));
        format!("{value} {unit} [line {line_low}, {line_high}; one trial {trial_low}, {trial_high}], {mark}{far}")
    }

    /// How far the asked load is from what was measured.
    fn stretch(&self, cost: &Cost) -> String {
        let times = format!("{:.1} times", cost.stretched);
        if self.load > cost.measured_to {
            format!("{times} the highest measured load ({})", self.load_text(cost.measured_to))
        } else if self.load < cost.measured_from {
            format!("the lowest measured load ({}) is {times} that", self.load_text(cost.measured_from))
        } else {
            let ends = [cost.measured_from, cost.measured_to].map(|load| self.load_text(load));
            format!("within what was measured ({} to {})", ends[0], ends[1])
        }
    }

    fn load_text(&self, load: f64) -> String {
        let rounded = if load >= 100.0 { load.round() } else { load };
        match self.resource {
            Resource::Cores => format!("{}/s", plain(rounded)),
            _ => counted(rounded as u64, "connection", "connections"),
        }
    }

    /// The unit behind a value; of memory also what it is in Kubernetes' unit.
    fn unit(&self, value: f64) -> String {
        if self.resource == Resource::Cores {
            "cores".to_owned()
        } else {
            format!("MB ({} MiB) allocated", digits(value / MIB))
        }
    }

    /// Cores, or bytes as MB, without the unit.
    fn digits(&self, value: f64) -> String {
        digits(if self.resource == Resource::Cores { value } else { value / MB })
    }
}

/// A number with the digits that it deserves.
fn digits(value: f64) -> String {
    match value.abs() {
        v if v < 1.0 => format!("{value:.3}"),
        v if v < 100.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

/// Why there is no line of memory where no trial says what was allocated.
pub(super) fn nothing_allocated(most_resident: Option<f64>) -> String {
    let most = most_resident.map_or(String::new(), |most| format!("; at most {} was resident", bytes(most)));
    format!(
        "no trial says what they have allocated, and resident memory is the largest so far, whatever the order of the trials \
         was: through it goes no line{most}"
    )
}

/// Why there is no line: too few different loads. `loads` ascending.
pub(super) fn too_few(different: usize, needed: usize, loads: &[f64], resource: Resource) -> String {
    let (one, many) = match resource {
        Resource::Cores => ("different rate", "different rates"),
        _ => ("different number of connections", "different numbers of connections"),
    };
    let ends = loads.first().zip(loads.last()).map_or(String::new(), |(low, high)| {
        let text = |load: f64| plain(if load >= 100.0 { load.round() } else { load });
        if text(*low) == text(*high) {
            format!(" ({})", text(*low))
        } else {
            format!(" ({} to {})", text(*low), text(*high))
        }
    });
    format!("{} measured{ends}, a line needs {needed}", counted(different as u64, one, many))
}
