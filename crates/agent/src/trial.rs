//! One end of one trial, from `Prepare` to the report.

mod cpus;
mod ending;
mod observer;
mod opening;
mod order;
mod registration;
mod report;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hopbench_load::{Context, FlowGuard, FlowLimit, HandshakeCodec, SocketSet, Window, Workers};
use hopbench_model::units::Span;
use hopbench_model::{Counter, EndReport, Fault, Job, Nanos, SECOND, Tick, Transport};
use hopbench_sys::{Waker, clock, usage};
use hopbench_wire::{Prepare, Role};

use crate::limits::threads::ThreadGuard;
use crate::port::flow_handshake::RunHandshake;
use crate::port::flow_router::ExpectedConnections;
use crate::shared::Shared;
use observer::Observer;
use registration::{Registration, answers};

/// One end of a trial under way.
pub(crate) struct ActiveTrial {
    shared: Arc<Shared>,
    job: Job,
    role: Role,
    /// The entry of a server's flows, until the other end is done.
    registration: Registration,
    /// The numbers that a client's flows have in the run.
    handshake: Option<Arc<RunHandshake>>,
    window: Arc<Window>,
    sockets: Arc<SocketSet>,
    /// A server's open flows, and how many found no place.
    flow_limit: Arc<FlowLimit>,
    /// The places of a client's flows among all of the agent's.
    flow_guards: Vec<FlowGuard>,
    /// Its worker threads among all of the agent's, until it ends.
    threads: Option<ThreadGuard>,
    /// The connections that a server waits for.
    expected: Option<ExpectedConnections>,
    workers: Option<Workers>,
    observer: Observer,
    /// What this thread had spent when the window began, ns.
    spent_before: Nanos,
    phase: Phase,
    report: EndReport,
    next_tick: Nanos,
    /// When the conductor is told of a tick again.
    next_word: Nanos,
    /// The other end is done; a server's flows need not be waited for beyond this.
    closing_until: Option<Nanos>,
    /// The run that flows name in their header.
    run: u32,
    /// Whether its flows stay when its visit is over.
    stays: bool,
    /// Whether it must not be visited again all the same.
    is_in_doubt: bool,
    /// Bytes that a server has to receive before a visit, or a trial of datagrams, is over. `None`:
    /// nobody said.
    awaited: Option<u64>,
    /// When a server was told that its clients are done.
    finished_at: Nanos,
    /// When it had received all datagrams.
    arrived_at: Option<Nanos>,
    /// Whether a server's workers know that the visit is over.
    is_told: bool,
    /// The warm-up that its order asked for.
    granted_warmup_ns: Nanos,
    /// How long its flows may take to open.
    opening: Nanos,
    prepared: Nanos,
    ready_by: Nanos,
    /// When the trial ends whatever the conductor says or does not say: before `Start`, by when
    /// that must have come.
    must_end: Nanos,
    /// Why an order to start is not followed.
    refused: Option<Fault>,
    /// How long a server waits for its flows' ends once the client is done.
    patience: Nanos,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Flows are being opened.
    Opening,
    /// Waiting for `Start`.
    Ready,
    /// Load runs, the window has not begun.
    WarmUp,
    /// The window.
    Measuring,
    /// The window is over, the last exchanges and bytes are under way.
    Draining,
    /// The visit is over and reported, and all is prepared for the next one.
    Resting,
}

/// The result of a look at a trial.
#[allow(clippy::large_enum_variant, reason = "one at a time, a few a second")]
pub(crate) enum News {
    Ready(Vec<String>),
    Tick(Tick),
    Done(Box<EndReport>),
    Failed(Fault, Option<Box<EndReport>>),
}

/// How long a server waits for the ends of flows that do end: the client closes each.
const CLOSING: Nanos = 2 * SECOND;
/// How long it waits where nothing tells that a flow is over. A client that is done waits for no
/// answer any more: what comes still is in no figure.
const CLOSING_ENDLESS: Nanos = 10_000_000;
/// The least time between two ticks that the conductor is told of: each costs both of them more
/// than the tick itself.
const BETWEEN_WORDS: Nanos = SECOND / 10;
/// How often a server looks whether all bytes of a visit have come.
const BETWEEN_COUNTS: Nanos = 500_000;
/// The longest delay of a trial's end.
const LATENESS: Nanos = 10 * SECOND;
/// How long after `Prepare` the order to start may come, where opening the flows takes no longer. A
/// trial that rests waits as long for its next visit.
pub(crate) const START_LIMIT: Nanos = 30 * SECOND;
/// How long after all flows may be open it may come at least.
const START_MARGIN: Nanos = 5 * SECOND;
/// How far in the future a warm-up may begin.
const EARLIEST_ORDER: Nanos = 60 * SECOND;

