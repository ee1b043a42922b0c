//! The goal of a search in words.

use hopbench_model::number::{as_written, counted, percent_as_written, time_ns};
use hopbench_model::{RateRange, SearchGoal, SearchSpec};

use crate::text::LoadUnit;

/// `the highest rate with a response time p99 of at most 5.00 ms, between 100/s and 50000/s, to 2
/// %; at most 1 % errors`.
pub(crate) fn text(spec: &SearchSpec, unit: LoadUnit<'_>) -> String {
    let parameter = unit.parameter;
    let goal = match &spec.goal {
        SearchGoal::Knee { connections, threads, least_growth } => {
            let levels = if parameter == "threads" { threads } else { connections };
            let levels: Vec<String> = levels.iter().map(ToString::to_string).collect();
            let growth = percent_as_written(*least_growth);
            let at =
                if parameter == "threads" { ", at the connections that were found" } else { "" };
            format!(
                "the {parameter} beyond which throughput grows by less than {growth}: {}{at}",
                levels.join(", ")
            )
        }
        SearchGoal::Slo { percentile, limit_ns, rates, precision } => format!(
            "the highest rate with a response time p{} of at most {}, {}, to {}",
            as_written(*percentile),
            time_ns(*limit_ns as f64),
            between(*rates, unit),
            percent_as_written(*precision)
        ),
        SearchGoal::Cpu { of, ceiling, rates } => {
            format!(
                "the highest rate with CPU of {} at or below {}, {}",
                of,
                percent_as_written(*ceiling),
                between(*rates, unit)
            )
        }
        SearchGoal::Lossless { loss_share, rates, precision } => {
            let (range, loss) = (between(*rates, unit), percent_as_written(*loss_share));
            format!(
                "the highest rate of datagrams with at most {loss} lost, {range}, to {}",
                percent_as_written(*precision)
            )
        }
    };
    let times = match spec.repeats {
        // A knee is searched once, whatever its point says.
        _ if matches!(spec.goal, SearchGoal::Knee { .. }) => String::new(),
        0 | 1 => String::new(),
        n => format!(", the median of {}", counted(u64::from(n), "search", "searches")),
    };
    let errors = match spec.goal {
        SearchGoal::Lossless { .. } => String::new(),
        _ => format!("; at most {} errors", percent_as_written(spec.errors_share)),
    };
    format!("{goal}{times}{errors}")
}

fn between(rates: RateRange, unit: LoadUnit<'_>) -> String {
    format!("between {} and {}", unit.text(rates.lowest_per_s), unit.text(rates.highest_per_s))
}

#[cfg(test)]
mod tests {
    use hopbench_model::CpuOf;

    use super::*;

    #[test]
    fn every_goal_has_words() {
        let rates = RateRange { lowest_per_s: 100.0, highest_per_s: 50_000.0 };
        let said = |goal: SearchGoal, parameter| {
            let unit = LoadUnit { parameter, datagram_bits: None };
            let repeats = if goal.name() == "lossless" { 3 } else { 1 };
            text(&SearchSpec { repeats, ..hopbench_model::fixture::search(goal) }, unit)
        };
        let slo = SearchGoal::Slo { percentile: 99.9, limit_ns: 5_000_000, rates, precision: 0.02 };
        assert_eq!(
            said(slo, "rate"),
            "the highest rate with a response time p99.9 of at most 5.00 ms, between 100/s and \
             50000/s, to 2 %; at most 1 % errors"
        );
        let knee =
            SearchGoal::Knee { connections: vec![8, 16], threads: vec![1, 2], least_growth: 0.05 };
        assert_eq!(
            said(knee, "threads"),
            "the threads beyond which throughput grows by less than 5 %: 1, 2, at the connections \
             that were found; at most 1 % errors"
        );
        let cpu = SearchGoal::Cpu { of: CpuOf::Node("b".to_owned()), ceiling: 0.6, rates };
        assert!(
            said(cpu, "rate")
                .starts_with("the highest rate with CPU of node b at or below 60 %, between 100/s")
        );
        let lossless = SearchGoal::Lossless { loss_share: 0.001, rates, precision: 0.01 };
        assert_eq!(
            said(lossless, "rate"),
            "the highest rate of datagrams with at most 0.1 % lost, between 100/s and 50000/s, to \
             1 %, the median of 3 searches"
        );
    }
}
