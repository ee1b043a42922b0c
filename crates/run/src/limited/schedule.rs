//! The schedule as the limit of a trial: it was kept, or the generator was late.

use hopbench_model::number;
use hopbench_model::{Job, LATE_NS, Nanos, NodeCost, Record, SCHEDULE_KEPT, Unit};
use hopbench_stats::Histogram;

use super::evidence::{CLIENT, Limit, SERVER, limit};
use super::round_trip::{self, waited};

/// More than was asked for, by more than readings at two edges differ, is what had piled up before
/// the window.
const CATCHING_UP: f64 = 1.01;
/// Fewer of the arrivals than this waited for a connection: few.
const FEW: f64 = 0.01;
/// A socket without room at more of the datagrams than this held its sender back. Each time half of
/// the buffer drains before it is writable again: some 50 datagrams of a full frame, or 1000 of a
/// buffer twenty times the kernel's default.
const NO_ROOM: f64 = 0.001;
/// Where the 99th percentile of all sends is so many times as late, it is not the generator's.
const FAR_LATER: Nanos = 10;

/// The limit of a generator that was late.
pub(super) const GENERATOR: &str = "generator";

/// The end that keeps the schedule.
pub(crate) fn generator(job: &Job) -> &'static str {
    if job.kind().unit == Unit::Messages { SERVER } else { CLIENT }
}

/// Whether all that was due was done, or else the generator was late. `link_full`: whether the
/// path's slowest link was.
pub(super) fn kept(job: &Job, record: &Record, link_full: bool) -> Option<Limit> {
    let metric = |name: &str| record.metrics.get(name).copied();
    let asked = metric("intended_per_s").filter(|rate| *rate > 0.0)?;
    let first = |names: &[&str]| names.iter().find_map(|name| metric(name));
    // What a datagram's sender hands over can be dropped on the way: only what arrived was done. So
    // it is of echoes.
    let done = first(&[
        "requests_per_s",
        "messages_per_s",
        "received_packets_per_s",
        "sent_packets_per_s",
    ])
    .or_else(|| metric("received").map(|echoes| echoes / record.window_s))
    .unwrap_or(asked);
    let unsent = metric("unsent").unwrap_or(0.0);
    if done >= SCHEDULE_KEPT * asked && unsent == 0.0 {
        let catching_up =
            done > CATCHING_UP * asked && waited(record).is_some_and(|share| share >= FEW);
        // A path that works off what it left undone in the warm-up is as fast as it can. So is one
        // with connections that are busy all the time, and a backlog that grows by less than 1 %.
        let busy = round_trip::all_busy(job, record).is_some_and(|(law, _)| law.holds_closely());
        if catching_up || busy {
            return None;
        }
        let why = format!(
            "{} a second of the {} that were due",
            number::brief_per_s(done),
            number::brief_per_s(asked)
        );
        return Some(limit("target_rate", why));
    }
    // Datagrams that left in time and did not arrive are no fault of who sent them.
    if metric("sent_packets_per_s").is_some_and(|sent| sent >= SCHEDULE_KEPT * asked)
        && unsent == 0.0
    {
        return None;
    }
    let late =
        late_ns(job, record, link_full).filter(|_| unsent == 0.0).map(number::brief_time_ns)?;
    Some(limit(GENERATOR, format!("sends were {late} late at p99 although connections were free")))
}

/// How late the generator was with 1 % of its sends although connections were free, ns, where that
/// is more than [`LATE_NS`]. `link_full`: whether the path's slowest link was.
///
/// A rate that is offered need not be kept: what the client's node does for a datagram is a part of
/// the path, and the result is what arrived.
pub(crate) fn late_ns(job: &Job, record: &Record, link_full: bool) -> Option<Nanos> {
    if job.is_offered() {
        return None;
    }
    let lateness = record.latency.get("lateness_ns")?;
    // Datagrams wait for no connection but for room in their socket. Without a sign that there was
    // none, the sender itself was busy when they came due: it cannot send faster, or works off what
    // it was late with.
    let excused = !job.kind().is_one_way_udp() || link_full || had_no_room(record);
    let held_up = held_up(record).filter(|_| excused).unwrap_or(0.0);
    if held_up <= 0.0 {
        return Some(lateness.p99).filter(|late| *late > LATE_NS);
    }
    // At worst those that were held up are the latest of all.
    let rest = Some(0.99 - held_up).filter(|rest| *rest > 0.0)?;
    let all = Histogram::from_base64(&lateness.hdr).ok()?;
    let late = all.percentile(100.0 * rest);
    (late > LATE_NS && !is_beside_the_point(&all, held_up, late)).then_some(late)
}

