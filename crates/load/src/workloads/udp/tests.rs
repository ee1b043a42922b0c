use std::sync::Arc;

use clap::Command;
use hopbench_model::{Nanos, fixture};
use hopbench_sys::errno::ENOBUFS;

use super::*;
use crate::Window;
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::{Live, Recorder};
use crate::workload::Workload;
use crate::workload::typed::Of;

const MS: Nanos = 1_000_000;
const UDP: Of<Params> = Of::NEW;
const OFFSET: i64 = -5 * SECOND as i64;

/// Measured from 10 s to 11 s, without warm-up.
fn recorder(open_loop: bool) -> (Recorder, Arc<Live>) {
    let window = Arc::new(Window::default());
    window.open(10 * SECOND, 10 * SECOND, 11 * SECOND);
    let live = Arc::new(Live::default());
    (Recorder::new(window, Arc::clone(&live), open_loop), live)
}

fn of(live: &Live, counter: Counter) -> u64 {
    live.counts().of(counter)
}

fn datagram(number: u64, sent: Nanos, size: usize) -> Vec<u8> {
    let mut out = vec![0; size];
    out[..8].copy_from_slice(&number.to_le_bytes());
    out[8..16].copy_from_slice(&sent.to_le_bytes());
    out
}

/// Datagrams arrive a millisecond apart from 10 s on; each was sent 3 ms earlier, on a clock that
/// is 5 s behind.
fn arrive(flow: &mut UdpServer, numbers: &[u64], out: &mut Recorder) {
    for (at, number) in (10 * SECOND..).step_by(MS as usize).zip(numbers) {
        let sent = at.wrapping_add_signed(OFFSET) - 3 * MS;
        assert!(matches!(
            flow.on(Event::Received(&datagram(*number, sent, 16)), at, out),
            Op::Recv(17)
        ));
    }
}

#[test]
fn a_server_tells_lost_reordered_and_doubled_apart() {
    let (mut out, live) = recorder(false);
    let mut flow = UdpServer::new(16, OFFSET, true, false);
    flow.start(9 * SECOND);
    arrive(&mut flow, &[0, 1, 3, 2, 2, 5, 6, 6], &mut out);
    assert_eq!((of(&live, Counter::Completed), of(&live, Counter::ReceivedBytes)), (6, 96));
    assert_eq!(
        (
            of(&live, Counter::Duplicates),
            of(&live, Counter::Reordered),
            of(&live, Counter::Counted)
        ),
        (2, 1, 6)
    );
    let delays: Vec<_> =
        out.histograms().map(|(kind, h)| (kind, h.count(), h.min(), h.max())).collect();
    assert_eq!(delays, [(LatencyKind::Delay, 6, 3 * MS, 3 * MS)]);
    flow.closing(&mut out);
    let extra = out.tallies().2;
    assert_eq!(
        (extra.get(JITTER_SUM), extra.get(JITTER_FLOWS), extra.get(FOREIGN)),
        (Some(&0.0), Some(&1.0), None)
    );
}

#[test]
fn jitter_is_the_mean_over_the_window() {
    let jitter = |datagrams: &[(Nanos, Nanos)]| {
        let (mut out, _) = recorder(false);
        let mut flow = UdpServer::new(16, 0, true, false);
        flow.start(9 * SECOND);
        for (number, (at, transit)) in (0..).zip(datagrams) {
            flow.on(Event::Received(&datagram(number, at - transit, 16)), *at, &mut out);
        }
        flow.closing(&mut out);
        out.tallies().2.get(JITTER_SUM).copied()
    };
    // Uneven for a hundredth of the window, then even: at its end the filter has forgotten, the
    // mean has not.
    let at = |n: u64| 10 * SECOND + n * MS;
    let uneven = |n: u64| if n < 10 { 3 * MS + n % 2 * 1_600_000 } else { 3 * MS };
    let mut filter = hopbench_stats::Jitter::new();
    let (mut sum, mut last) = (0.0, 0.0);
    for n in 0..1000 {
        filter.observe(at(n) - uneven(n), at(n));
        last = filter.ns();
        sum += last;
    }
    let measured = jitter(&(0..1000).map(|n| (at(n), uneven(n))).collect::<Vec<_>>()).unwrap();
    assert!(last < 1.0 && (measured - sum / 1000.0).abs() < 1e-6, "{measured}, at the end {last}");
    // All |D| that went in come out again, divided over the datagrams: 10 of 1.6 ms.
    assert!((measured - 10.0 * 1_600_000.0 / 1000.0).abs() < 160.0, "{measured}");
    // What comes before and after the window moves the filter and is in no mean.
    let around =
        [(9 * SECOND, MS), (9 * SECOND + MS, MS), (10 * SECOND, MS), (12 * SECOND, 9 * MS)];
    assert_eq!(jitter(&around), Some(0.0));
    assert_eq!(jitter(&[(9 * SECOND, MS), (12 * SECOND, 9 * MS)]), None, "nothing in the window");
}

