//! The percentiles of all rounds together, below the plots of the distributions.

use hopbench_analysis::text::{Scale, interval_text};
use hopbench_analysis::{DistributionSummary, PooledSummary, WorkloadSummary};

use super::markup::{esc, folded, table};
use crate::campaign::table_model;

/// The columns.
const HEADS: [(&str, &str); 4] = [("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p999", "p99.9")];

/// Folded away; nothing with one round. `own`: the id of the workload's section.
pub(super) fn section(own: &str, workload: &WorkloadSummary) -> String {
    let swept = !workload.parameters.is_empty();
    let shown = || workload.distributions.iter().filter(|one| !one.pooled.is_empty());
    let Some(latency) = shown().next().map(|one| one.latency) else {
        return String::new();
    };
    let scales = HEADS.map(|(name, _)| {
        let values = shown().flat_map(|one| &one.pooled).filter(|one| one.percentile == name);
        Scale::of(latency, values.map(|one| one.value_ns as f64))
    });
    let row = |one: &DistributionSummary| {
        let point = match swept {
            true => format!("<td class=\"point\">{}</td>", esc(table_model::point(workload, &one.point))),
            false => String::new(),
        };
        let cells = HEADS
            .iter()
            .zip(&scales)
            .map(|((name, _), scale)| value(one.pooled.iter().find(|pooled| pooled.percentile == *name), scale));
        format!("<tr><th scope=\"row\">{}</th>{point}{}</tr>\n", esc(&one.path), cells.collect::<String>())
    };
    let body: String = shown().map(row).collect();
    let point = match swept {
        true => format!("<th scope=\"col\">{}</th>", esc(table_model::point_head(workload))),
        false => String::new(),
    };
    let head = |((_, label), scale): (&(&str, &str), &Scale)| {
        let unit =
            if scale.head().is_empty() { String::new() } else { format!("<small>{}</small>", esc(scale.head())) };
        format!("<th scope=\"col\" class=\"n\">{label}{unit}</th>")
    };
    let heads: String = HEADS.iter().zip(&scales).map(head).collect();
    let head = format!("<tr><th scope=\"col\">Path</th>{point}{heads}</tr>");
    let inner = format!(
        "<p class=\"note\">Of the samples of all rounds as one, with 95 % intervals from resampled rounds. The table of \
         cells has the median of the rounds\u{2019} percentiles instead.</p>\n{}",
        table("cells", &format!("{}: percentiles of all rounds together", workload.name), &head, &body)
    );
    folded(&format!("{own}-pooled"), "Percentiles of all rounds together", &inner)
}

fn value(pooled: Option<&PooledSummary>, scale: &Scale) -> String {
    let Some(PooledSummary { value_ns, low_ns, high_ns, .. }) = pooled else {
        return "<td class=\"n\"></td>".to_owned();
    };
    let [low, high] = interval_text::of(*value_ns as f64, *low_ns, *high_ns, |value| scale.text(value));
    let ends = format!("<small>{} – {}</small>", esc(&low), esc(&high));
    format!("<td class=\"n\">{}{ends}</td>", esc(&scale.text(*value_ns as f64)))
}
