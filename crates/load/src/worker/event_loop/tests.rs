use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use hopbench_model::Pacing;
use hopbench_sys::{Socket, Waker};

use super::dispatch::SERVER_LATENESS;
use super::*;
use crate::admission::throttle::Throttle;
use crate::engine::EngineSetup;
use crate::measure::recorder::Live;
use crate::measure::window::Window;
use crate::schedule::ClientNumber;
use crate::worker::dial::{Dial, SocketOptions, Transport};

const MS: Nanos = 1_000_000;

type OnAttempt<'a> = dyn FnMut(usize, &IoOp<'_>) -> Attempt<'static> + 'a;
type OnWait<'a> = dyn FnMut(u64, Nanos, &mut Vec<usize>) + 'a;
type OnEvent<'a> = dyn FnMut(&str, Nanos) -> Op + Send + 'a;
type Deadline<'a> = dyn Fn() -> Nanos + Send + 'a;

/// An engine without sockets, whose answers a test makes up.
#[derive(Default)]
struct Script<'a> {
    /// Answers attempts.
    attempt: Option<Box<OnAttempt<'a>>>,
    /// Looks at each wait, and may name slots.
    wait: Option<Box<OnWait<'a>>>,
    /// What was under way when it was cancelled was done.
    done_at_cancel: bool,
    waits: u64,
    /// When waits that were to sleep began and ended.
    sleeps: Vec<RangeInclusive<Nanos>>,
}

impl Engine for Script<'_> {
    fn new(_setup: &EngineSetup) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn adopt(&mut self, _slot: usize, _socket: &Arc<Socket>) -> io::Result<()> {
        Ok(())
    }

    fn forget(&mut self, _slot: usize) {}

    fn attempt(&mut self, slot: usize, op: &IoOp<'_>) -> Attempt<'_> {
        match &mut self.attempt {
            Some(attempt) => attempt(slot, op),
            None => Attempt::Later,
        }
    }

    fn cancel(&mut self, _slot: usize) -> bool {
        !self.done_at_cancel
    }

    fn wait(&mut self, until: Nanos, ready: &mut Vec<usize>) -> io::Result<()> {
        let begun = clock::now();
        let left = until.saturating_sub(begun);
        clock::sleep_until(begun + left.min(10 * MS));
        self.waits += 1;
        if let Some(wait) = &mut self.wait {
            wait(self.waits, left, ready);
        }
        if left > 0 {
            self.sleeps.push(begun..=clock::now());
        }
        Ok(())
    }
}

/// A flow that does the operations of a closure, which is told the name of each event.
struct Scripted<'a>(Box<OnEvent<'a>>, Option<Box<Deadline<'a>>>);

impl Flow for Scripted<'_> {
    fn start(&mut self, now: Nanos) -> Op {
        self.0("start", now)
    }

    fn on(&mut self, event: Event<'_>, now: Nanos, _out: &mut Recorder) -> Op {
        let name = format!("{event:?}");
        self.0(name.split(['(', ' ']).next().unwrap(), now)
    }

    fn deadline(&self) -> Option<Nanos> {
        self.1.as_ref().map(|deadline| deadline())
    }
}

fn flow<'a>(on: impl FnMut(&str, Nanos) -> Op + Send + 'a) -> Scripted<'a> {
    Scripted(Box::new(on), None)
}

fn event_loop<'a>(
    window: &Arc<Window>,
    flows: impl IntoIterator<Item = Scripted<'a>>,
) -> EventLoop<Scripted<'a>> {
    let setup = EventLoopSetup {
        dial: None,
        sockets: Arc::default(),
        watch_sockets: false,
        arrivals: None,
        pacing: Pacing::Sleep,
        throttle: None,
        coalesce_ns: 0,
        grace: 0,
        hand_over: None,
        cpus: Vec::new(),
    };
    let recorder = Recorder::new(Arc::clone(window), Arc::<Live>::default(), false);
    let readiness = Readiness::new(0, Arc::new(Waker::new().unwrap()));
    EventLoop::new((0..).zip(flows), recorder, Arc::new(readiness), setup)
}