impl ActiveTrial {
    /// Makes ready for a trial; workers of a client connect from here on.
    pub(crate) fn prepare(
        prepare: &Prepare,
        shared: &Arc<Shared>,
        notify: &Arc<Waker>,
    ) -> Result<Self, Fault> {
        let (workload, target) = order::check(prepare, shared)?;
        let (job, kind) = (prepare.job.clone(), workload.kind());
        let (window, sockets) = (Arc::<Window>::default(), Arc::<SocketSet>::default());
        let handshake = order::handshake(prepare, workload);
        let context = Context {
            job: job.clone(),
            window: Arc::clone(&window),
            sockets: Arc::clone(&sockets),
            throttle: shared.throttle.clone(),
            notify: Arc::clone(notify),
            target,
            handshake: handshake.clone().map(|handshake| -> Arc<dyn HandshakeCodec> { handshake }),
            credential: order::credential(prepare, workload),
            server_work_ns: shared.limits.server_work_ns.unwrap_or(0),
            tls: shared.server_tls(),
            certificate: shared.client_certificate(),
            peer_clock_offset_ns: prepare.peer_clock_offset_ns,
            shared_clock: prepare.shared_clock,
            stays: prepare.stays && hopbench_load::stays(workload, &job),
            client: order::client_number(prepare),
        };
        let flow_limit = registration::flow_limit(shared, workload, job.connections);
        // What processes spend is no business of whoever only sends load.
        let observer = Observer::of(prepare, shared.may_be_client || shared.permits.is_some())?;
        let flow_guards = if prepare.role == Role::Client {
            shared.flow_router.flow_guards(job.connections)?
        } else {
            Vec::new()
        };
        // Who looks on counts, too: a session with a trial makes no room for another.
        let threads = shared.threads.take(&job, registration::looks_on(workload, prepare))?;
        let (expected, started) = match prepare.role {
            Role::Client => {
                (None, workload.client(&context).map(|workers| (workers, Registration::Closed)))
            }
            Role::Server => (
                Some(shared.flow_router.expect(job.connections, kind.is_http())),
                registration::open(shared, workload, &context, prepare, &flow_limit),
            ),
            Role::Onlooker => {
                (None, registration::open(shared, workload, &context, prepare, &flow_limit))
            }
        };
        // Of several workers some may run where the others could not be started.
        let (workers, registration) = started.inspect_err(|_| window.stop())?;
        let endless =
            kind.is_http() || (kind.is_of_exchanges() && job.transport() == Transport::Udp);
        shared.trials.fetch_add(1, Ordering::AcqRel);
        let timing = job.timing;
        let patience = timing
            .timeout_ns
            .max(5 * SECOND)
            .saturating_add(u64::from(job.connections) * 1_000_000);
        let mut prepared = Self {
            shared: Arc::clone(shared),
            run: prepare.run,
            stays: context.stays,
            is_in_doubt: false,
            granted_warmup_ns: timing.warmup_ns,
            opening: patience,
            awaited: None,
            finished_at: 0,
            arrived_at: None,
            is_told: false,
            patience: if endless && !context.stays { CLOSING_ENDLESS } else { CLOSING },
            role: prepare.role,
            registration,
            handshake: handshake.filter(|_| prepare.role == Role::Client),
            window,
            sockets,
            flow_limit,
            flow_guards,
            threads: Some(threads),
            expected,
            workers: Some(workers),
            observer,
            spent_before: 0,
            phase: Phase::Opening,
            report: EndReport::default(),
            next_tick: Nanos::MAX,
            next_word: 0,
            closing_until: None,
            prepared: 0,
            ready_by: 0,
            must_end: 0,
            refused: None,
            job,
        };
        prepared.wait_for_order();
        Ok(prepared)
    }

    /// From here on it waits for its flows, and for the order to start.
    fn wait_for_order(&mut self) {
        self.prepared = clock::now();
        self.ready_by = self.prepared.saturating_add(self.opening);
        let by_order = self.prepared.saturating_add(START_LIMIT);
        self.must_end = by_order.max(self.ready_by.saturating_add(START_MARGIN));
    }

    /// The run of a trial whose visit is over, if it stays prepared.
    pub(crate) fn rests(&self) -> Option<u32> {
        let is_kept = self.stays && !self.is_in_doubt && self.phase == Phase::Resting;
        is_kept.then_some(self.run)
    }

    /// Whether connections were closed while it rested.
    pub(crate) fn is_broken(&self) -> bool {
        self.sockets.broken() > 0
    }

