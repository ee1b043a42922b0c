//! An agent's own limit, as the limit of a trial.

use hopbench_model::number;
use hopbench_model::{Counter, EndReport, MAX_RATE_SETTING, SECOND};

use super::evidence::{CLIENT, Limit, SERVER, limit};

/// More of what an agent allows than this is all of it: a ceiling is kept from below.
const MOSTLY: f64 = 0.8;

/// The end that came up to the limit that its own agent keeps, if one did. One that was far below
/// it was limited by something else, as is one that shared the agent's allowance with others.
pub(crate) fn held(clients: &[Option<EndReport>], servers: &[Option<EndReport>]) -> Option<Limit> {
    [(CLIENT, clients), (SERVER, servers)].into_iter().find_map(|(name, side)| {
        (1..).zip(side).find_map(|(number, report)| {
            let report = report.as_ref()?;
            let most: f64 = report.settings.get(MAX_RATE_SETTING)?.parse().ok()?;
            let moved = moved(report)?;
            let whose =
                if side.len() > 1 { format!("{name} {number}") } else { format!("the {name}") };
            if moved >= MOSTLY * most {
                let [moved_text, most_text] = [moved, most].map(number::brief_bit_rate);
                let why = format!(
                    "{whose} moved {moved_text} of the {most_text} that its agent allows \
                     (--max-rate)"
                );
                return Some(limit("agent_limit", why));
            }
            None
        })
    })
}

/// What an end moved in the window, both directions together, bits/s.
fn moved(report: &EndReport) -> Option<f64> {
    let seconds = report.end.t_ns.saturating_sub(report.start.t_ns) as f64 / SECOND as f64;
    let grown = report.end.counts.since(&report.start.counts);
    let bytes = grown.of(Counter::SentBytes) + grown.of(Counter::ReceivedBytes);
    (seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds)
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Counts, Tick};

    use super::*;

    /// An end that moved so many Mbit in a second, of so many that its agent allows.
    fn end(sent: u64, received: u64, most: Option<u64>) -> Option<EndReport> {
        let mut counts = Counts::default();
        counts.set(Counter::SentBytes, sent * 125_000);
        counts.set(Counter::ReceivedBytes, received * 125_000);
        let end = Tick { t_ns: SECOND as i64, counts, ..Tick::default() };
        let mut report = EndReport { end, ..EndReport::default() };
        report
            .settings
            .extend(most.map(|most| (MAX_RATE_SETTING.to_owned(), (most * 1_000_000).to_string())));
        Some(report)
    }

    fn by(clients: &[Option<EndReport>], servers: &[Option<EndReport>]) -> Option<String> {
        held(clients, servers).map(|(name, why)| format!("{name}: {why}"))
    }

    #[test]
    fn a_ceiling_that_was_reached_is_the_limit() {
        let expected = "agent_limit: the server moved 49.00 Mbit/s of the 50.00 Mbit/s that its \
                        agent allows (--max-rate)";
        assert_eq!(by(&[end(49, 0, None)], &[end(0, 49, Some(50))]).as_deref(), Some(expected));
        assert_eq!(by(&[end(20, 0, None)], &[end(0, 20, Some(50))]), None, "far below it");
        assert!(by(&[end(24, 24, Some(50))], &[]).is_some(), "both directions are the agent's");
        assert_eq!(by(&[end(49, 0, None)], &[end(0, 49, None)]), None);
    }

    #[test]
    fn each_end_has_a_limit_of_its_own() {
        let clients = [end(30, 0, Some(50)), end(30, 0, Some(50))];
        assert_eq!(by(&clients, &[end(0, 60, None)]), None, "their sum is no agent's");
        let clients = [end(30, 0, Some(500)), end(45, 0, Some(50))];
        let why = by(&clients, &[end(0, 75, None)]).unwrap();
        assert!(why.starts_with("agent_limit: client 2 moved 45.00 Mbit/s"), "{why}");
    }
}