/// The share of the arrivals that were not sent in time because of who answers: they found every
/// connection busy, or came due while the answers that a stall had held back were taken in.
fn held_up(record: &Record) -> Option<f64> {
    let metric = |name: &str| record.metrics.get(name).copied();
    let due = metric("intended_per_s")? * record.window_s;
    let behind_stall = metric("behind_stall").unwrap_or(0.0) / due;
    Some(waited(record)? + behind_stall).filter(|share| share.is_finite())
}

/// Whether a lateness of the generator is small beside the waits for who answers: more sends were
/// held up than were late by themselves, and for far longer. A server that stands still for a
/// moment is then what one sees, and not that the machine had no CPU for a send now and then.
fn is_beside_the_point(all: &Histogram, held_up: f64, late: Nanos) -> bool {
    let are_late: u64 =
        all.buckets().filter(|some| some.low > LATE_NS).map(|some| some.count).sum();
    let by_themselves = are_late as f64 / all.count() as f64 - held_up;
    by_themselves < held_up && late.saturating_mul(FAR_LATER) <= all.percentile(99.0)
}

/// Whether the senders' kernels said again and again that a socket of datagrams had no room.
fn had_no_room(record: &Record) -> bool {
    let of_node = |node: &NodeCost| node.counter("snmp", "udp_sndbuf_errors");
    let refused: f64 = record.cost.nodes.iter().filter_map(of_node).sum();
    let sent = record.metrics.get("sent_packets_per_s").map_or(0.0, |rate| rate * record.window_s);
    refused > 0.0 && refused >= NO_ROOM * sent
}

#[cfg(test)]
mod tests {
    use hopbench_model::Latency;
    use hopbench_model::fixture::{self, record};
    use serde_json::json;

    use super::*;

    fn job(workload: &str) -> Job {
        fixture::job(workload, json!({}))
    }

    fn by(workload: &str, metrics: &[(&str, f64)]) -> Option<String> {
        kept(&job(workload), &record(metrics), false).map(|(name, _)| name)
    }

    /// 1000 sends, of which so many were 20 ms late and so many waited for a connection.
    fn late(workload: &str, late: u64, queued: f64, done: f64) -> (Option<Nanos>, Option<String>) {
        let mut histogram = Histogram::new();
        (0..1000).for_each(|n| histogram.record(if n < late { 20_000_000 } else { 50_000 }));
        let rate = [("requests_per_s", done), ("received_packets_per_s", done)];
        let metrics = [("intended_per_s", 1000.0), ("queued", queued), ("unsent", 0.0)];
        let mut record = record(&[metrics.as_slice(), &rate].concat());
        record.latency.insert("lateness_ns".to_owned(), histogram.summary());
        let job = job(workload);
        (late_ns(&job, &record, false), kept(&job, &record, false).map(|(name, _)| name))
    }

    /// 1000 datagrams, of which 300 found their socket busy and so many were late.
    fn datagrams(late: u64, refused: f64) -> Record {
        let mut histogram = Histogram::new();
        (0..1000).for_each(|n| histogram.record(if n < late { 20_000_000 } else { 50_000 }));
        let mut record = record(&[
            ("intended_per_s", 1000.0),
            ("queued", 300.0),
            ("unsent", 0.0),
            ("sent_packets_per_s", 900.0),
            ("received_packets_per_s", 900.0),
        ]);
        record.latency.insert("lateness_ns".to_owned(), histogram.summary());
        let snmp = [("udp_sndbuf_errors".to_owned(), refused)].into();
        record
            .cost
            .nodes
            .push(NodeCost { meters: [("snmp".to_owned(), snmp)].into(), ..NodeCost::default() });
        record
    }

