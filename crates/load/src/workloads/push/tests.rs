use std::sync::Arc;

use clap::Command;
use hopbench_model::{Counts, fixture};

use super::*;
use crate::Window;
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::{Live, Recorder};
use crate::workload::Workload;
use crate::workload::typed::Of;

const MS: Nanos = 1_000_000;
const PUSH: Of<Params> = Of::NEW;

/// Load from 1 s on, measured from 1.1 s to 2.1 s.
fn recorder() -> (Recorder, Arc<Live>) {
    let window = Arc::new(Window::default());
    window.open(SECOND, SECOND + 100 * MS, 2 * SECOND + 100 * MS);
    let live = Arc::new(Live::default());
    (Recorder::new(window, Arc::clone(&live), false), live)
}

fn samples(recorder: &Recorder, kind: LatencyKind) -> Vec<(u64, u64, u64)> {
    recorder
        .histograms()
        .filter(|(k, _)| *k == kind)
        .map(|(_, h)| (h.count(), h.min(), h.max()))
        .collect()
}

fn message(number: u64, intended: Nanos, size: usize) -> Vec<u8> {
    let mut out = vec![7; size];
    out[..8].copy_from_slice(&number.to_le_bytes());
    out[8..16].copy_from_slice(&intended.to_le_bytes());
    out
}

/// Does all that a server's flow asks for at once, each send taking `cost` ns, until it closes.
fn serve(
    flow: &mut PushServer,
    cost: impl Fn(Nanos) -> Nanos,
    out: &mut Recorder,
) -> Vec<(Nanos, u64, Nanos)> {
    let mut now = SECOND + 3 * MS;
    let mut begun = Vec::new();
    let mut op = flow.on(Event::Go { intended: now }, now, out);
    loop {
        op = match op {
            Op::Wait(until) => {
                assert!(until > now, "a wait must lie ahead");
                now = until;
                flow.on(Event::Timer, now, out)
            }
            Op::Send => {
                let head = flow.outgoing().to_vec();
                begun.push((
                    now,
                    u64::from_le_bytes(head[..8].try_into().unwrap()),
                    u64::from_le_bytes(head[8..16].try_into().unwrap()),
                ));
                now += cost(now);
                flow.on(Event::Sent(head.len()), now, out)
            }
            Op::SendFill(n) => flow.on(Event::Sent(n), now, out),
            Op::FinishSending => return begun,
            other => panic!("unexpected {other:?}"),
        }
    }
}

fn of(live: &Live, counter: Counter) -> u64 {
    let counts: Counts = live.counts();
    counts.of(counter)
}

#[test]
fn every_message_is_sent_at_its_time() {
    let (mut out, live) = recorder();
    let mut flow = PushServer::new(25_000, 50.0 * MS as f64, 20 * MS);
    let begun = serve(&mut flow, |_| 1000, &mut out);
    // Due at 1020, 1070, ... 2070 ms; the window begins at 1100 ms.
    assert_eq!(begun.len(), 22);
    for ((at, number, intended), expected) in begun.iter().zip(0..) {
        assert_eq!(
            (*number, *intended, *at),
            (expected, SECOND + 20 * MS + expected * 50 * MS, *intended)
        );
    }
    assert_eq!((of(&live, Counter::Sent), of(&live, Counter::Intended)), (22, 20));
    assert_eq!((of(&live, Counter::Counted), of(&live, Counter::Unsent)), (20, 0));
    assert_eq!(of(&live, Counter::SentBytes), 22 * 25_000);
    assert_eq!(samples(&out, LatencyKind::Lateness), [(20, 1000, 1000)]);
}

#[test]
fn a_slow_connection_makes_messages_late_and_skips_none() {
    let (mut out, live) = recorder();
    let mut flow = PushServer::new(100, 10.0 * MS as f64, 0);
    // Blocked from 1.5 s on for 95 ms, once.
    let begun =
        serve(&mut flow, |now| if now == SECOND + 500 * MS { 95 * MS } else { 1 }, &mut out);
    assert!(begun.iter().map(|(_, number, _)| *number).eq(0..110), "{begun:?}");
    assert_eq!(
        (of(&live, Counter::Intended), of(&live, Counter::Counted), of(&live, Counter::Unsent)),
        (100, 100, 0)
    );
    flow.closing(&mut out);
    // 95 ms late themselves, 85, 75 ... 5 ms those behind.
    assert_eq!(out.tallies().2.get(LATE_MESSAGES), Some(&10.0));
    assert_eq!(of(&live, Counter::Queued), 10, "the connection was full");
    let [(100, 1, max)] = samples(&out, LatencyKind::Lateness)[..] else {
        panic!("{:?}", samples(&out, LatencyKind::Lateness))
    };
    assert_eq!(max, 95 * MS);
}