/// TCP to a broadcast address: refused without a packet.
fn dial() -> Dial {
    let peer = "255.255.255.255:9".parse().unwrap();
    Dial { transport: Transport::Tcp, peer, local: Vec::new(), options: SocketOptions::default() }
}

/// A window of load from now on.
fn open(ms: Nanos) -> Arc<Window> {
    let window = Arc::new(Window::default());
    let now = clock::now();
    window.open(now, now, now + ms * MS);
    window
}

#[test]
fn a_flow_that_is_always_ready_gets_one_turn_a_round() {
    let window = open(10_000);
    let attempts = [const { AtomicU64::new(0) }; 2];
    let most = AtomicU64::new(0);
    let mut engine = Script {
        attempt: Some(Box::new(|slot, _| {
            attempts[slot].fetch_add(1, Ordering::Relaxed);
            Attempt::Now(Event::Sent(1))
        })),
        wait: Some(Box::new(|waits, _, ready| {
            for attempts in &attempts {
                most.fetch_max(attempts.swap(0, Ordering::Relaxed), Ordering::Relaxed);
            }
            ready.extend([0, 1, 0]);
            if waits == 20 {
                window.stop();
            }
        })),
        ..Script::default()
    };
    let (_, fault) =
        event_loop(&window, [(); 2].map(|()| flow(|_, _| Op::SendFill(1)))).run(&mut engine, None);
    drop(engine);
    assert_eq!((fault, most.into_inner()), (None, u64::from(TURN)));
}

#[test]
fn what_was_done_when_its_time_was_up_is_told_as_done() {
    for (done_at_cancel, expected) in [(true, "Discarded"), (false, "TimedOut")] {
        let window = open(10_000);
        let told = std::sync::Mutex::new(Vec::new());
        let begun = clock::now();
        let mut first = true;
        let mut engine = Script {
            attempt: Some(Box::new(move |_, _| {
                if std::mem::take(&mut first) {
                    Attempt::Later
                } else {
                    Attempt::Now(Event::Discarded(1))
                }
            })),
            done_at_cancel,
            ..Script::default()
        };
        let asking = flow(|event, _| {
            told.lock().unwrap().push(event.to_owned());
            if event == "start" { Op::Discard(1) } else { Op::End }
        });
        let asking = Scripted(asking.0, Some(Box::new(move || begun + 5 * MS)));
        assert_eq!(event_loop(&window, [asking]).run(&mut engine, None).1, None);
        assert_eq!(*told.lock().unwrap(), ["start", expected]);
    }
}

#[test]
fn a_deadline_may_come_before_the_one_that_is_watched() {
    let window = open(10_000);
    let begun = clock::now();
    let deadline = AtomicU64::new(begun + 5000 * MS);
    let mut tries = 0;
    let mut engine = Script {
        attempt: Some(Box::new(|_, _| {
            tries += 1;
            if tries == 2 { Attempt::Now(Event::Sent(1)) } else { Attempt::Later }
        })),
        wait: Some(Box::new(|_, _, ready| ready.push(0))),
        ..Script::default()
    };
    let hasty = flow(|event, _| match event {
        "TimedOut" => Op::End,
        "Sent" => {
            deadline.store(begun + 20 * MS, Ordering::Relaxed);
            Op::Recv(1)
        }
        _ => Op::SendFill(1),
    });
    let hasty = Scripted(hasty.0, Some(Box::new(|| deadline.load(Ordering::Relaxed))));
    assert_eq!(event_loop(&window, [hasty]).run(&mut engine, None).1, None);
    let took = clock::now() - begun;
    assert!((20 * MS..2000 * MS).contains(&took), "{took} ns");
}