    #[test]
    fn a_sender_of_datagrams_that_its_socket_holds_back_is_not_late() {
        let job = job("udp");
        let held = |record: &Record, link_full| {
            (
                late_ns(&job, record, link_full).is_some(),
                kept(&job, record, link_full).map(|(name, _)| name),
            )
        };
        let slow = (true, Some("generator".to_owned()));
        assert_eq!(
            held(&datagrams(300, 10.0), false),
            (false, None),
            "the kernel refused them again and again"
        );
        assert_eq!(held(&datagrams(300, 0.0), true), (false, None), "the link was full");
        // One thread that cannot send faster finds its socket as busy.
        assert_eq!(held(&datagrams(300, 0.0), false), slow);
        assert_eq!(held(&datagrams(300, 0.5), false), slow, "once in a long while");
        assert_eq!(held(&datagrams(320, 10.0), false), slow, "2 % were late and no socket's fault");
    }

    #[test]
    fn a_rate_that_is_offered_need_not_be_kept() {
        let record = datagrams(300, 0.0);
        let told = |params| late_ns(&fixture::job("udp", params), &record, false).is_some();
        assert!(told(json!({"offered": false})));
        assert!(!told(json!({"offered": true})));
    }

    #[test]
    fn a_generator_that_stalls_is_seen_beside_a_few_that_waited_for_a_connection() {
        let generator = Some("generator".to_owned());
        let (ns, limit) = late("http", 100, 30.0, 900.0);
        assert!(ns.is_some_and(|ns| ns.abs_diff(20_000_000) < 100_000), "{ns:?}");
        assert_eq!(limit, generator, "7 % were late and no connection's fault");
        assert_eq!(late("http", 100, 0.0, 900.0).1, generator);
        assert_eq!(
            late("http", 100, 100.0, 900.0),
            (None, None),
            "all that were late waited for a connection"
        );
        assert_eq!(late("http", 100, 995.0, 900.0), (None, None));
        assert_eq!(late("udp", 100, 100.0, 900.0).1, generator, "no sign of a full socket");
        assert_eq!(late("http", 5, 0.0, 900.0), (None, None));
        // All was done in the end, though late: that stays a warning.
        assert!(matches!(
            late("http", 100, 30.0, 1000.0),
            (Some(_), Some(limit)) if limit == "target_rate",
        ));
    }

    /// The limit and the lateness of the generator, by sends so late, so many each, and by how many
    /// of them were held up.
    fn held(sends: &[(u64, Nanos)], metrics: &[(&str, f64)]) -> (Option<Nanos>, Option<String>) {
        let mut histogram = Histogram::new();
        for (count, ns) in sends {
            (0..*count).for_each(|_| histogram.record(*ns));
        }
        let count: u64 = sends.iter().map(|(count, _)| count).sum();
        let rates = [("intended_per_s", count as f64), ("requests_per_s", 0.9 * count as f64)];
        let mut record = record(&[&rates[..], metrics].concat());
        record.latency.insert("lateness_ns".to_owned(), histogram.summary());
        let job = job("http");
        (late_ns(&job, &record, false), kept(&job, &record, false).map(|(name, _)| name))
    }

    const MS: Nanos = 1_000_000;

    #[test]
    fn a_server_that_stands_still_is_no_late_generator() {
        // Of 4000 requests 190 found all connections busy, for 0.2 s, when the server was stopped.
        // The machine had no CPU for some of the others: 141 were late by themselves.
        let stopped: Vec<(u64, Nanos)> = [(3669, MS / 10), (78, 3 * MS / 2), (27, 5 * MS / 2)]
            .into_iter()
            .chain([(16, 7 * MS / 2), (12, 9 * MS / 2), (7, 11 * MS / 2), (8, 7 * MS)])
            .chain((0..183).map(|n| (1, 9 * MS + n * MS)))
            .collect();
        assert_eq!(held(&stopped, &[("queued", 190.0)]), (None, None));
        // The same sends, when hardly one of them found all connections busy.
        let (late, limit) = held(&stopped, &[("queued", 4.0)]);
        assert!(late.is_some_and(|late| late > 100 * MS), "{late:?}");
        assert_eq!(limit.as_deref(), Some("generator"));
    }