#[test]
fn what_a_late_worker_sends_did_not_wait_for_its_connection() {
    let (mut out, live) = recorder();
    let mut flow = PushServer::new(100, 10.0 * MS as f64, 0);
    assert!(matches!(flow.on(Event::Go { intended: SECOND }, SECOND, &mut out), Op::Send));
    assert!(matches!(flow.on(Event::Sent(100), SECOND + 1, &mut out), Op::Wait(_)));
    // The next one is due at 1010 ms, and the worker wakes up at 1200 ms.
    let mut now = SECOND + 200 * MS;
    let mut op = flow.on(Event::Timer, now, &mut out);
    while matches!(op, Op::Send) {
        now += 1;
        op = flow.on(Event::Sent(100), now, &mut out);
    }
    // Those of the window, 1100 to 1200 ms.
    assert_eq!((of(&live, Counter::Intended), of(&live, Counter::Queued)), (11, 0));
}

#[test]
fn what_a_blocked_connection_cannot_take_is_unsent() {
    let (mut out, live) = recorder();
    let mut flow = PushServer::new(100, 10.0 * MS as f64, 0);
    let begun = serve(
        &mut flow,
        |now| {
            if now == SECOND + 500 * MS { 2 * SECOND } else { 1 }
        },
        &mut out,
    );
    assert_eq!(begun.len(), 51);
    // 1100 to 1500 ms inclusive were sent, 1510 to 2090 were not.
    assert_eq!(
        (of(&live, Counter::Intended), of(&live, Counter::Counted), of(&live, Counter::Unsent)),
        (100, 41, 59)
    );
    flow.closing(&mut out);
    assert_eq!(of(&live, Counter::Unsent), 59, "nothing is counted twice");
}

#[test]
fn a_message_that_is_cut_is_unsent() {
    let (mut out, live) = recorder();
    let mut flow = PushServer::new(10_000, 100.0 * MS as f64, 0);
    let begin = SECOND + 100 * MS;
    assert!(matches!(flow.on(Event::Go { intended: SECOND }, begin, &mut out), Op::Send));
    // Message 0 belongs to the warm-up; message 1 gets stuck after its first part.
    assert!(matches!(flow.on(Event::Sent(4096), begin, &mut out), Op::SendFill(5904)));
    assert!(matches!(flow.on(Event::Sent(5904), begin, &mut out), Op::Send));
    assert!(matches!(flow.on(Event::Sent(4096), begin, &mut out), Op::SendFill(5904)));
    flow.closing(&mut out);
    assert_eq!((of(&live, Counter::Sent), of(&live, Counter::Counted)), (1, 0));
    assert_eq!((of(&live, Counter::Intended), of(&live, Counter::Unsent)), (10, 10));
}

#[test]
fn messages_are_found_however_the_stream_is_cut() {
    let stream: Vec<u8> =
        (0..50).flat_map(|n| message(n, SECOND + 200 * MS + n * MS, 37)).collect();
    for cut in 1..90 {
        let (mut out, live) = recorder();
        let mut flow = PushClient::new(37, Clocks { server_offset_ns: 0, shared: true });
        for (i, piece) in stream.chunks(cut).enumerate() {
            let op = flow.on(Event::Received(piece), SECOND + 300 * MS + i as u64, &mut out);
            assert!(matches!(op, Op::Recv(_)), "{op:?}");
        }
        assert!(matches!(flow.on(Event::Closed, SECOND + 400 * MS, &mut out), Op::End));
        assert_eq!((of(&live, Counter::Completed), of(&live, Counter::Counted)), (50, 50));
        assert_eq!(of(&live, Counter::ReceivedBytes), stream.len() as u64);
        assert_eq!(samples(&out, LatencyKind::Delay)[0].0, 50);
        assert_eq!(samples(&out, LatencyKind::Gap)[0].0, 49, "the first message has no gap");
    }
}

