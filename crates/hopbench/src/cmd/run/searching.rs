//! Messages about the trials of searches.

use hopbench_model::{EQUAL_LOAD, SCAN, SearchGoal, SearchOutcome, SearchStep};
use hopbench_report::campaign::broken_text;
use hopbench_report::campaign::load_text::{self, load};

/// The search of a cell in words: `both web`, with its point where it has one.
fn cell(path: &str, workload: &str, point: &str) -> String {
    format!("{path} {workload} {point}").trim_end().to_owned()
}

/// A figure: `response p99 3.10 ms`, `requests 52300/s`, `CPU 48.2 %`, `no response p99`.
fn figure(name: &str, value: Option<f64>) -> String {
    let label = load_text::figure(name);
    match value {
        Some(value) => format!("{label} {}", load_text::value(name, value)),
        None => format!("no {label}"),
    }
}

/// A trial of a search:
/// `search slo both web: 1600/s, response p99 3.10 ms: within, next 3200/s`.
pub(super) fn step(
    path: &str,
    workload: &str,
    point: &str,
    goal: &SearchGoal,
    step: &SearchStep,
    next: Option<f64>,
) -> String {
    let (cell, at) = (cell(path, workload, point), load(&step.parameter, step.load));
    let figure = figure(&step.figure, step.value);
    let verdict = match goal.is_within(step) {
        Some(true) => ": within",
        Some(false) => ": too high",
        None if step.within => "",
        None => ": too many errors",
    };
    // The figure alone may be as it should.
    let broken = broken_text(&step.broken);
    let verdict =
        if broken.is_empty() { verdict.to_owned() } else { format!("{verdict} ({broken})") };
    if step.goal == EQUAL_LOAD {
        return format!("{} {cell}: {at} as found on {}, {figure}{verdict}", step.goal, step.why);
    }
    let next = next.map_or(String::new(), |next| format!(", next {}", load(&step.parameter, next)));
    let what = if step.why == SCAN { SCAN } else { "search" };
    format!("{what} {} {cell}: {at}, {figure}{verdict}{next}", step.goal)
}

/// The result of a search: `knee of both web: 64 connections (requests 52300/s)`.
pub(super) fn done(
    path: &str,
    workload: &str,
    point: &str,
    step: &SearchStep,
    outcome: SearchOutcome,
    value: Option<f64>,
) -> String {
    let at = |value| load(&step.parameter, value);
    let found = match outcome {
        SearchOutcome::Found { load: found, .. } => match value {
            Some(value) => format!("{} ({})", at(found), figure(&step.figure, Some(value))),
            None => at(found),
        },
        SearchOutcome::AboveHighest if step.parameter != "rate" => {
            format!("it still grows at the most {}", step.parameter)
        }
        SearchOutcome::AboveHighest => "above the highest that may be asked for".to_owned(),
        SearchOutcome::BelowLowest => {
            let seen = step
                .value
                .map_or(String::new(), |value| format!(" ({})", figure(&step.figure, Some(value))));
            format!("even {} is too high{seen}, the lowest that may be asked for", at(step.load))
        }
        SearchOutcome::GaveUp { low, high } => {
            let (low, high) = (low.map(at), high.map(at));
            format!(
                "not found; it lies between {} and {}",
                low.unwrap_or_else(|| "the lowest".to_owned()),
                high.unwrap_or_else(|| "the highest".to_owned())
            )
        }
    };
    format!("{} of {}: {found}", step.goal, cell(path, workload, point))
}

#[cfg(test)]
mod tests {
    use hopbench_model::{BrokenBound, RateRange, SearchBound};

    use super::*;

    fn trial(
        goal: &str,
        parameter: &str,
        load: f64,
        figure: &str,
        value: Option<f64>,
    ) -> SearchStep {
        let text = |text: &str| text.to_owned();
        SearchStep {
            goal: text(goal),
            step: 1,
            parameter: text(parameter),
            load,
            why: text("raise"),
            figure: text(figure),
            value,
            within: true,
            broken: Vec::new(),
            found: None,
            outcome: None,
        }
    }

