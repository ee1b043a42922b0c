//! One trial in one process, over the loopback interface.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Command;
use hopbench_load::schedule::ClientNumber;
use hopbench_load::workload::{Workload, points};
use hopbench_load::{Context, FlowLimit, Recorder, SocketSet, Window, Workers, workload};
use hopbench_model::{
    Counter, Counts, EngineKind, Fault, Job, LatencyKind, Nanos, Schedule, Timing, fixture,
};
use hopbench_sys::{Waker, clock, limits};

use super::acceptor::{FlowAcceptor, Inside};
use super::handshake::Plain;

pub(crate) const MS: Nanos = 1_000_000;
/// What must happen within this time on any machine.
pub(crate) const LONG: Nanos = 20_000 * MS;

/// What to run.
pub(crate) struct TestTrial {
    pub(crate) workload: &'static str,
    /// The workload's flags, as on the command line.
    pub(crate) flags: &'static [&'static str],
    pub(crate) engine: EngineKind,
    pub(crate) connections: u32,
    pub(crate) threads: u32,
    pub(crate) schedule: Schedule,
    pub(crate) window: Nanos,
    pub(crate) timeout: Nanos,
    /// The server lets flows in and then never says a word.
    pub(crate) silent: bool,
}

/// Both ends, connected, before the load.
pub(crate) struct Running {
    pub(crate) job: Job,
    pub(crate) client: Workers,
    pub(crate) server: Workers,
    windows: [Arc<Window>; 2],
    port: FlowAcceptor,
    flow_limit: Arc<FlowLimit>,
    files: usize,
    datagrams: bool,
    /// Trials come one after the other: they count files and CPU time of the process.
    _alone: MutexGuard<'static, ()>,
}

/// What both ends saw.
pub(crate) struct Measured {
    pub(crate) job: Job,
    pub(crate) client: Counts,
    pub(crate) server: Counts,
    pub(crate) client_fault: Option<Fault>,
    pub(crate) server_fault: Option<Fault>,
    pub(crate) recorder: Recorder,
}

impl TestTrial {
    pub(crate) fn new(
        workload: &'static str,
        flags: &'static [&'static str],
        engine: EngineKind,
    ) -> Self {
        Self {
            workload,
            flags,
            engine,
            connections: 1,
            threads: 1,
            schedule: Schedule::Closed,
            window: 150 * MS,
            timeout: 2000 * MS,
            silent: false,
        }
    }

    fn job(&self, workload: &dyn Workload) -> Job {
        let command = workload.arguments(Command::new(self.workload).no_binary_name(true));
        let matches = command.try_get_matches_from(self.flags).unwrap();
        let mut job = Job {
            schedule: self.schedule,
            engine: self.engine,
            connections: self.connections,
            threads: self.threads,
            timing: Timing {
                warmup_ns: 50 * MS,
                window_ns: self.window,
                interval_ns: (100 * MS).max(self.window / 10_000),
                timeout_ns: self.timeout,
            },
            seed: 7,
            ..fixture::job(self.workload, workload.params(&matches).unwrap())
        };
        workload.settle(&mut job);
        let problems = [job.problems(), workload.problems(&job)].concat();
        assert!(problems.is_empty(), "{}: {problems:?}", self.workload);
        points(&job).remove(0).1
    }

    /// Starts both ends and waits until all flows are up.
    pub(crate) fn start(&self) -> Running {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        limits::raise_open_files(8192).unwrap();
        let files = open_files();
        let workload = workload(self.workload).unwrap();
        let job = self.job(workload);
        let windows = [(); 2].map(|()| Arc::new(Window::default()));
        let context = |window: &Arc<Window>, target| Context {
            job: job.clone(),
            window: Arc::clone(window),
            sockets: Arc::<SocketSet>::default(),
            throttle: None,
            notify: Arc::new(Waker::new().unwrap()),
            target,
            handshake: Some(Arc::new(Plain)),
            credential: None,
            server_work_ns: 0,
            peer_clock_offset_ns: 0,
            shared_clock: true,
            stays: false,
            client: ClientNumber::ALONE,
        };
        let (server, acceptor) =
            workload.server(&context(&windows[1], "127.0.0.1:1".parse().unwrap())).unwrap();
        // Not one more than there are connections: each must be given back before the next one
        // comes.
        let flow_limit = FlowLimit::new(Some(job.connections as usize));
        let inside = if self.silent {
            Inside::Silent(Mutex::default())
        } else {
            let job = job.clone();
            let flow_limit = Arc::clone(&flow_limit);
            Inside::Served {
                acceptor,
                flow_limit,
                from_server: Box::new(move |flow| workload.server_sends(&job, flow)),
            }
        };
        // Short-lived flows save themselves the wait for the answer.
        let port = FlowAcceptor::open(!workload.kind().connects_for_each(), inside);
        let client = workload.client(&context(&windows[0], port.address)).unwrap();
        let datagrams = job.transport() == hopbench_model::Transport::Udp;
        let running = Running {
            job,
            client,
            server,
            windows,
            port,
            flow_limit,
            files,
            datagrams,
            _alone: alone,
        };
        until("all flows are up", || running.client.ready() || running.client.fault().is_some());
        running
    }

    /// Runs it from start to end.
    pub(crate) fn run(&self) -> Measured {
        let running = self.start();
        running.open();
        running.end()
    }
}