#[test]
fn a_number_out_of_turn_ends_the_trial() {
    let (mut out, _) = recorder();
    let mut flow = PushClient::new(16, Clocks { server_offset_ns: 0, shared: true });
    assert!(matches!(
        flow.on(Event::Received(&message(0, SECOND, 16)), SECOND + 1, &mut out),
        Op::Recv(_)
    ));
    let Op::Abort(fault) = flow.on(Event::Received(&message(2, SECOND, 16)), SECOND + 2, &mut out)
    else {
        panic!("a missing message went unnoticed");
    };
    assert!(fault.text.contains("message 2 came where message 1 was due"), "{fault}");
}

#[test]
fn delays_take_the_clocks_into_account() {
    // The server's clock is 1000 s ahead; messages take 3, 1 and 5 ms.
    let offset = 1000 * SECOND;
    let delays = |shared| {
        let (mut out, live) = recorder();
        let mut flow = PushClient::new(16, Clocks { server_offset_ns: offset as i64, shared });
        for (number, took) in (0..).zip([3 * MS, MS, 5 * MS]) {
            let sent = SECOND + 200 * MS + number * 10 * MS;
            flow.on(Event::Received(&message(number, sent + offset, 16)), sent + took, &mut out);
        }
        assert_eq!(of(&live, Counter::Counted), 3, "the window is found on either clock");
        samples(&out, LatencyKind::Delay)[0]
    };
    assert_eq!(delays(true), (3, MS, 5 * MS));
    // Relative to the fastest so far: 0, 0, 4 ms.
    assert_eq!(delays(false), (3, 0, 4 * MS));
}

#[test]
fn a_message_belongs_to_the_window_by_its_intended_time() {
    let (mut out, live) = recorder();
    let mut flow = PushClient::new(16, Clocks { server_offset_ns: 0, shared: true });
    let end = out.window().end();
    for (number, intended) in (0..).zip([SECOND + 99 * MS, SECOND + 100 * MS, end - 1, end]) {
        flow.on(Event::Received(&message(number, intended, 16)), end + MS, &mut out);
    }
    assert_eq!((of(&live, Counter::Completed), of(&live, Counter::Counted)), (4, 2));
}

fn parse(arguments: &[&str]) -> Job {
    let matches = PUSH
        .arguments(Command::new("push").no_binary_name(true))
        .try_get_matches_from(arguments)
        .unwrap();
    Job { connections: 4, ..fixture::job("push", PUSH.params(&matches).unwrap()) }
}

#[test]
fn flags_become_parameters_and_bad_ones_are_named() {
    assert_eq!(PUSH.problems(&parse(&[])), []);
    assert_eq!(parse(&[]).params["size"], serde_json::json!(["25kB"]));
    assert_eq!(
        PUSH.problems(&parse(&["--size", "16:1kB:*2", "--rate", "0.5", "--stagger", "together"])),
        []
    );
    for (arguments, flag) in [
        (["--size", "15"], "--size"),
        (["--size", "2GiB"], "--size"),
        (["--rate", "0"], "--rate"),
        (["--rate", "-0"], "--rate"),
        (["--rate", "inf"], "--rate"),
        (["--rate", "nan"], "--rate"),
        (["--rate", "1e7"], "--rate"),
    ] {
        let mut job = parse(&arguments);
        // As if it had come in a message.
        job.params = job.params.json().clone().into();
        let problems = PUSH.problems(&job);
        assert_eq!(problems, PUSH.problems(&parse(&arguments)));
        assert_eq!(
            problems.iter().map(|p| p.at.as_str()).collect::<Vec<_>>(),
            [flag],
            "{arguments:?}: {problems:?}"
        );
    }
}

#[test]
fn phases_spread_connections_over_the_period() {
    let phases = |stagger: &str| {
        let params: Arc<Params> =
            parse(&["--rate", "20", "--stagger", stagger]).params.typed().unwrap();
        [0, 1, 2, 3].map(|flow| params.phase(flow, 4))
    };
    assert_eq!(phases("spread"), [0, 12_500_000, 25_000_000, 37_500_000]);
    assert_eq!(phases("together"), [0; 4]);
}