#[test]
fn without_a_common_clock_there_is_no_delay() {
    let (mut out, live) = recorder(false);
    arrive(&mut UdpServer::new(16, OFFSET, false, false), &[0, 1, 2], &mut out);
    assert_eq!((of(&live, Counter::Counted), out.histograms().count()), (3, 0));
}

#[test]
fn what_is_not_ours_is_not_counted() {
    let (mut out, live) = recorder(false);
    let mut flow = UdpServer::new(64, 0, true, false);
    flow.start(9 * SECOND);
    let now = 10 * SECOND;
    let mut registration = [0; 64];
    registration[..5].copy_from_slice(b"HOPB\x01");
    registration[5..32].fill(0xA5);
    let foreign: [&[u8]; 6] = [
        b"x",
        &registration,
        &datagram(0, now, 63),
        &datagram(0, now, 65),
        &datagram(1 << 48, now, 64),
        &datagram(0, now + 2 * 3600 * SECOND, 64),
    ];
    for bytes in foreign {
        assert!(matches!(flow.on(Event::Received(bytes), now, &mut out), Op::Recv(65)));
    }
    flow.on(Event::Received(&[]), now, &mut out);
    assert_eq!(live.counts(), hopbench_model::Counts::default());
    flow.on(Event::Received(&datagram(0, now, 64)), now, &mut out);
    flow.closing(&mut out);
    assert_eq!((of(&live, Counter::Completed), out.tallies().2.get(FOREIGN)), (1, Some(&6.0)));
}

#[test]
fn a_flow_ends_only_after_silence_and_one_more_look() {
    let (mut out, _) = recorder(false);
    let mut flow = UdpServer::new(16, 0, true, false);
    flow.start(9 * SECOND);
    let silent = |flow: &mut UdpServer, out: &mut Recorder| {
        // A worker that had no CPU comes much later than it wanted.
        let now = flow.deadline().unwrap() + 150 * MS;
        let op = flow.on(Event::TimedOut, now, out);
        assert!(
            matches!(op, Op::End) || flow.deadline().unwrap() > now,
            "a look at the socket must lie between"
        );
        (now, matches!(op, Op::End))
    };
    let mut now = 0;
    while now < 11 * SECOND + 200 * MS {
        let ended;
        (now, ended) = silent(&mut flow, &mut out);
        assert!(!ended, "at {now}");
    }
    // A straggler at the last look: all begins anew.
    flow.on(Event::Received(&datagram(0, now, 16)), now, &mut out);
    let came = now;
    while now < came + 200 * MS {
        let ended;
        (now, ended) = silent(&mut flow, &mut out);
        assert!(!ended, "{} ns after the straggler", now - came);
    }
    assert!(silent(&mut flow, &mut out).1);
}

#[test]
fn once_the_client_is_done_the_paths_own_time_is_waited_for() {
    // How long after the client was done a flow ends whose datagrams took 30 ms, with one more that
    // comes then.
    let ends_after = |straggler: Option<Nanos>, shared_clock| {
        let (mut out, _) = recorder(false);
        let mut flow = UdpServer::new(16, 0, shared_clock, false);
        flow.start(9 * SECOND);
        let came = 11 * SECOND - MS;
        flow.on(Event::Received(&datagram(0, came - 30 * MS, 16)), came, &mut out);
        let done = 11 * SECOND + 5 * MS;
        let mut straggler = straggler.map(|after| done + after);
        loop {
            let now = flow.deadline().unwrap();
            if now >= done {
                out.window().all_sent(done);
            }
            if let Some(at) = straggler.take_if(|at| *at <= now) {
                flow.on(Event::Received(&datagram(1, at - 30 * MS, 16)), at, &mut out);
                continue;
            }
            if matches!(flow.on(Event::TimedOut, now, &mut out), Op::End) {
                return now - done;
            }
        }
    };
    // Twice the 30 ms, 20 ms of quiet, and the last look.
    let within = |after: Nanos, least: Nanos| (least..=least + 5 * MS).contains(&after);
    assert!(within(ends_after(None, true), 80 * MS), "{}", ends_after(None, true));
    let late = ends_after(Some(75 * MS), true);
    assert!(within(late, 95 * MS), "{late}");
    // Where no time on the way is known, the silence after the last one.
    let unknown = ends_after(None, false);
    assert!(within(unknown, 195 * MS), "{unknown}");
}

