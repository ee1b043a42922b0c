//! The rate of the moment, while a trial runs.

use hopbench_model::{Counter, SECOND, Tick};

use crate::WIDTH;
use crate::number::{bit_rate, bytes, per_s, plain};

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
/// Bulk workloads (`stream`, `udp`, `push`) show payload bits/s, received where that end's ticks
/// are known and sent otherwise; all others show completed requests/s.
pub fn live_line(workload: &str, client: Step<'_>, server: Option<Step<'_>>) -> String {
    let now = client.now;
    let time = if now.t_ns < 0 {
        format!("warm-up {:.1} s", now.t_ns as f64 / SECOND as f64)
    } else {
        format!("{:.1} s", now.t_ns as f64 / SECOND as f64)
    };
    let rate = match work(workload, client, server) {
        Work::Bytes { per_s, word, .. } => format!("{} {word}", bit_rate(per_s * 8.0)),
        Work::Requests { per_s: rate, .. } if workload == "ping" => format!("{} echoes/s", per_s(rate)),
        Work::Requests { per_s: rate, .. } => format!("{} requests/s", per_s(rate)),
    };
    clip(format!("{time:>12}  {rate:<28}  errors {}", errors(client)))
}

/// The heading over [`interval_line`] rows.
pub fn interval_head(workload: &str) -> String {
    let (amount, rate) = if is_bulk(workload) { ("bytes", "rate") } else { ("requests", "requests/s") };
    format!("{:>17}  {amount:>12}  {rate:>14}  {:>8}", "interval (s)", "errors")
}

/// One interval as a row: from and to, what was moved in it, its rate, errors in it. At most 80
/// columns, no line feed.
pub fn interval_line(workload: &str, client: Step<'_>, server: Option<Step<'_>>) -> String {
    let at = |tick: &Tick| tick.t_ns as f64 / SECOND as f64;
    let (amount, rate) = match work(workload, client, server) {
        Work::Bytes { amount, per_s, .. } => (bytes(amount), bit_rate(per_s * 8.0)),
        Work::Requests { amount, per_s: rate } => (plain(amount), per_s(rate)),
    };
    let span = format!("{:.2}-{:.2}", at(client.before), at(client.now));
    clip(format!("{span:>17}  {amount:>12}  {rate:>14}  {:>8}", client.count(Counter::Errors)))
}

enum Work {
    Bytes { amount: f64, per_s: f64, word: &'static str },
    Requests { amount: f64, per_s: f64 },
}

fn is_bulk(workload: &str) -> bool {
    matches!(workload, "stream" | "udp" | "push")
}

fn work(workload: &str, client: Step<'_>, server: Option<Step<'_>>) -> Work {
    if !is_bulk(workload) {
        let amount = client.count(Counter::Completed);
        return Work::Requests { amount, per_s: amount / client.seconds() };
    }
    // Each end knows what it received; together that is all that arrived, whoever sent it.
    let ends = [Some(client), server];
    let amount: f64 = ends.iter().flatten().map(|end| end.count(Counter::ReceivedBytes)).sum();
    if server.is_some() || amount > 0.0 {
        let per_s = ends.iter().flatten().map(|end| end.rate(Counter::ReceivedBytes)).sum();
        return Work::Bytes { amount, per_s, word: "received" };
    }
    let amount = client.count(Counter::SentBytes);
    Work::Bytes { amount, per_s: client.rate(Counter::SentBytes), word: "sent" }
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
        assert_eq!(live_line("stream", c, Some(s)), "       2.0 s  9.412 Gbit/s received         errors 0");
        assert_eq!(live_line("stream", c, None), "       2.0 s  9.600 Gbit/s sent             errors 0");
        let rows = [interval_head("stream"), interval_line("stream", c, Some(s))];
        assert_eq!(
            rows,
            [
                "     interval (s)         bytes            rate    errors",
                "        1.00-2.00       1.18 GB    9.412 Gbit/s         0",
            ]
        );
    }

    #[test]
    fn exchanges_show_requests() {
        let client = [
            tick(-1000, &[(Counter::Completed, 500), (Counter::Errors, 1)]),
            tick(-500, &[(Counter::Completed, 12_500), (Counter::Errors, 3)]),
        ];
        let step = Step { before: &client[0], now: &client[1] };
        assert_eq!(live_line("http", step, None), "warm-up -0.5 s  24000 requests/s              errors 3");
        assert_eq!(interval_line("http", step, None), "      -1.00--0.50         12000           24000         2");
    }

    #[test]
    fn ticks_out_of_order_have_no_rate() {
        let ticks = [tick(5, &[]), tick(5, &[(Counter::Completed, 5)])];
        let step = Step { before: &ticks[0], now: &ticks[1] };
        assert!(live_line("rr", step, None).contains("- requests/s"));
        assert!(live_line("ping", step, None).contains("- echoes/s"));
        let far = Tick { t_ns: i64::MAX, ..Tick::default() };
        let back = Tick { t_ns: i64::MIN, ..Tick::default() };
        for workload in ["rr", "udp"] {
            for (before, now) in [(&far, &back), (&back, &far)] {
                let step = Step { before, now };
                assert!(live_line(workload, step, Some(step)).len() <= WIDTH);
                assert!(interval_line(workload, step, Some(step)).len() <= WIDTH);
            }
        }
    }
}
