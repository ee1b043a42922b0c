//! The advice of a warning, in the words of a scenario.
//!
//! A workload's own advice names flags. A run has a scenario, so its advice names keys. Within a
//! search nobody chose the rate, so no advice asks to lower it.

use hopbench_model::{Record, SearchGoal, SearchSpec, WarningKind};

/// Puts the advice of a record's warnings into the words of its reader. `search`: what its load was
/// chosen for.
pub(super) fn suit(record: &mut Record, search: Option<&SearchSpec>) {
    let sets_rate = search.is_some_and(|search| !matches!(search.goal, SearchGoal::Knee { .. }));
    let has_quota = record.warnings.iter().any(|warning| warning.kind == WarningKind::CpuQuota);
    for warning in &mut record.warnings {
        let in_search = match warning.kind {
            WarningKind::GeneratorLimited if has_quota => {
                Some("raise the CPU quotas: see the warning about them")
            }
            WarningKind::GeneratorLimited => {
                Some("take pacing: spin on CPUs of its own, or more threads")
            }
            WarningKind::Unsent => Some(
                "where that is not the path, raise connections or threads; the search takes the \
                 rate as too high",
            ),
            WarningKind::PortExhaustion => {
                Some("widen net.ipv4.ip_local_port_range, or keep connections alive")
            }
            _ => None,
        };
        match in_search.filter(|_| sets_rate) {
            Some(next) => next.clone_into(&mut warning.next),
            None => warning.next = as_keys(&warning.next),
        }
        warning.detail = as_keys(&warning.detail);
    }
}

/// Flags as keys: `--pacing spin` is `pacing: spin`, `lower --rate` is `lower rate`. What follows a
/// flag is its value if it is one of those that advice gives.
fn as_keys(text: &str) -> String {
    let mut out = String::new();
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        let next = words.peek().copied().unwrap_or_default();
        let is_value = next == "spin" || next.starts_with(|c: char| c.is_ascii_digit());
        let opened = word.len() - word.trim_start_matches('(').len();
        match word[opened..]
            .strip_prefix("--")
            .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
        {
            // Of the run, not of a workload.
            Some("resume" | "output") | None => out.push_str(word),
            Some(name) => {
                out.push_str(&word[..opened]);
                out.push_str(name);
                if is_value && name.ends_with(|c: char| c.is_ascii_lowercase()) {
                    out.push(':');
                }
            }
        }
        out.push(' ');
    }
    out.pop();
    out
}

#[cfg(test)]
mod tests {
    use hopbench_model::{RateRange, Warning, fixture};

    use super::*;

    const UNSENT: &str =
        "raise --connections or lower --rate; the latencies shown leave these requests out";
    const LATE: &str = "take --pacing spin on a CPU of its own, more --threads, or a lower rate";

    fn suited(search: Option<&SearchSpec>) -> Vec<String> {
        let mut record = fixture::record(&[]);
        record.warnings = vec![
            Warning::new(WarningKind::Unsent, "5 were never sent", UNSENT),
            Warning::new(WarningKind::GeneratorLimited, "late", LATE),
            Warning::new(
                WarningKind::Offload,
                "2 with each call (--gso): cheap",
                "compare only with the same --gso",
            ),
        ];
        suit(&mut record, search);
        assert_eq!(record.warnings[2].detail, "2 with each call (gso): cheap");
        record.warnings.into_iter().map(|warning| warning.next).collect()
    }

    #[test]
    fn who_wrote_keys_is_not_told_of_flags() {
        let told = suited(None);
        assert_eq!(
            told[0],
            "raise connections or lower rate; the latencies shown leave these requests out"
        );
        assert_eq!(told[1], "take pacing: spin on a CPU of its own, more threads, or a lower rate");
        assert_eq!(told[2], "compare only with the same gso");
        assert_eq!(
            as_keys("give each end CPUs of its own, like --cpu 0/1"),
            "give each end CPUs of its own, like cpu: 0/1"
        );
        assert_eq!(as_keys("lower --rate below 470 a second"), "lower rate below 470 a second");
        assert_eq!(
            as_keys("lengthen the trials, as with --time 30s"),
            "lengthen the trials, as with time: 30s"
        );
        let run = "go on with --resume DIR";
        assert_eq!(as_keys(run), run);
        assert_eq!((as_keys("a -- b"), as_keys("")), ("a -- b".to_owned(), String::new()));
    }

    #[test]
    fn a_generator_that_a_quota_stops_is_told_of_the_quota() {
        let rates = RateRange { lowest_per_s: 1.0, highest_per_s: 9.0 };
        let cpu = fixture::search(SearchGoal::Cpu {
            of: hopbench_model::CpuOf::Client,
            ceiling: 0.5,
            rates,
        });
        let mut record = fixture::record(&[]);
        record.warnings = vec![
            Warning::new(WarningKind::CpuQuota, "a CPU quota stopped the client", "raise it"),
            Warning::new(WarningKind::GeneratorLimited, "late", LATE),
        ];
        suit(&mut record, Some(&cpu));
        assert!(record.warnings[1].next.contains("quota"), "{:?}", record.warnings);
    }

    #[test]
    fn a_rate_that_a_search_chose_is_nobodys_to_lower() {
        let rates = RateRange { lowest_per_s: 1.0, highest_per_s: 9.0 };
        let cpu = fixture::search(SearchGoal::Cpu {
            of: hopbench_model::CpuOf::Client,
            ceiling: 0.5,
            rates,
        });
        let told = suited(Some(&cpu));
        assert!(
            told.iter().all(|next| !next.contains("--") && !next.contains("lower")),
            "{told:?}"
        );
        // The knee's rate is what the answers make it, and its warnings are those of any closed
        // loop.
        let knee = fixture::search(SearchGoal::Knee {
            connections: vec![1, 2],
            threads: vec![],
            least_growth: 0.05,
        });
        assert_eq!(suited(Some(&knee)), suited(None));
    }
}