#[test]
fn segments_of_one_send_are_numbered_and_counted() {
    let (mut out, live) = recorder(false);
    let mut flow = UdpClient::new(20, 3, 1, false);
    let now = 10 * SECOND;
    let mut op = flow.on(Event::Go { intended: now }, now, &mut out);
    let mut numbers = Vec::new();
    for sends in 0..4 {
        assert!(matches!(op, Op::Send));
        let at = now + sends;
        for segment in flow.outgoing().chunks(20) {
            numbers.push(u64::from_le_bytes(segment[..8].try_into().unwrap()));
            assert_eq!(segment[8..16], at.to_le_bytes());
        }
        op = flow.on(Event::Sent(60), at + 1, &mut out);
    }
    assert!(numbers.iter().copied().eq(0..12), "{numbers:?}");
    assert_eq!((of(&live, Counter::Sent), of(&live, Counter::SentBytes)), (12, 240));
    assert!(
        matches!(flow.on(Event::Sent(60), 11 * SECOND, &mut out), Op::Rest),
        "no send is begun after the end"
    );
}

#[test]
fn of_a_batch_the_rest_is_sent_that_the_kernel_left() {
    let (mut out, live) = recorder(true);
    let mut flow = UdpClient::new(20, 2, 3, true);
    let now = 10 * SECOND;
    let op = flow.on(Event::Go { intended: now }, now, &mut out);
    assert!(matches!(op, Op::SendEach(40)), "{op:?}");
    assert_eq!(flow.outgoing().len(), 120);
    let op = flow.on(Event::Sent(40), now + 1, &mut out);
    assert!(matches!(op, Op::SendEach(40)), "{op:?}");
    let left: Vec<u64> = flow
        .outgoing()
        .chunks(20)
        .map(|datagram| u64::from_le_bytes(datagram[..8].try_into().unwrap()))
        .collect();
    assert_eq!(left, [2, 3, 4, 5]);
    assert!(matches!(flow.on(Event::Sent(80), now + 2, &mut out), Op::Rest));
    assert_eq!((of(&live, Counter::Sent), of(&live, Counter::SentBytes)), (6, 120));
    // What is refused later is sent with the next call, under the same numbers.
    flow.on(Event::Go { intended: now }, now + 3, &mut out);
    flow.on(Event::Sent(40), now + 4, &mut out);
    let failed = Event::Failed(std::io::Error::from_raw_os_error(ENOBUFS));
    assert!(matches!(flow.on(failed, now + 5, &mut out), Op::Rest));
    flow.on(Event::Go { intended: now }, now + 6, &mut out);
    assert_eq!((flow.outgoing().len(), &flow.outgoing()[..8]), (120, &8u64.to_le_bytes()[..]));
}

#[test]
fn refused_sends_are_counted_and_their_numbers_used_again() {
    let (mut out, live) = recorder(true);
    let mut flow = UdpClient::new(16, 1, 1, true);
    let now = 10 * SECOND;
    let errors = [
        (std::io::Error::from_raw_os_error(ENOBUFS), "no buffer space"),
        (std::io::ErrorKind::PermissionDenied.into(), "filtered on this machine"),
        (std::io::ErrorKind::ConnectionRefused.into(), "port unreachable"),
    ];
    for (error, reason) in errors {
        flow.on(Event::Go { intended: now }, now, &mut out);
        let op = flow.on(Event::Failed(error), now, &mut out);
        assert!(matches!(op, Op::Rest), "{op:?}");
        assert_eq!(out.tallies().1.get(reason), Some(&1));
    }
    flow.on(Event::Go { intended: now }, now, &mut out);
    assert_eq!(flow.outgoing()[..8], 0u64.to_le_bytes());
    assert_eq!(
        (of(&live, Counter::Sent), of(&live, Counter::Errors), of(&live, Counter::CountedErrors)),
        (0, 3, 3)
    );
}

