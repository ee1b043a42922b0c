//! The noise of a place as a page of 80 columns.

use hopbench_analysis::text::{Scale, interval_text};
use hopbench_analysis::{NOISE_MINUTES, NOISE_P, Noise, NoiseFigure};
use hopbench_model::number::{UNKNOWN, cores, counted, percent, percentage, ratio, time_ns};

use crate::WIDTH;
use crate::document::{Block, Cell, Column, Document, Kind, Line, Part, Row, Table, terminal};

/// The noise of a place as a page of 80 columns.
pub fn noise_page(noise: &Noise) -> String {
    let rounds = counted(noise.rounds as u64, "round", "rounds");
    let window = time_ns(noise.window_s * 1e9);
    let limits = noise.limits.iter().map(Line::from).collect();
    let blocks = vec![
        same(noise).into(),
        Block::note("vary: coefficient of variation; floor: what a difference must exceed"),
        seen(noise).into(),
        Block::note(
            "smallest difference that is seen in 80 % of runs: by this one, and by so many minutes \
             of one workload on two paths",
        ),
        Block::List(facts(noise)),
        Part::open("limits", "what limits measurements here", vec![Block::List(limits)]).into(),
    ];
    let title =
        format!("{}: {} measured twice, {rounds}, windows of {window}", noise.testbed, noise.path);
    terminal(&Document { title, facts: Vec::new(), blocks }, WIDTH)
}

/// A row a figure, below these heads; the first is of the figures' names.
fn table(
    noise: &Noise,
    heads: impl IntoIterator<Item = String>,
    row: impl Fn(&NoiseFigure) -> Vec<Cell>,
) -> Table {
    let mut heads = heads.into_iter();
    let name = heads.next().map(Column::name);
    let row = |figure: &NoiseFigure| {
        let name = Cell::from(format!("{} {}", figure.workload, figure.label));
        Row::of([name].into_iter().chain(row(figure)))
    };
    Table {
        caption: String::new(),
        is_titled: false,
        kind: Kind::Figures,
        columns: name.into_iter().chain(heads.map(|head| Column::number(head, ""))).collect(),
        rows: noise.figures.iter().map(row).collect(),
    }
}

/// What the two gave.
fn same(noise: &Noise) -> Table {
    let heads = ["the same twice", "median", "vary", "second / first", "floor"];
    table(noise, heads.map(str::to_owned), |figure| {
        let ends = figure.low.zip(figure.high);
        let ends = ends.map(|(low, high)| interval_text::of_ratio(figure.ratio, low, high));
        vec![
            Scale::one(figure.name, figure.median).into(),
            share(Some(figure.variation)).into(),
            Cell {
                mark: if figure.differs { "!" } else { "" },
                ..Cell::with_ends(ratio(figure.ratio), ends)
            },
            share(Some(figure.noise_floor)).into(),
        ]
    })
}

/// What could be seen, and what moved.
fn seen(noise: &Noise) -> Table {
    let mut heads = vec!["would be seen".to_owned(), "now".to_owned()];
    heads.extend(NOISE_MINUTES.iter().map(|minutes| format!("{minutes} min")));
    heads.push("moved (p)".to_owned());
    table(noise, heads, |figure| {
        let moved = figure.moved.zip(figure.moved_p);
        let p = |p: f64| if p < 0.01 { "<0.01".to_owned() } else { format!("{p:.2}") };
        let moved = moved.map(|(moved, chance)| format!("{} ({})", share(Some(moved)), p(chance)));
        let moved = moved.unwrap_or_else(|| UNKNOWN.to_owned());
        let later = NOISE_MINUTES.iter().map(|minutes| figure.in_minutes.get(minutes).copied());
        let seen = [figure.could_have_seen].into_iter().chain(later).map(share);
        seen.chain([moved]).map(Cell::from).collect()
    })
}

/// What else was going on.
fn facts(noise: &Noise) -> Vec<Line> {
    let machine = &noise.machine;
    let fact = |name: &str| machine.facts.get(name).map(String::as_str);
    let switch = |name: &str| match fact(name) {
        Some("1") => "on",
        Some("0") => "off",
        _ => "not told",
    };
    let mut out = Vec::new();
    let mut line = |name: &str, text: String| out.push(Line::named(name, text));
    let model = fact("cpu_model").unwrap_or("CPU not told");
    let guest = if fact("virtualization").is_some() { ", a guest" } else { "" };
    line(
        "machine",
        format!(
            "{model}, {}{guest}; governor {}, turbo {}, SMT {}",
            counted(machine.cpus as u64, "CPU", "CPUs"),
            fact("cpu_governor").unwrap_or("not told"),
            switch("cpu_boost"),
            switch("cpu_smt_active"),
        ),
    );
    line(
        "steal",
        machine.steal_share.map_or_else(
            || "not told".to_owned(),
            |steal| format!("{} of the CPU time", percent(steal)),
        ),
    );
    let others = machine.others_least_cores.zip(machine.others_most_cores);
    let others = others.map(|(least, most)| {
        let softirq = cores(machine.softirq_cores.unwrap_or(0.0));
        format!(
            "{} to {} of {} cores busy with neither ends nor conductor (packet processing, \
             {softirq} cores, is counted in the higher figure only)",
            cores(least),
            cores(most),
            machine.cpus,
        )
    });
    line("others", others.unwrap_or_else(|| "not told".to_owned()));
    let drift = noise.drift.map_or_else(
        || "fewer than 5 rounds show none".to_owned(),
        |drift| {
            let told = if drift.slower_p <= NOISE_P { "a trend" } else { "no trend" };
            let (share, p) = (percent(drift.slower.abs()), drift.slower_p);
            let word = if drift.slower < 0.0 { "faster" } else { "slower" };
            let resemble = drift.correlation.zip(drift.correlation_p).map(|(correlation, p)| {
                format!("; neighbouring rounds correlate by {correlation:.2} (p {p:.2})")
            });
            format!(
                "{told}, the last round {share} {word} than the first (p {p:.2}){}",
                resemble.unwrap_or_default()
            )
        },
    );
    line("drift", drift);
    if noise.figures.iter().any(|figure| figure.differs) {
        out.push(
            "! the same thing was told apart from itself: chance does that in 1 run of 20, a fault \
             in every run"
                .into(),
        );
    }
    out
}

/// A share, or a dash.
fn share(share: Option<f64>) -> String {
    let share = share.filter(|share| share.is_finite());
    share.map_or_else(|| UNKNOWN.to_owned(), |share| format!("{} %", percentage(share)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_share_is_a_dash() {
        let shares = [None, Some(f64::NAN), Some(f64::INFINITY), Some(0.02)];
        assert_eq!(shares.map(share), [UNKNOWN, UNKNOWN, UNKNOWN, "2.0 %"]);
    }
}
