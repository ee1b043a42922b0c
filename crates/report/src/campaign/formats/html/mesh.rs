//! The cost of proxies, as tables beside the plots: of each hop, and of each proxy over the load.

use hopbench_analysis::{CurveSummary, Resource, Summary, WaterfallSummary, WorkloadSummary};

use super::markup::{esc, folded, table};
use crate::campaign::waterfall_table::{Texts, shares};
use crate::number::{by_name, plain};

/// More than this are left to the other formats.
const MOST: usize = 200;

/// Folded away; nothing where no path of the workload has proxies. `own_id`: the id of the
/// workload's section.
pub(super) fn section(own_id: &str, summary: &Summary, workload: &WorkloadSummary) -> String {
    let own = |waterfall: &&WaterfallSummary| waterfall.workload == workload.name;
    let waterfalls: Vec<&WaterfallSummary> = summary.waterfall.iter().filter(own).take(MOST).collect();
    let mut out = String::new();
    if !waterfalls.is_empty() {
        let tables: String = waterfalls.iter().map(|one| waterfall(one)).collect();
        let tables = format!("<div class=\"steps\">{tables}</div>\n");
        out.push_str(&folded(&format!("{own_id}-hops"), "What each hop adds", &tables));
    }
    let own = |curve: &&CurveSummary| curve.workload == workload.name;
    let curves: Vec<&CurveSummary> = summary.proxy_curves.iter().filter(own).take(MOST).collect();
    if !curves.is_empty() {
        out.push_str("<h3>What each proxy spends as the load grows</h3>\n<ul class=\"plain\">\n");
        for curve in &curves {
            out.push_str(&format!("<li><strong>{}</strong> {}</li>\n", esc(&curve.path), esc(&curve.text)));
        }
        out.push_str("</ul>\n");
        out.push_str(&folded(&format!("{own_id}-curves"), "The points of these curves", &points(workload, &curves)));
    }
    out
}

fn waterfall(waterfall: &WaterfallSummary) -> String {
    let texts = Texts::of(waterfall);
    let mut head = "<tr><th scope=\"col\">Step</th>".to_owned();
    for [label, unit] in &texts.heads {
        head.push_str(&format!("<th scope=\"col\" class=\"n\">{}<small>{}</small></th>", esc(label), esc(unit)));
    }
    head.push_str("</tr>");
    let mut body = String::new();
    for row in &texts.rows {
        let note = if row.note.is_empty() { String::new() } else { format!("<small>! {}</small>", esc(&row.note)) };
        body.push_str(&format!("<tr><th scope=\"row\">{}{note}</th>", esc(&row.label)));
        for value in &row.values {
            let (median, interval) = value.split_at(value.find(" [").unwrap_or(value.len()));
            body.push_str(&format!("<td class=\"n\">{}<small>{}</small></td>", esc(median), esc(interval)));
        }
        body.push_str("</tr>\n");
    }
    let note = if waterfall.note.is_empty() {
        String::new()
    } else {
        format!("<p class=\"note\">! {}</p>\n", esc(&waterfall.note))
    };
    let shares = shares(waterfall).map_or(String::new(), |text| format!("<p class=\"note\">{}</p>\n", esc(&text)));
    format!("<div>{}{note}{shares}</div>", table("cells", &waterfall.name(), &head, &body))
}

fn points(workload: &WorkloadSummary, curves: &[&CurveSummary]) -> String {
    let head = "<tr><th scope=\"col\">Path, proxy</th><th scope=\"col\">Point</th>\
                <th scope=\"col\" class=\"n\">Load</th><th scope=\"col\" class=\"n\">Spent</th></tr>";
    let mut body = String::new();
    for curve in curves {
        let text = |value: f64| match curve.resource {
            Resource::Cores => format!("{value:.3} cores"),
            Resource::RssBytes => format!("{} resident, largest so far", by_name("rss_bytes", value)),
            Resource::AllocatedBytes => format!("{} allocated", by_name("allocated_bytes", value)),
        };
        for point in &curve.points {
            let ends = point.spread.low.zip(point.spread.high).map_or(String::new(), |(low, high)| {
                format!("<small>{} – {}</small>", esc(&text(low)), esc(&text(high)))
            });
            body.push_str(&format!(
                "<tr><th scope=\"row\">{}</th><td class=\"point\">{}</td><td class=\"n\">{} {}</td><td class=\"n\">{}{ends}</td></tr>\n",
                esc(&curve.name()),
                esc(&point.label()),
                esc(&plain((point.x * 10.0).round() / 10.0)),
                esc(&curve.over.replace("_per_s", "/s").replace('_', " ")),
                esc(&text(point.spread.median)),
            ));
        }
    }
    table("cells", &format!("{}: what each proxy spent at every point", workload.name), head, &body)
}