impl Running {
    /// Opens the window of both ends.
    pub(crate) fn open(&self) {
        let load = clock::now() + 5 * MS;
        let start = load + self.job.timing.warmup_ns;
        for window in &self.windows {
            window.open(load, start, start + self.job.timing.window_ns);
        }
        self.wake();
    }

    /// Shuts the window of both ends.
    pub(crate) fn finish(&self) {
        let now = clock::now();
        self.windows.iter().for_each(|window| window.finish(now));
        self.wake();
    }

    /// Ends everything at once.
    pub(crate) fn stop(&self) {
        self.windows.iter().for_each(|window| window.stop());
        self.wake();
    }

    fn wake(&self) {
        self.client.wake();
        self.server.wake();
    }

    /// Waits for both ends to end by themselves, and looks whether they left files open.
    pub(crate) fn end(self) -> Measured {
        until("the client has ended", || self.client.running() == 0);
        let (client, server) = (self.client.counts_handle(), self.server.counts_handle());
        let (recorder, client_fault) = self.client.join();
        self.server.close();
        if self.datagrams {
            // Nothing tells a server that a datagram was the last one: the conductor does.
            clock::sleep_until(clock::now() + 20 * MS);
            self.windows[1].stop();
            self.server.wake();
        }
        until("the server has ended", || self.server.running() == 0);
        let (_, server_fault) = self.server.join();
        self.port.shut();
        assert_eq!(
            (self.flow_limit.open(), self.flow_limit.refused()),
            (0, 0),
            "places of flows that ended"
        );
        let outcome = Measured {
            job: self.job,
            client: client(),
            server: server(),
            client_fault,
            server_fault,
            recorder,
        };
        drop((client, server));
        assert_eq!(open_files(), self.files, "files were left open");
        outcome
    }
}

impl Measured {
    /// A count of the client.
    pub(crate) fn client(&self, counter: Counter) -> u64 {
        self.client.of(counter)
    }

    /// A count of the server.
    pub(crate) fn server(&self, counter: Counter) -> u64 {
        self.server.of(counter)
    }

    /// Samples of a histogram of the client.
    pub(crate) fn samples(&self, kind: LatencyKind) -> u64 {
        self.recorder
            .histograms()
            .find(|(k, _)| *k == kind)
            .map_or(0, |(_, histogram)| histogram.count())
    }

    /// Nothing went wrong at either end.
    #[track_caller]
    pub(crate) fn clean(&self) -> &Self {
        assert_eq!((&self.client_fault, &self.server_fault), (&None, &None), "{:?}", self.job);
        self
    }
}

/// Waits for something that must come.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = clock::now() + LONG;
    while !holds() {
        assert!(clock::now() < give_up, "not within {} s: {what}", LONG / 1000 / MS);
        clock::sleep_until(clock::now() + MS);
    }
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