    #[test]
    fn a_late_generator_is_told_beside_waits_for_a_connection() {
        let told = |sends: &[(u64, Nanos)], queued| held(sends, &[("queued", queued)]).1;
        let generator = Some("generator".to_owned());
        // 5 % waited for 20 ms, and 3 % were 5 ms late by themselves.
        assert_eq!(told(&[(920, 0), (30, 5 * MS), (50, 20 * MS)], 50.0), generator);
        // 6 % were 5 ms late by themselves, and fewer waited, however long.
        assert_eq!(told(&[(890, 0), (60, 5 * MS), (50, 900 * MS)], 50.0), generator);
        assert_eq!(told(&[(920, 0), (30, 5 * MS), (50, 900 * MS)], 50.0), None);
    }

    #[test]
    fn what_came_due_behind_a_stall_of_the_answers_is_no_generators_fault() {
        let burst = [(900, MS / 10), (100, 8 * MS)];
        let told = |behind: f64| {
            let metrics = [("queued", 0.0), ("behind_stall", behind), ("unsent", 0.0)];
            held(&burst, &metrics)
        };
        assert_eq!(told(100.0), (None, None));
        let (late, limit) = told(40.0);
        assert!(late.is_some_and(|late| late.abs_diff(8 * MS) < MS / 10), "{late:?}");
        assert_eq!(limit.as_deref(), Some("generator"), "6 % were late for another reason");
    }

    #[test]
    fn a_path_that_works_off_its_backlog_is_not_at_the_asked_rate() {
        let done = |done, queued| {
            by(
                "http",
                &[
                    ("intended_per_s", 1000.0),
                    ("requests_per_s", done),
                    ("queued", queued),
                    ("unsent", 0.0),
                ],
            )
        };
        assert_eq!(done(1015.0, 700.0), None);
        let reached = Some("target_rate".to_owned());
        assert_eq!(done(1009.0, 700.0), reached, "readings at edges");
        assert_eq!(done(1015.0, 5.0), reached, "few of a short window");
        assert_eq!(done(991.0, 0.0), reached);
        assert_eq!(done(989.0, 0.0), None);
    }

    #[test]
    fn a_backlog_that_grows_slowly_behind_busy_connections_is_no_rate_that_was_reached() {
        let with = |done: f64, queued: f64, mean: f64, max: f64| {
            let mut record = record(&[
                ("intended_per_s", 980.0),
                ("requests_per_s", 980.0),
                ("completed_per_s", done),
                ("queued", queued),
                ("unsent", 0.0),
            ]);
            let service = Latency { count: 973, mean, max: max as u64, ..Latency::default() };
            record.latency.insert("service_ns".to_owned(), service);
            let job = Job { connections: 4, ..job("http") };
            kept(&job, &record, false).map(|(name, _)| name)
        };
        let reached = Some("target_rate".to_owned());
        // Four connections of 4.1 ms can do 975.6 a second.
        assert_eq!(with(973.0, 900.0, 4.1e6, 4.1e6), None);
        assert_eq!(with(973.0, 100.0, 4.1e6, 4.1e6), reached, "most arrivals found one free");
        assert_eq!(with(973.0, 900.0, 3.6e6, 4.1e6), reached, "busy for 88 % of the time");
        // The longest took a tenth of the window: the law holds within 15 %, which is not enough.
        assert_eq!(with(973.0, 900.0, 3.6e6, 1e8), reached, "busy for 88 % of the time");
    }

    #[test]
    fn echoes_reach_their_rate_when_they_are_answered() {
        let ping = |received| {
            by("ping", &[("intended_per_s", 5.0), ("received", received), ("unsent", 0.0)])
        };
        assert_eq!(ping(5.0), Some("target_rate".to_owned()));
        assert_eq!(ping(4.0), None, "a fifth was lost");
        // Records without this figure know of no schedule.
        assert_eq!(by("ping", &[("received", 5.0)]), None);
    }

    #[test]
    fn a_lateness_without_its_histogram_is_taken_where_nothing_waited() {
        let mut record = record(&[("intended_per_s", 1000.0), ("requests_per_s", 900.0)]);
        record
            .latency
            .insert("lateness_ns".to_owned(), Latency { p99: 2_000_000, ..Latency::default() });
        assert_eq!(late_ns(&job("http"), &record, false), Some(2_000_000));
        record.metrics.insert("queued".to_owned(), 20.0);
        assert_eq!(late_ns(&job("http"), &record, false), None);
    }
}
