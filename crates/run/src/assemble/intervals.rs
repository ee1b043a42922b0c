//! The window cut into intervals.

use hopbench_model::{Counter, EndReport, Interval, SECOND, Tick};

/// Rates of each interval. One-way traffic is counted where it is sent and where it arrives.
pub(super) fn intervals(
    one_way: bool,
    interval_ns: u64,
    client: &EndReport,
    server: Option<&EndReport>,
) -> Vec<Interval> {
    let mut out = Vec::new();
    let mut before = (&client.start, server.map(|s| &s.start));
    // A control thread that comes late skips a tick: ends are matched by time, not by number.
    let near = |tick: &Tick| {
        let away = |other: &Tick| other.t_ns.abs_diff(tick.t_ns);
        let nearest = server?.ticks.iter().min_by_key(|other| away(other))?;
        (away(nearest) <= interval_ns / 2).then_some(nearest)
    };
    for tick in &client.ticks {
        let theirs = near(tick);
        let mine = rates(before.0, tick);
        let Some(mine) = mine else { continue };
        let mut interval = Interval::from([("t_s".to_owned(), tick.t_ns as f64 / SECOND as f64)]);
        let theirs_rates = before.1.zip(theirs).and_then(|(then, now)| rates(then, now));
        for (name, counter) in [
            ("sent_bits_per_s", Counter::SentBytes),
            ("received_bits_per_s", Counter::ReceivedBytes),
        ] {
            // Request and response bytes are the client's to count; of one-way traffic each end
            // sees its half.
            let mut rate = mine(counter) * 8.0;
            if one_way {
                // Half of the story would look like a drop to zero.
                let Some(theirs) = &theirs_rates else { continue };
                rate += theirs(counter) * 8.0;
            }
            interval.insert(name.to_owned(), rate);
        }
        let theirs_done = theirs_rates.as_ref().map_or(0.0, |r| r(Counter::Completed));
        interval.insert("completed_per_s".to_owned(), mine(Counter::Completed).max(theirs_done));
        if mine(Counter::Errors) > 0.0 {
            interval.insert("errors_per_s".to_owned(), mine(Counter::Errors));
        }
        out.push(interval);
        before = (tick, theirs.or(before.1));
    }
    out
}

/// The rates between two ticks, per second; `None` when no time passed.
fn rates(then: &Tick, now: &Tick) -> Option<impl Fn(Counter) -> f64 + use<>> {
    let seconds = now.t_ns.saturating_sub(then.t_ns) as f64 / SECOND as f64;
    let counts = now.counts.since(&then.counts);
    (seconds > 0.0).then_some(move |counter| counts.of(counter) as f64 / seconds)
}
