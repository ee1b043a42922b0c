//! The work of each node's CPUs, where nodes are several machines.

use hopbench_analysis::{NodeSummary, Spread, WorkloadSummary};

use super::markup::{esc, folded, table};
use crate::campaign::table_model;

/// More cells than this are left to the other formats.
const MOST: usize = 500;

/// Folded away; nothing where the main table says it all. `own`: the id of the workload's section.
pub(super) fn section(own: &str, workload: &WorkloadSummary) -> String {
    let swept = !workload.parameters.is_empty();
    let mut body = String::new();
    for cell in workload.cells.iter().take(MOST) {
        let point = match swept {
            true => format!("<td class=\"point\">{}</td>", esc(table_model::point(workload, &cell.point_label))),
            false => String::new(),
        };
        for NodeSummary { name, busy_cores, softirq_cores, steal_cores } in &cell.nodes {
            body.push_str(&format!(
                "<tr><th scope=\"row\">{}</th>{point}<td>{}</td>{}</tr>\n",
                esc(&cell.path),
                esc(name),
                [busy_cores, softirq_cores, steal_cores].map(value).concat()
            ));
        }
    }
    if body.is_empty() {
        return body;
    }
    let point = match swept {
        true => format!("<th scope=\"col\">{}</th>", esc(table_model::point_head(workload))),
        false => String::new(),
    };
    let head = format!(
        "<tr><th scope=\"col\">Path</th>{point}<th scope=\"col\">Node</th><th scope=\"col\" class=\"n\">Busy<small>cores</small></th>\
         <th scope=\"col\" class=\"n\">of it softirq<small>cores</small></th>\
         <th scope=\"col\" class=\"n\">of it stolen<small>cores</small></th></tr>"
    );
    let more = match workload.cells.len() {
        n if n > MOST => format!("<p class=\"note\">The first {MOST} of {n} cells.</p>\n"),
        _ => String::new(),
    };
    let inner = format!(
        "<p class=\"note\">With everybody's work: both ends, proxies, the kernel for all of them, and whatever else ran.</p>\n\
         {}{more}",
        table("cells", &format!("{}: CPU of the nodes", workload.name), &head, &body)
    );
    folded(&format!("{own}-nodes"), "CPU of the nodes", &inner)
}

fn value(spread: &Spread) -> String {
    let ends = spread.low.zip(spread.high).filter(|(low, high)| low != high);
    let ends = ends.map_or(String::new(), |(low, high)| format!("<small>{low:.3} – {high:.3}</small>"));
    format!("<td class=\"n\">{:.3}{ends}</td>", spread.median)
}