    #[test]
    fn a_trial_is_a_line_of_a_terminal() {
        let rates = RateRange { lowest_per_s: 1.0, highest_per_s: 1e6 };
        let limit =
            |limit_ns| SearchGoal::Slo { percentile: 99.0, limit_ns, rates, precision: 0.02 };
        let slo = trial("slo", "rate", 1600.0, "response_ns p99", Some(3.1e6));
        let told =
            |goal: &SearchGoal, one: &SearchStep, next| step("both", "web", "", goal, one, next);
        assert_eq!(
            told(&limit(5_000_000), &slo, Some(3200.0)),
            "search slo both web: 1600/s, response p99 3.10 ms: within, next 3200/s"
        );
        let next = told(&limit(3_000_000), &slo, Some(800.0));
        assert_eq!(next, "search slo both web: 1600/s, response p99 3.10 ms: too high, next 800/s");
        let broken = SearchStep { value: None, within: false, ..slo.clone() };
        assert_eq!(
            step("both", "web", "size=1KiB", &limit(1), &broken, None),
            "search slo both web size=1KiB: 1600/s, no response p99: too high"
        );
        let equal = SearchStep { goal: EQUAL_LOAD.to_owned(), why: "direct".to_owned(), ..slo };
        let line = told(&limit(5_000_000), &equal, None);
        assert_eq!(
            line,
            "equal-load both web: 1600/s as found on direct, response p99 3.10 ms: within"
        );
        let lossless = SearchGoal::Lossless { loss_share: 0.001, rates, precision: 0.01 };
        let loss = trial("lossless", "rate", 4321.0, "loss", Some(0.0012));
        assert_eq!(
            told(&lossless, &loss, None),
            "search lossless both web: 4321/s, lost 0.12 %: too high"
        );
        let broken = vec![BrokenBound { bound: SearchBound::NotSent, share: 0.12 }];
        let unsent = SearchStep { value: Some(0.0), within: false, broken, ..loss.clone() };
        let line = step("host", "loss", "", &lossless, &unsent, Some(900.0));
        assert_eq!(
            line,
            "search lossless host loss: 4321/s, lost 0 %: too high (12.0 % never left the sender), \
             next 900/s"
        );
        let knee = SearchGoal::Knee { connections: vec![8], threads: vec![], least_growth: 0.05 };
        let level = trial("knee", "connections", 1.0, "received_bits_per_s", Some(9.5e9));
        assert_eq!(
            told(&knee, &level, None),
            "search knee both web: 1 connection, received 9.500 Gbit/s"
        );
        let line = step("server-side", "checkout", "", &lossless, &loss, Some(1131.37));
        assert!(line.len() <= 80, "{line}");
    }

    #[test]
    fn a_search_ends_in_a_sentence() {
        let knee = trial("knee", "connections", 256.0, "requests_per_s", Some(1.0));
        let sentence = |outcome, value| done("both", "web", "", &knee, outcome, value);
        let found = SearchOutcome::Found { load: 64.0, low: 32.0, high: Some(128.0) };
        assert_eq!(
            sentence(found, Some(52_300.0)),
            "knee of both web: 64 connections (requests 52300/s)"
        );
        assert_eq!(sentence(found, None), "knee of both web: 64 connections");
        let more = "knee of both web: it still grows at the most connections";
        assert_eq!(sentence(SearchOutcome::AboveHighest, None), more);
        let gave_up = SearchOutcome::GaveUp { low: Some(1.0), high: None };
        assert_eq!(
            sentence(gave_up, None),
            "knee of both web: not found; it lies between 1 connection and the highest"
        );
        let cpu = trial("cpu", "rate", 900.5, "cpu_share", Some(0.482));
        let low =
            "cpu of x web: even 900/s is too high (CPU 48.2 %), the lowest that may be asked for";
        assert_eq!(done("x", "web", "", &cpu, SearchOutcome::BelowLowest, None), low);
        let found = SearchOutcome::Found { load: 900.5, low: 900.0, high: None };
        assert_eq!(
            done("x", "web", "", &cpu, found, Some(0.482)),
            "cpu of x web: 900/s (CPU 48.2 %)"
        );
    }
}
