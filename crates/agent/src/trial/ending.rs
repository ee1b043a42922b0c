//! The end of a trial or of a visit: the report, and what is left behind.

use std::sync::atomic::Ordering;

use hopbench_load::{REFUSED_FLOWS, Recorder, Workers};
use hopbench_model::{
    CPU_QUOTA_SETTING, CPUS_SETTING, EndReport, Fault, MAX_RATE_SETTING, Nanos, Pattern,
};
use hopbench_sys::{clock, usage};
use hopbench_wire::Role;

use super::registration::Registration;
use super::report::add_recorded;
use super::{ActiveTrial, LATENESS, News, Phase, cpus};

/// How long it looks for the last datagrams. After that some are taken for lost, and silence tells
/// when a visit is over.
const LAST_DATAGRAMS: Nanos = 20_000_000;
/// How long it waits for duplicates once all datagrams have come.
const LAST_DUPLICATES: Nanos = 2_000_000;

impl ActiveTrial {
    /// Reads all at the window's end. After that a client's visit may end.
    pub(super) fn last_edge(&mut self, now: Nanos) {
        self.report.end = self.edge(now);
        self.report.control_cpu_ns = usage::thread().cpu_ns().saturating_sub(self.spent_before);
        if self.stays && self.role == Role::Client {
            self.workers.iter().for_each(Workers::end_visit);
        }
    }

    pub(super) fn conclude(&mut self) -> News {
        let now = clock::now();
        if self.workers.as_ref().is_some_and(|workers| workers.fault().is_some()) {
            self.window.stop();
        }
        match self.phase {
            Phase::Opening | Phase::Ready => {}
            Phase::WarmUp => {
                self.report.start = self.edge(now);
                self.report.end = self.report.start.clone();
                let why = "ended before the window began";
                self.report.incomplete.get_or_insert_with(|| why.to_owned());
            }
            Phase::Measuring => {
                self.last_edge(now);
                self.window.finish(now);
                self.report.incomplete.get_or_insert_with(|| "ended inside the window".to_owned());
            }
            Phase::Draining | Phase::Resting => {}
        }
        let Some((recorder, fault)) = self.leave() else {
            return News::Failed(Fault::measuring("the trial has no workers"), None);
        };
        let report = self.reported(&recorder, now);
        let opened = self.phase != Phase::Opening && self.phase != Phase::Ready;
        match fault {
            // A trial that was not started has nothing to report, and must not say that it is done.
            None if !opened => {
                News::Failed(Fault::measuring("the trial ended before it was started"), None)
            }
            None => News::Done(report),
            Some(fault) if opened => {
                let incomplete = Some(fault.text.clone());
                News::Failed(fault, Some(Box::new(EndReport { incomplete, ..*report })))
            }
            Some(fault) => News::Failed(fault, None),
        }
    }

    /// Whether the flows of a visit rest. A server without workers of its own waits for its order.
    pub(super) fn visit_is_over(&self, workers: &Workers) -> bool {
        let may_end = workers.running() > 0 || self.closing_until.is_some();
        self.stays && may_end && workers.visit_is_over()
    }

    /// Whether a worker of a visit was cut and the others have nothing more to do: they do not
    /// stay.
    pub(super) fn is_torn(&self, workers: &Workers) -> bool {
        self.stays && self.role == Role::Client && workers.visit_is_torn()
    }

    /// Ends a visit; the flows stay for the next one.
    pub(super) fn conclude_visit(&mut self) -> News {
        let Some((recorder, counts)) = self.workers.as_ref().and_then(Workers::take_visit) else {
            return self.conclude();
        };
        self.phase = Phase::Resting;
        self.shared.trials.fetch_sub(1, Ordering::AcqRel);
        self.report.drained = counts;
        // All have come.
        self.expected = None;
        let report = self.reported(&recorder, clock::now());
        // Who was refused once would be counted in each visit.
        self.is_in_doubt |= self.flow_limit.refused() > 0;
        News::Done(report)
    }