#[test]
fn a_server_that_is_gone_ends_the_trial() {
    let (mut out, _) = recorder(true);
    let mut flow = UdpClient::new(16, 1, 1, true);
    let now = 10 * SECOND;
    let mut refusals = 0;
    let fault = loop {
        assert!(matches!(flow.on(Event::Go { intended: now }, now, &mut out), Op::Send));
        refusals += 1;
        match flow.on(Event::Failed(std::io::ErrorKind::ConnectionRefused.into()), now, &mut out) {
            Op::Rest => {}
            Op::Abort(fault) => break fault,
            other => panic!("unexpected {other:?}"),
        }
    };
    assert_eq!(refusals, 100);
    assert!(fault.text.contains("the server is gone"), "{fault}");
}

#[test]
fn what_is_due_long_after_the_end_is_unsent() {
    let (mut out, live) = recorder(true);
    let mut flow = UdpClient::new(16, 1, 1, true);
    let intended = 11 * SECOND - 1;
    assert!(matches!(flow.on(Event::Go { intended }, 11 * SECOND + 9 * MS, &mut out), Op::Send));
    assert!(matches!(flow.on(Event::Go { intended }, 11 * SECOND + 10 * MS, &mut out), Op::Rest));
    assert_eq!(of(&live, Counter::Unsent), 1);
}

fn parse(arguments: &[&str]) -> Job {
    let matches = UDP
        .arguments(Command::new("udp").no_binary_name(true))
        .try_get_matches_from(arguments)
        .unwrap();
    fixture::job("udp", UDP.params(&matches).unwrap())
}

#[test]
fn the_rate_becomes_the_schedule() {
    let schedule = |arguments: &[&str]| {
        let mut job = parse(arguments);
        UDP.settle(&mut job);
        job.schedule
    };
    assert_eq!(schedule(&[]), Schedule::Rate(7812.5));
    assert_eq!(schedule(&["--rate", "max"]), Schedule::Closed);
    assert_eq!(schedule(&["--rate", "8000pps", "--gso", "8"]), Schedule::Rate(1000.0));
    assert_eq!(schedule(&["--rate", "8000pps", "--batch", "8"]), Schedule::Rate(1000.0));
    let both = ["--rate", "8000pps", "--gso", "4", "--batch", "8"];
    assert_eq!(schedule(&both), Schedule::Rate(250.0));
    assert_eq!(schedule(&["--rate", "80Mbit", "--size", "1000"]), Schedule::Rate(10_000.0));
}

#[test]
fn bad_parameters_are_named() {
    assert_eq!(UDP.problems(&parse(&[])), []);
    assert_eq!(UDP.problems(&parse(&["--size", "1023", "--gso", "64", "--rate", "max"])), []);
    assert_eq!(UDP.problems(&parse(&["--size", "65507", "--batch", "16"])), []);
    for (arguments, flag) in [
        (&["--size", "15"][..], "--size"),
        (&["--size", "65508"], "--size"),
        (&["--gso", "65"], "--gso"),
        (&["--gso", "0"], "--gso"),
        (&["--batch", "65"], "--batch"),
        (&["--batch", "0"], "--batch"),
        (&["--size", "65507", "--batch", "17"], "--batch"),
        (&["--size", "1024", "--gso", "64"], "--gso"),
        (&["--rate", "0pps"], "--rate"),
    ] {
        let problems = UDP.problems(&parse(arguments));
        assert_eq!(
            problems.iter().map(|p| p.at.as_str()).collect::<Vec<_>>(),
            [flag],
            "{arguments:?}: {problems:?}"
        );
    }
}

#[test]
fn an_engine_that_hands_over_one_send_at_a_time_has_no_batches() {
    for (engine, batch, expected) in [
        (EngineKind::Uring, "2", &["--batch"][..]),
        (EngineKind::Uring, "1", &[]),
        (EngineKind::Threads, "2", &[]),
    ] {
        let job = Job { engine, ..parse(&["--batch", batch]) };
        let problems = UDP.problems(&job);
        let at: Vec<&str> = problems.iter().map(|problem| problem.at.as_str()).collect();
        assert_eq!(at, expected, "{problems:?}");
    }
}
