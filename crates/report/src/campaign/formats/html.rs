//! One page that needs nothing else: styles, the plotting library, data and all figures as tables.
//!
//! Its parts are the answer, the overview, the workloads and searches, and the evidence. Plots come
//! before tables, and tables are folded away. Every part has an id and a link.
//!
//! Without scripts everything but the plots is there. Nothing is fetched: a content policy in the
//! page forbids it.

mod answer;
mod heat;
mod markup;
mod mesh;
mod nodes;
mod notes;
mod pooled;
mod searches;
mod sections;

use hopbench_analysis::Summary;
use hopbench_analysis::text::{status, time};

use self::markup::{esc, id, json};
use crate::campaign::format::SummaryFormat;
use crate::campaign::{page_text, plot};

const STYLE: &str = include_str!("../../../assets/report.css");
const SCRIPT: &str = include_str!("../../../assets/report.js");
const LIBRARIES: [&str; 2] = [
    include_str!("../../../assets/chart.umd.min.js"),
    include_str!("../../../assets/chartjs-chart-error-bars.umd.min.js"),
];
/// Forbids every fetch. The page's own scripts and styles are inline.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct Html;

impl SummaryFormat for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn summary(&self) -> &'static str {
        "one page with the answer, heat maps, plots and tables, for a browser, a phone and paper"
    }

    fn render(&self, summary: &Summary) -> String {
        let charts: Vec<Vec<plot::Chart>> = summary
            .workloads
            .iter()
            .enumerate()
            .map(|(number, workload)| plot::charts(summary, number, workload))
            .collect();
        let searched = plot::searches::charts(&summary.searches);
        let title = esc(&summary.run.name);
        let mut out = String::with_capacity(1 << 20);
        out.push_str(&format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title} - hopbench</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
        ));
        out.push_str(&header(summary));
        out.push_str("<main>\n");
        out.push_str(&answer::section(summary));
        out.push_str(&heat::maps(summary));
        out.push_str(&sections::findings(summary));
        for (number, workload) in summary.workloads.iter().enumerate() {
            out.push_str(&sections::workload(summary, number, workload, &charts[number]));
        }
        out.push_str(&searches::section(summary, &searched));
        out.push_str(&notes::all(summary));
        out.push_str("</main>\n");
        out.push_str(&format!(
            "<footer>hopbench, run {}. Figures, intervals and comparisons for programs: summary.csv and \
             <code>hopbench report --format json</code>.</footer>\n",
            esc(&summary.run.run_id)
        ));
        let charts: Vec<&plot::Chart> = charts.iter().flatten().chain(searched.iter().flatten()).collect();
        out.push_str(&format!("<script type=\"application/json\" id=\"charts\">{}</script>\n", json(&charts)));
        if !charts.is_empty() {
            LIBRARIES.iter().for_each(|library| out.push_str(&format!("<script>{library}</script>\n")));
        }
        out.push_str(&format!("<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
        out
    }
}

/// Title, what and where, and the way to the sections.
fn header(summary: &Summary) -> String {
    let run = &summary.run;
    let fact = |name: &str, value: &str| format!("<div><dt>{name}</dt><dd>{}</dd></div>", esc(value));
    let mut facts = vec![fact("Status", status(run.status)), fact("Trials", &page_text::trials(summary))];
    if page_text::is_measured(summary) {
        facts.push(fact("Rounds", &run.stop.clone().unwrap_or_else(|| run.rounds.to_string())));
    }
    facts.extend(run.baseline.as_ref().map(|name| fact("Baseline", name)));
    facts.push(fact("Testbed", run.testbed));
    let receive = page_text::receive(summary);
    facts.extend(receive.iter().filter_map(|text| text.split_once(": ")).map(|(_, how)| fact("Receive", how)));
    facts.push(fact("Started", &time(&run.started_at)));
    facts.extend(run.ended_at.as_ref().map(|ended| fact("Ended", &time(ended))));
    for (name, label) in [("cpu_model", "CPU"), ("cpu_count", "CPUs"), ("kernel", "Kernel"), ("version", "Version")] {
        facts.extend(summary.environment.get(name).map(|value| fact(label, value)));
    }
    let mut links = vec!["<a href=\"#answer\">Answer</a>".to_owned()];
    if !summary.workloads.is_empty() {
        links.push("<a href=\"#overview\">Overview</a>".to_owned());
    }
    links.push("<a href=\"#findings\">Findings</a>".to_owned());
    // A long list of links is no way.
    for (number, workload) in summary.workloads.iter().enumerate().take(12) {
        links.push(format!("<a href=\"#{}\">{}</a>", id("workload", number), esc(&workload.name)));
    }
    if !summary.searches.is_empty() {
        links.push("<a href=\"#searches\">Searches</a>".to_owned());
    }
    links.push("<a href=\"#evidence\">Evidence</a>".to_owned());
    links.push("<a href=\"#limits\">Limits and warnings</a>".to_owned());
    links.push("<a href=\"#paths\">Paths and proof</a>".to_owned());
    links.push("<a href=\"#environment\">Environment</a>".to_owned());
    format!(
        "<header>\n<p class=\"kicker\">hopbench report</p>\n<h1>{}</h1>\n<dl class=\"facts\">{}</dl>\n\
         <nav aria-label=\"Sections\">{}</nav>\n</header>\n",
        esc(&run.name),
        facts.concat(),
        links.join(" ")
    )
}
