//! The rate of the moment, while a trial runs.

use hopbench_model::{Counter, SECOND, Tick, Unit};

use crate::WIDTH;
use crate::number::{bit_rate, per_s};

/// What one end counted from one tick to the next.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The earlier tick.
    pub before: &'a Tick,
    /// The later tick.
    pub now: &'a Tick,
}

impl Step<'_> {
    fn count(&self, counter: Counter) -> f64 {
        self.now.counts.since(&self.before.counts).of(counter) as f64
    }

    /// Per second.
    fn rate(&self, counter: Counter) -> f64 {
        self.count(counter) / self.seconds()
    }

    /// Seconds between the ticks; not a number when they are not in order.
    fn seconds(&self) -> f64 {
        let ns = self.now.t_ns.saturating_sub(self.before.t_ns);
        if ns > 0 { ns as f64 / SECOND as f64 } else { f64::NAN }
    }
}

/// The live line: the time since the window began, the current rate, errors so far. At most 80
/// columns, no line feed.
///
/// One-way traffic shows payload bits/s, received where that end's ticks are known and sent
/// otherwise; all other shows what was completed a second.
pub fn live_line(unit: Unit, client: Step<'_>, server: Option<Step<'_>>) -> String {
    let now = client.now;
    let time = if now.t_ns < 0 {
        format!("warm-up {:.1} s", now.t_ns as f64 / SECOND as f64)
    } else {
        format!("{:.1} s", now.t_ns as f64 / SECOND as f64)
    };
    let rate = match unit {
        Unit::Bits | Unit::Messages | Unit::Packets => payload(client, server),
        Unit::Echoes => format!("{} echoes/s", per_s(client.rate(Counter::Completed))),
        Unit::Requests | Unit::Connections => {
            format!("{} requests/s", per_s(client.rate(Counter::Completed)))
        }
    };
    clip(format!("{time:>12}  {rate:<28}  errors {}", errors(client)))
}

/// The rate of payload, and which end says so.
fn payload(client: Step<'_>, server: Option<Step<'_>>) -> String {
    // Each end knows what it received; together that is all that arrived, whoever sent it.
    let ends = [Some(client), server];
    let received: f64 = ends.iter().flatten().map(|end| end.rate(Counter::ReceivedBytes)).sum();
    let (bytes_per_s, word) = if server.is_some() || client.count(Counter::ReceivedBytes) > 0.0 {
        (received, "received")
    } else {
        (client.rate(Counter::SentBytes), "sent")
    };
    format!("{} {word}", bit_rate(bytes_per_s * 8.0))
}

/// Errors since the trial began.
fn errors(client: Step<'_>) -> u64 {
    client.now.counts.of(Counter::Errors)
}

/// Odd values must not break the line.
fn clip(line: String) -> String {
    if line.chars().count() <= WIDTH { line } else { line.chars().take(WIDTH).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(t_ms: i64, counts: &[(Counter, u64)]) -> Tick {
        let mut tick = Tick { t_ns: t_ms * 1_000_000, ..Tick::default() };
        counts.iter().for_each(|(counter, n)| tick.counts.set(*counter, *n));
        tick
    }

    #[test]
    fn bulk_shows_what_the_receiver_got() {
        let client = [tick(1000, &[]), tick(2000, &[(Counter::SentBytes, 1_200_000_000)])];
        let server = [tick(1100, &[]), tick(2100, &[(Counter::ReceivedBytes, 1_176_500_000)])];
        let [c, s] = [&client, &server].map(|t| Step { before: &t[0], now: &t[1] });
        assert_eq!(
            live_line(Unit::Bits, c, Some(s)),
            "       2.0 s  9.412 Gbit/s received         errors 0"
        );
        assert_eq!(
            live_line(Unit::Bits, c, None),
            "       2.0 s  9.600 Gbit/s sent             errors 0"
        );
    }

    #[test]
    fn exchanges_show_requests() {
        let client = [
            tick(-1000, &[(Counter::Completed, 500), (Counter::Errors, 1)]),
            tick(-500, &[(Counter::Completed, 12_500), (Counter::Errors, 3)]),
        ];
        let step = Step { before: &client[0], now: &client[1] };
        assert_eq!(
            live_line(Unit::Requests, step, None),
            "warm-up -0.5 s  24000 requests/s              errors 3"
        );
    }

    #[test]
    fn ticks_out_of_order_have_no_rate() {
        let ticks = [tick(5, &[]), tick(5, &[(Counter::Completed, 5)])];
        let step = Step { before: &ticks[0], now: &ticks[1] };
        assert!(live_line(Unit::Requests, step, None).contains("- requests/s"));
        assert!(live_line(Unit::Echoes, step, None).contains("- echoes/s"));
        let far = Tick { t_ns: i64::MAX, ..Tick::default() };
        let back = Tick { t_ns: i64::MIN, ..Tick::default() };
        for unit in [Unit::Requests, Unit::Packets] {
            for (before, now) in [(&far, &back), (&back, &far)] {
                let step = Step { before, now };
                assert!(live_line(unit, step, Some(step)).len() <= WIDTH);
            }
        }
    }
}