    /// Makes ready for another visit.
    pub(crate) fn revisit(&mut self, warmup_ns: Nanos) {
        // What was granted is the bound.
        self.job.timing.warmup_ns = warmup_ns.min(self.granted_warmup_ns);
        self.shared.trials.fetch_add(1, Ordering::AcqRel);
        self.phase = Phase::Opening;
        self.observer.look_again();
        (self.next_tick, self.next_word, self.closing_until) = (Nanos::MAX, 0, None);
        (self.awaited, self.arrived_at, self.is_told) = (None, None, false);
        self.wait_for_order();
    }

    /// Fixes the window; load starts a warm-up earlier.
    pub(crate) fn start(&mut self, window_start: Nanos) {
        let timing = self.job.timing;
        let latest = clock::now().saturating_add(timing.warmup_ns).saturating_add(EARLIEST_ORDER);
        if window_start > latest {
            self.refused = Some(Fault::input(
                "the window starts later than 60 s after its warm-up could begin",
            ));
            return;
        }
        let end = window_start.saturating_add(timing.window_ns);
        let load_start = window_start.saturating_sub(timing.warmup_ns);
        self.window.open(load_start, window_start, end);
        self.must_end =
            end.max(clock::now()).saturating_add(timing.timeout_ns).saturating_add(LATENESS);
        self.report.order_late_ns = clock::now().saturating_sub(load_start);
        self.report.start_late_ns = self.report.order_late_ns;
        self.report.window_start_ns = window_start;
        self.phase = Phase::WarmUp;
        self.next_tick = load_start.saturating_add(timing.interval_ns).min(window_start);
        if let Some(workers) = &self.workers {
            workers.wake();
        }
    }

    /// Ends the window now, if it is not over, and lets the flows end.
    pub(crate) fn finish(&mut self, now: Nanos) {
        // This thread may be late where workers spin: a window that is over by the clock was not
        // cut short.
        let over = now >= self.window.end();
        // What ends before its time is in doubt, and not kept.
        self.is_in_doubt |= !over;
        match self.phase {
            Phase::WarmUp | Phase::Measuring if over => {}
            Phase::Opening | Phase::Ready | Phase::WarmUp => self.window.stop(),
            Phase::Measuring => {
                self.window.finish(now);
                self.report.incomplete = Some("interrupted".to_owned());
            }
            Phase::Draining | Phase::Resting => {}
        }
        if self.role != Role::Client {
            (self.closing_until, self.finished_at) = (Some(now + self.patience), now);
            // Only a client that came to the end of the window by itself has certainly sent
            // everything.
            if over {
                self.window.all_sent(now);
            }
            if self.stays {
                self.workers.iter().for_each(Workers::drain);
            } else {
                self.registration = Registration::Closed;
                self.workers.iter().for_each(Workers::close);
            }
        } else if let Some(workers) = &self.workers {
            workers.wake();
        }
    }

    /// When to look again if nothing happens before.
    pub(crate) fn next_look(&self) -> Nanos {
        let end = self.window.end();
        let next = match self.phase {
            Phase::Opening => self.ready_by,
            Phase::Ready | Phase::Resting => Nanos::MAX,
            Phase::WarmUp => self.next_tick.min(self.window.start()),
            Phase::Measuring => self.next_tick.min(end),
            // A server waits for the word that the client is done; a client's flows have their own
            // grace.
            Phase::Draining if self.awaits_bytes() => {
                self.drained_by().min(clock::now() + BETWEEN_COUNTS)
            }
            Phase::Draining => self.drained_by(),
        };
        next.min(self.must_end)
    }