    /// The report of a trial or a visit that is over.
    fn reported(&mut self, recorder: &Recorder, now: Nanos) -> Box<EndReport> {
        let report = &mut self.report;
        report.window_ns = self.window.end().min(now).saturating_sub(report.window_start_ns);
        let began_late = self.window.began().saturating_sub(self.window.load_start());
        report.start_late_ns = report.start_late_ns.max(began_late);
        add_recorded(report, recorder);
        if self.flow_limit.refused() > 0 {
            report.extra.insert(REFUSED_FLOWS.to_owned(), self.flow_limit.refused() as f64);
        }
        report.settings = self.sockets.settings();
        let most = self.shared.limits.bits_per_s;
        report.settings.extend(most.map(|most| (MAX_RATE_SETTING.to_owned(), most.to_string())));
        report.settings.extend(
            cpus::confined(&report.end).map(|cpus| (CPUS_SETTING.to_owned(), cpus.to_string())),
        );
        let quota = self.observer.quota().map(str::to_owned);
        report.settings.extend(quota.map(|quota| (CPU_QUOTA_SETTING.to_owned(), quota)));
        for (name, why) in self.observer.unavailable() {
            report.settings.insert(format!("meter_{name}"), format!("unavailable: {why}"));
        }
        report.flows = self.sockets.flows();
        if let Some(handshake) = &self.handshake {
            report.flows.iter_mut().for_each(|flow| flow.flow = handshake.in_run(flow.flow));
        }
        Box::new(std::mem::take(report))
    }

    pub(super) fn fail(&mut self, fault: Fault) -> News {
        self.leave();
        News::Failed(fault, None)
    }

    /// Ends the workers and forgets the run; what they wrote down, once.
    pub(super) fn leave(&mut self) -> Option<(Recorder, Option<Fault>)> {
        let workers = self.workers.take()?;
        self.registration = Registration::Closed;
        if self.phase != Phase::Resting {
            self.shared.trials.fetch_sub(1, Ordering::AcqRel);
        }
        if self.window.stopped() {
            self.sockets.shut_all();
        }
        workers.close();
        let counts = workers.counts_handle();
        let outcome = workers.join();
        self.flow_guards.clear();
        self.threads = None;
        self.expected = None;
        self.report.drained = counts();
        self.report.drained_tcp = Some(self.sockets.tcp_totals()).filter(|t| t.connections > 0);
        Some(outcome)
    }

    /// Until when the last exchanges and bytes are waited for.
    pub(super) fn drained_by(&self) -> Nanos {
        self.closing_until.unwrap_or_else(|| {
            let timeout = self.job.timing.timeout_ns;
            self.window.end().saturating_add(timeout).saturating_add(LATENESS)
        })
    }

    /// Whether the client has ended a visit, or a trial of datagrams, of which not all bytes may
    /// have come.
    pub(super) fn awaits_bytes(&self) -> bool {
        let looks = self.stays || (self.job.kind().is_one_way_udp() && self.awaited.is_some());
        looks && self.role == Role::Server && !self.is_told && self.closing_until.is_some()
    }

    /// The clients have sent so many bytes.
    pub(crate) fn awaits(&mut self, bytes: u64) {
        // Exchanges are over when the client has its answers.
        if self.job.kind().pattern == Pattern::OneWay {
            self.awaited = Some(bytes);
        }
    }

    /// Whether a server that counts the last bytes need not count any more.
    pub(super) fn has_counted(&mut self, received: u64, now: Nanos) -> bool {
        let Some(awaited) = self.awaited else { return true };
        let has_all = received >= awaited;
        if !self.job.kind().is_one_way_udp() {
            return has_all;
        }
        if !has_all {
            // Some may be lost.
            return now >= self.finished_at.saturating_add(LAST_DATAGRAMS);
        }
        let arrived_at = *self.arrived_at.get_or_insert(now);
        let is_over = now >= arrived_at.saturating_add(LAST_DUPLICATES);
        if is_over {
            self.window.all_arrived();
        }
        is_over
    }
}