#[test]
fn what_the_throttle_holds_is_not_given_up_and_wakes_no_one_later() {
    let window = open(10_000);
    let begun = clock::now();
    let told = std::sync::Mutex::new(Vec::new());
    let mut tries = 0;
    let mut engine = Script {
        // Waits once, so that the deadline is watched; then moves so much that the throttle holds
        // the next.
        attempt: Some(Box::new(|_, _| {
            tries += 1;
            if tries == 1 { Attempt::Later } else { Attempt::Now(Event::Sent(10_000)) }
        })),
        wait: Some(Box::new(|_, _, ready| ready.push(0))),
        ..Script::default()
    };
    let sender = flow(|event, now| {
        let mut told = told.lock().unwrap();
        told.push((event.to_owned(), (now - begun) / MS));
        if told.len() == 3 { Op::End } else { Op::SendFill(10_000) }
    });
    let sender = Scripted(sender.0, Some(Box::new(move || begun + 15 * MS)));
    let mut event_loop = event_loop(&window, [sender]);
    // 10 kB take 80 ms.
    event_loop.setup.throttle = Some(Arc::new(Throttle::new(1_000_000)));
    assert_eq!(event_loop.run(&mut engine, None).1, None);
    let told = told.lock().unwrap();
    assert_eq!(
        told.iter().map(|(event, _)| event.as_str()).collect::<Vec<_>>(),
        ["start", "Sent", "Sent"]
    );
    assert!(told[2].1 >= 70, "the throttle let go early: {told:?}");
}

#[test]
fn the_throttle_holds_a_sender_that_paces_itself() {
    let window = open(10_000);
    let begun = clock::now();
    let mut sent = 0;
    let paced = flow(|event, now| match event {
        "Sent" => {
            sent += 1;
            if sent == 6 { Op::End } else { Op::Wait(now + MS) }
        }
        _ => Op::SendFill(10_000),
    });
    let mut event_loop = event_loop(&window, [paced]);
    // 10 kB take 10 ms; the sender would send them every ms.
    event_loop.setup.throttle = Some(Arc::new(Throttle::new(8_000_000)));
    let mut engine = Script {
        attempt: Some(Box::new(|_, _| Attempt::Now(Event::Sent(10_000)))),
        ..Script::default()
    };
    assert_eq!(event_loop.run(&mut engine, None).1, None);
    let took = clock::now() - begun;
    assert!((48 * MS..2000 * MS).contains(&took), "{took} ns");
}

#[test]
fn a_server_that_is_not_closed_does_not_spin_after_the_window() {
    let window = Arc::new(Window::default());
    let now = clock::now();
    window.open(now, now, now.saturating_sub(SERVER_LATENESS) + 20 * MS);
    let inbox = Inbox::new(Arc::new(Waker::new().unwrap()));
    let mut at_once = 0;
    let mut engine = Script {
        wait: Some(Box::new(|waits, timeout, _| {
            at_once += u64::from(timeout < MS);
            if waits == 40 {
                inbox.close();
            }
        })),
        ..Script::default()
    };
    // One flow is cut, then nothing is left.
    let stuck = flow(|_, _| Op::Recv(1));
    event_loop(&window, [stuck]).run(&mut engine, Some(&inbox));
    drop(engine);
    assert!(at_once < 5, "{at_once} of 40 waits returned at once");
}

#[test]
fn flows_that_were_never_opened_are_not_opened_after_the_cut() {
    let window = open(5);
    let opened = AtomicU64::new(0);
    let flows: Vec<_> = (0..2 * OPENING_AT_ONCE)
        .map(|_| {
            flow(|_, _| {
                opened.fetch_add(1, Ordering::Relaxed);
                Op::Recv(1)
            })
        })
        .collect();
    let mut event_loop = event_loop(&window, flows);
    event_loop.setup.dial = Some(dial());
    let (_, fault) = event_loop.run(&mut Script::default(), None);
    assert_eq!((fault, opened.into_inner()), (None, OPENING_AT_ONCE as u64));
}

