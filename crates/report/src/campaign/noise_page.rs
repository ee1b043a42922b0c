//! The noise of a place as a page of 80 columns.

use std::collections::BTreeSet;

use hopbench_analysis::text::{Scale, interval_text};
use hopbench_analysis::{NOISE_P, NOISE_ROUNDS, Noise, NoiseFigure};
use hopbench_model::number::{UNKNOWN, cores, counted, percent, ratio, signed_percent, time_ns};

use crate::WIDTH;
use crate::text::wrap::{columns, plain, wrap};

/// The noise of a place as a page of 80 columns.
pub fn noise_page(noise: &Noise) -> String {
    let mut out = String::new();
    let rounds = counted(noise.rounds as u64, "round", "rounds");
    let window = time_ns(noise.window_s * 1e9);
    behind(
        &mut out,
        "",
        &format!("{}: {} measured twice, {rounds}, windows of {window}", noise.testbed, noise.path),
    );
    out.push('\n');
    out.push_str(&aligned(&same(noise)));
    behind(&mut out, "", "vary: coefficient of variation; floor: what a difference must exceed");
    out.push('\n');
    out.push_str(&aligned(&seen(noise)));
    behind(
        &mut out,
        "",
        "smallest difference that so many rounds see in 80 % of runs, one comparison",
    );
    out.push('\n');
    facts(&mut out, noise);
    out.push('\n');
    out.push_str("what limits measurements here\n");
    noise.limits.iter().for_each(|limit| behind(&mut out, "- ", limit));
    out
}

/// What the two gave.
fn same(noise: &Noise) -> Vec<Vec<String>> {
    let head = ["the same twice", "median", "vary", "second / first", "floor"];
    let row = |figure: &NoiseFigure| {
        let interval = figure.low.zip(figure.high);
        let interval = interval.map(|(low, high)| {
            format!(" [{}]", interval_text::of_ratio(figure.ratio, low, high).join(", "))
        });
        let mark = if figure.differs { " !" } else { "" };
        vec![
            name(figure),
            Scale::one(figure.name, figure.median),
            share(Some(figure.variation)),
            format!("{}{}{mark}", ratio(figure.ratio), interval.unwrap_or_default()),
            share(Some(figure.noise_floor)),
        ]
    };
    std::iter::once(head.map(str::to_owned).to_vec()).chain(noise.figures.iter().map(row)).collect()
}

/// What could be seen, and what moved.
fn seen(noise: &Noise) -> Vec<Vec<String>> {
    let made = u32::try_from(noise.rounds).unwrap_or(u32::MAX);
    let numbers: BTreeSet<u32> = NOISE_ROUNDS.into_iter().chain([made]).collect();
    let mut head = vec!["would be seen".to_owned()];
    head.extend(numbers.iter().map(|rounds| format!("{rounds} rounds")));
    head.push("moved (p)".to_owned());
    let row = |figure: &NoiseFigure| {
        let of = |rounds: &u32| {
            if *rounds == made {
                figure.could_have_seen
            } else {
                figure.with_rounds.get(rounds).copied()
            }
        };
        let moved = figure.moved.zip(figure.moved_p);
        let p = |p: f64| if p < 0.01 { "<0.01".to_owned() } else { format!("{p:.2}") };
        let moved = moved.map(|(moved, chance)| format!("{} ({})", share(Some(moved)), p(chance)));
        let mut out = vec![name(figure)];
        out.extend(numbers.iter().map(|rounds| share(of(rounds))));
        out.push(moved.unwrap_or_else(|| UNKNOWN.to_owned()));
        out
    };
    std::iter::once(head).chain(noise.figures.iter().map(row)).collect()
}

fn facts(out: &mut String, noise: &Noise) {
    let machine = &noise.machine;
    let fact = |name: &str| machine.facts.get(name).map(String::as_str);
    let switch = |name: &str| match fact(name) {
        Some("1") => "on",
        Some("0") => "off",
        _ => "not told",
    };
    let mut line = |name: &str, text: String| {
        behind(out, &format!("{name:<9}"), &text);
    };
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
            "{} to {} of {} cores busy with neither ends nor conductor (packet processing, {softirq} cores, is counted in \
             the higher figure only)",
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
                "{told}: last round {share} {word} than the first (p {p:.2}){}",
                resemble.unwrap_or_default()
            )
        },
    );
    line("drift", drift);
    if noise.figures.iter().any(|figure| figure.differs) {
        line(
            "!",
            "the same thing was told apart from itself: chance does that in 1 run of 20, a fault in every run"
                .to_owned(),
        );
    }
}

fn name(figure: &NoiseFigure) -> String {
    plain(&format!("{} {}", figure.workload, figure.label))
}

/// A share, or a dash.
fn share(share: Option<f64>) -> String {
    share.map_or_else(|| UNKNOWN.to_owned(), signed_percent)
}

/// Rows in columns: the first to the left, the others to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let width = |at: usize| {
        rows.iter().filter_map(|row| row.get(at)).map(|text| columns(text)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).map(width).collect();
    let mut out = String::new();
    for row in rows {
        for (at, (text, width)) in row.iter().zip(&widths).enumerate() {
            let fill = " ".repeat(width - columns(text).min(*width));
            out.push_str(&if at == 0 {
                format!("{text}{fill}")
            } else {
                format!("  {fill}{text}")
            });
        }
        out.push('\n');
    }
    out
}

/// A text behind a name, in lines that fit.
fn behind(out: &mut String, name: &str, text: &str) {
    let hang = " ".repeat(name.len());
    for (at, line) in wrap(&plain(text), WIDTH - name.len()).iter().enumerate() {
        out.push_str(&format!("{}{line}\n", if at == 0 { name } else { &hang }));
    }
}