    /// Looks at the workers and at the clock.
    pub(crate) fn look(&mut self) -> Option<News> {
        let refused = self.refused.take();
        let workers = self.workers.as_ref()?;
        let running = workers.running();
        // After the workers: one that had ended before would seem to have ended inside a window
        // that is over.
        let now = clock::now();
        if workers.fault().is_some() {
            return Some(self.conclude());
        }
        if let Some(fault) = refused {
            self.window.stop();
            return Some(self.fail(fault));
        }
        if now >= self.must_end {
            self.window.stop();
            return Some(match self.phase {
                Phase::Opening | Phase::Ready => self.fail(Fault::measuring(format!(
                    "the trial was not started within {} once prepared; what it held was released",
                    Span(self.must_end - self.prepared)
                ))),
                _ => self.conclude(),
            });
        }
        if self.shared.trials.load(Ordering::Relaxed) > 1 {
            self.report.shared = true;
        }
        match self.phase {
            // Finished before it was started: `Ready` must not be said any more.
            Phase::Opening | Phase::Ready if self.window.stopped() => Some(self.conclude()),
            Phase::Opening if self.role != Role::Client || workers.ready() => {
                self.phase = Phase::Ready;
                Some(News::Ready(self.shared.limits.cuts(answers(self.role, &self.job))))
            }
            Phase::Opening if now >= self.ready_by => {
                self.window.stop();
                Some(self.fail(opening::not_opened(workers.opened(), self.opening)))
            }
            Phase::WarmUp if now >= self.window.start() => {
                // The readings of both edges belong to the window.
                self.spent_before = usage::thread().cpu_ns();
                self.report.start = self.edge(now);
                self.phase = Phase::Measuring;
                self.next_tick = self.window.start().saturating_add(self.job.timing.interval_ns);
                self.look()
            }
            Phase::Measuring if now >= self.window.end() => {
                self.last_edge(now);
                self.phase = Phase::Draining;
                self.last_tick(now)
            }
            Phase::WarmUp | Phase::Measuring if now >= self.next_tick => self.due_tick(now),
            Phase::WarmUp | Phase::Measuring
                if self.closing_until.is_some_and(|until| now >= until) =>
            {
                self.window.stop();
                Some(self.conclude())
            }
            Phase::Draining if self.visit_is_over(workers) => Some(self.conclude_visit()),
            Phase::Draining if now >= self.drained_by() || self.is_torn(workers) => {
                self.window.stop();
                Some(self.conclude())
            }
            Phase::Draining if self.awaits_bytes() => {
                let received = workers.counts().of(Counter::ReceivedBytes);
                if self.has_counted(received, now) {
                    self.is_told = true;
                    self.workers.iter().for_each(Workers::end_visit);
                }
                None
            }
            _ if running == 0 && self.role == Role::Client => Some(self.conclude()),
            Phase::Draining if self.closing_until.is_some() && running == 0 => {
                Some(self.conclude())
            }
            _ => None,
        }
    }

    /// Takes the tick that is due, and says when the next one is.
    fn due_tick(&mut self, now: Nanos) -> Option<News> {
        let tick = self.tick(now);
        let interval = self.job.timing.interval_ns.max(1);
        let passed = (now - self.next_tick) / interval + 1;
        self.next_tick = self.next_tick.saturating_add(passed.saturating_mul(interval));
        if self.phase == Phase::Measuring {
            self.report.ticks.push(tick.clone());
        } else {
            self.next_tick = self.next_tick.min(self.window.start());
        }
        self.tell(tick, now)
    }

    /// Takes the tick of the window's end, unless the last interval would be a sliver, which says
    /// nothing.
    fn last_tick(&mut self, now: Nanos) -> Option<News> {
        let last =
            Tick { t_ns: self.report.end.t_ns, counts: self.report.end.counts, ..Tick::default() };
        let before = self.report.ticks.last().map_or(0, |tick| tick.t_ns);
        if last.t_ns - before <= self.job.timing.interval_ns as i64 / 2 {
            return self.look();
        }
        self.report.ticks.push(last.clone());
        self.tell(last, now)
    }

    /// A tick for who looks on, who needs no more of them than eyes can follow; or what else there
    /// is to tell: nobody wakes this thread for that again.
    fn tell(&mut self, tick: Tick, now: Nanos) -> Option<News> {
        // An onlooker counts nothing that somebody could follow.
        if now < self.next_word || self.role == Role::Onlooker {
            return self.look();
        }
        self.next_word = now + BETWEEN_WORDS;
        Some(News::Tick(tick))
    }

    /// Ends everything without a report.
    pub(crate) fn abort(mut self) {
        self.window.stop();
        self.leave();
    }

    fn tick(&self, now: Nanos) -> Tick {
        Tick {
            t_ns: i64::try_from(i128::from(now) - i128::from(self.window.start()))
                .unwrap_or(i64::MIN),
            counts: self.workers.as_ref().map(Workers::counts).unwrap_or_default(),
            ..Tick::default()
        }
    }

    /// The state at an edge of the window, sockets and meters included. What moves fastest is read
    /// first.
    fn edge(&mut self, now: Nanos) -> Tick {
        let mut tick = self.tick(now);
        let each = self.workers.as_ref().map(Workers::each).unwrap_or_default();
        self.report.workers.at_edge(each);
        self.observer.read(&self.sockets, &mut tick);
        tick
    }
}

impl Drop for ActiveTrial {
    fn drop(&mut self) {
        // A session that ends in the middle takes its load with it.
        self.window.stop();
        self.leave();
    }
}