#[test]
fn connecting_that_fails_at_once_leaves_room_for_others_and_for_the_end() {
    let window = open(10_000);
    let failures = AtomicU64::new(0);
    let mut engine = Script {
        wait: Some(Box::new(|waits, _, _| {
            if waits == 3 {
                window.stop();
            }
        })),
        ..Script::default()
    };
    let stubborn = flow(|event, _| {
        failures.fetch_add(u64::from(event == "Failed"), Ordering::Relaxed);
        Op::Connect
    });
    let mut event_loop = event_loop(&window, [stubborn]);
    event_loop.setup.dial = Some(dial());
    assert_eq!(event_loop.run(&mut engine, None).1, None);
    // Once when it was opened, and once after each wait.
    assert_eq!(failures.into_inner(), 4 * u64::from(TURN));
}

/// An open loop of one arrival a ms for 50 ms, whose exchanges end when `done` says and whose
/// sleeps end when `woken` says. How many of them counted as queued, and how many came due while
/// the worker was awake.
fn open_loop(
    done: impl Fn(Nanos, Nanos) -> Nanos,
    woken: impl Fn(Nanos, Nanos) -> Nanos,
) -> (u64, u64) {
    let window = open(50);
    let start = window.load_start();
    let mut engine = Script {
        attempt: Some(Box::new(|_, _| {
            clock::sleep_until(done(start, clock::now()));
            Attempt::Now(Event::Sent(1))
        })),
        wait: Some(Box::new(|_, left, _| {
            if left > 0 {
                clock::sleep_until(woken(start, clock::now()));
            }
        })),
        ..Script::default()
    };
    let sent = AtomicU64::new(0);
    let blocking = flow(|event, _| match event {
        "Go" => {
            sent.fetch_add(1, Ordering::Relaxed);
            Op::SendFill(1)
        }
        "Finish" => Op::End,
        _ => Op::Rest,
    });
    let mut event_loop = event_loop(&window, [blocking]);
    let schedule = hopbench_model::Schedule::Rate(1000.0);
    event_loop.setup.arrivals = Some(Box::new(move |_| {
        Arrivals::new(schedule, 1, ClientNumber::ALONE, (0, 1), start, 0).unwrap()
    }));
    event_loop.setup.grace = 10_000 * MS;
    let live = Arc::new(Live::default());
    event_loop.recorder = Recorder::new(Arc::clone(&window), Arc::clone(&live), true);
    assert_eq!(event_loop.run(&mut engine, None).1, None);
    let counts = live.counts();
    let [intended, unsent] = [Counter::Intended, Counter::Unsent].map(|counter| counts.of(counter));
    assert_eq!((sent.into_inner(), intended, unsent), (50, 50, 0));
    let awake = (0..50)
        .map(|n| start + n * MS)
        .filter(|due| !engine.sleeps.iter().any(|sleep| sleep.contains(due)))
        .count();
    (counts.of(Counter::Queued), awake as u64)
}

/// Wakes up when it should.
fn in_time(_start: Nanos, now: Nanos) -> Nanos {
    now
}

#[test]
fn an_open_loop_sends_all_that_was_due_even_when_each_exchange_blocks() {
    // All but the first come due while one before is under way.
    let (queued, _) = open_loop(|_, now| now + 3 * MS, in_time);
    assert!(queued >= 10, "{queued} queued");
}

#[test]
fn an_open_loop_sends_what_came_due_while_its_last_exchange_blocked() {
    open_loop(
        |start, now| if now < start + 40 * MS { now } else { now.max(start + 60 * MS) },
        in_time,
    );
}

#[test]
fn what_a_late_worker_finds_due_did_not_wait_for_a_connection() {
    // It sleeps from 10 to 40 ms and for 5 ms each time after that, while its flow rests; exchanges
    // take no time.
    let woken = |start: Nanos, now: Nanos| {
        if now < start + 10 * MS { now } else { (start + 40 * MS).max(now + 5 * MS) }
    };
    // What comes due in the moment of an exchange does wait. That is more where the machine has no
    // CPU for it.
    let (queued, awake) = open_loop(|_, now| now, woken);
    assert!(queued <= awake, "{queued} queued, {awake} due while the worker was awake");
}

/// An open loop of one arrival a ms for 100 ms, for which there are flows enough. An answer comes
/// with the sleep after its request, but none in the first `stall` ns, and it takes 0.3 ms to take
/// it in. Sleeps end when `woken` says. How many arrivals counted as queued, and how many as behind
/// a stall.
fn many_flows(stall: Nanos, woken: impl Fn(Nanos, Nanos) -> Nanos) -> (u64, u64) {
    const FLOWS: usize = 128;
    let window = Arc::new(Window::default());
    let start = clock::now() + 20 * MS;
    window.open(start, start, start + 100 * MS);
    let sleeps = AtomicU64::new(0);
    let mut asked_in = vec![0; FLOWS];
    let mut engine = Script {
        attempt: Some(Box::new(|slot, io| {
            let (now, slept) = (clock::now(), sleeps.load(Ordering::Relaxed));
            if !matches!(io, IoOp::Recv(_)) {
                asked_in[slot] = slept;
                return Attempt::Now(Event::Sent(1));
            }
            if asked_in[slot] == slept || now < start + stall {
                return Attempt::Later;
            }
            while clock::now() < now + MS * 3 / 10 {
                std::hint::spin_loop();
            }
            Attempt::Now(Event::Received(b"x"))
        })),
        wait: Some(Box::new(|waits, left, ready| {
            if left > 0 {
                clock::sleep_until(woken(start, clock::now()));
            }
            sleeps.store(waits, Ordering::Relaxed);
            ready.extend(0..FLOWS);
        })),
        ..Script::default()
    };
    let flows = (0..FLOWS).map(|_| {
        flow(|event, _| match event {
            "Go" => Op::SendFill(1),
            "Sent" => Op::Recv(1),
            "Finish" => Op::End,
            _ => Op::Rest,
        })
    });
    let mut event_loop = event_loop(&window, flows);
    let schedule = hopbench_model::Schedule::Rate(1000.0);
    event_loop.setup.arrivals = Some(Box::new(move |_| {
        Arrivals::new(schedule, 1, ClientNumber::ALONE, (0, 1), start, 0).unwrap()
    }));
    event_loop.setup.grace = 10_000 * MS;
    let live = Arc::new(Live::default());
    event_loop.recorder = Recorder::new(Arc::clone(&window), Arc::clone(&live), true);
    assert_eq!(event_loop.run(&mut engine, None).1, None);
    let counts = live.counts();
    assert_eq!([Counter::Intended, Counter::Unsent].map(|c| counts.of(c)), [100, 0]);
    (counts.of(Counter::Queued), counts.of(Counter::BehindStall))
}

#[test]
fn what_comes_due_while_held_back_answers_are_taken_in_did_not_wait_for_the_worker() {
    // 40 answers take 12 ms together. A machine that has no CPU for the worker while they are held
    // back makes the silence unsure; one time of ten it has one.
    let seen = (0..10).find(|_| {
        let (queued, behind) = many_flows(40 * MS, in_time);
        assert_eq!(queued, 0, "there always was a flow that rested");
        (5..60).contains(&behind)
    });
    assert!(seen.is_some(), "a burst of answers was never seen as one");
}

#[test]
fn what_a_worker_finds_due_that_slept_too_long_is_behind_no_stall() {
    // It sleeps for 30 ms too long, and all answers come meanwhile.
    let woken = |start: Nanos, now: Nanos| {
        let is_long = (start + 40 * MS..start + 50 * MS).contains(&now);
        if is_long { start + 70 * MS } else { now }
    };
    assert_eq!(many_flows(0, woken), (0, 0));
}
