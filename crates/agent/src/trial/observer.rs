//! The observer of an end: meters of itself and of its machine beside the traffic.

mod neighbours;

use std::collections::BTreeSet;

use hopbench_load::SocketSet;
use hopbench_meter::{CpuQuota, MeterSet, MeteredProcess, ProgramMeter};
use hopbench_model::{Fault, Nanos, Reading, Tick};
use hopbench_sys::usage::Usage;
use hopbench_sys::{clock, usage};
use hopbench_wire::Prepare;

use neighbours::{Neighbours, PROGRAM};

/// All meters of one end.
pub(crate) struct Observer {
    meters: MeterSet,
    /// The CPU quotas of this process, if it has some.
    quota: Option<CpuQuota>,
    /// A server program whose processes the order names.
    program: Option<ProgramMeter>,
    /// Why what the program spent is not known any more.
    program_lost: Option<String>,
    /// Containers of the same pod.
    neighbours: Neighbours,
    /// What the end itself had spent at the last reading, ns.
    spent: Nanos,
}

/// The name under which this process' own usage stands among the readings.
const SELF: &str = "self";

/// Looks for the processes of a server program, where there is one and the session `may`.
fn watch(pids: &[u32], may: bool) -> Result<Option<ProgramMeter>, Fault> {
    if !may && !pids.is_empty() {
        return Err(Fault::environment(
            "this agent only serves and looks at no other processes; `hopbench serve --both-ends` \
             does",
        ));
    }
    let most = ProgramMeter::MOST_PROCESSES;
    if pids.len() > most {
        return Err(Fault::input(format!(
            "the order names {} processes of a server program, expected at most {most}; let it \
             have fewer workers",
            pids.len()
        )));
    }
    let mut named = BTreeSet::new();
    if let Some(twice) = pids.iter().find(|pid| !named.insert(**pid)) {
        return Err(Fault::input(format!(
            "the order names process {twice} twice, expected each once"
        )));
    }
    let program = if pids.is_empty() { None } else { Some(ProgramMeter::open(pids)) };
    program.transpose().map_err(|absent| {
        Fault::environment(format!(
            "the server program cannot be watched, has it ended? {}",
            absent.why
        ))
    })
}

impl Observer {
    /// Looks for all that an order names, if the session `may`, and opens the meters.
    pub(crate) fn of(prepare: &Prepare, may: bool) -> Result<Self, Fault> {
        let program = watch(&prepare.watch, may)?;
        Ok(Self::new(program, Neighbours::find(prepare, may)?))
    }

    /// Another visit begins: a neighbour may have other processes now.
    pub(crate) fn look_again(&mut self) {
        self.neighbours.look_again();
    }

    /// Opens the meters.
    fn new(program: Option<ProgramMeter>, neighbours: Neighbours) -> Self {
        Self {
            meters: MeterSet::open_all(&MeteredProcess::itself(), clock::now),
            quota: CpuQuota::of(&MeteredProcess::itself()),
            program,
            program_lost: None,
            neighbours,
            spent: 0,
        }
    }

    /// Reads everything at an edge of the window, into its tick. The processes come first: all
    /// else takes the longer the more connections there are.
    pub(crate) fn read(&mut self, sockets: &SocketSet, edge: &mut Tick) {
        let mut own = self.itself();
        if let Some(Ok(stopped)) = self.quota.as_mut().map(CpuQuota::read) {
            own.extend(stopped);
        }
        edge.readings.insert(SELF.to_owned(), own);
        match self.program.as_mut().map(ProgramMeter::read) {
            Some(Ok(reading)) => drop(edge.readings.insert(PROGRAM.to_owned(), reading)),
            Some(Err(error)) => self.program_lost = Some(error.to_string()),
            None => {}
        }
        self.neighbours.read(&mut edge.readings);
        edge.tcp = Some(sockets.tcp_totals()).filter(|t| t.connections > 0);
        edge.readings.extend(self.meters.read());
        // JSON has no word for what is not finite.
        for reading in edge.readings.values_mut() {
            reading.retain(|_, value| value.is_finite());
        }
    }

    /// The costs of this process so far. `user_s_total` and `system_s_total` are of all its
    /// threads. `cpu_s_total` is what the end cost: without this thread, which reads the meters.
    fn itself(&mut self) -> Reading {
        // In this order: the kernel brings the time of a thread up to date when it is asked for
        // that of the process.
        let Usage { user_ns, system_ns, max_rss_bytes, voluntary_switches, involuntary_switches } =
            usage::process();
        let spent = (user_ns + system_ns).saturating_sub(usage::thread().cpu_ns());
        // Between the two calls this thread spends a little, now more and now less.
        self.spent = self.spent.max(spent);
        let seconds = |ns: Nanos| ns as f64 / 1e9;
        Reading::from([
            ("cpu_s_total".to_owned(), seconds(self.spent)),
            ("user_s_total".to_owned(), seconds(user_ns)),
            ("system_s_total".to_owned(), seconds(system_ns)),
            ("max_rss_bytes".to_owned(), max_rss_bytes as f64),
            ("voluntary_switches_total".to_owned(), voluntary_switches as f64),
            ("involuntary_switches_total".to_owned(), involuntary_switches as f64),
        ])
    }

    /// The smallest CPU quota of what does the end's work, if it has one: see
    /// [`CpuQuota::smallest`].
    pub(crate) fn quota(&self) -> Option<&str> {
        match self.program.as_ref().or_else(|| self.neighbours.program()) {
            Some(program) => program.quota(),
            None => self.quota.as_ref().map(CpuQuota::smallest),
        }
    }

    /// The readings that are missing here, with the reason: meters that this machine does not have,
    /// a program that ended.
    pub(crate) fn unavailable(&self) -> impl Iterator<Item = (&str, &str)> {
        let meters = self.meters.unavailable().iter().map(|(name, why)| (*name, why.as_str()));
        let program = self.program_lost.as_deref().map(|why| (PROGRAM, why));
        meters.chain(program).chain(self.neighbours.unavailable())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_meters_take_is_not_the_cost_of_the_end() {
        let (mut observer, sockets) =
            (Observer::new(None, Neighbours::default()), SocketSet::default());
        let mut edge = || {
            let mut tick = Tick::default();
            observer.read(&sockets, &mut tick);
            tick.readings.remove(SELF).unwrap()
        };
        let start = edge();
        // As meters of thousands of connections do.
        let before = usage::thread().cpu_ns();
        let mut n = 1u64;
        while usage::thread().cpu_ns() < before + 100_000_000 {
            (0..100_000u64).for_each(|i| n = std::hint::black_box(n.wrapping_mul(31) ^ i));
        }
        let end = edge();
        let grown = |name: &str| end[name] - start[name];
        // Other tests run in other threads of this process; this one's time is left out all the
        // same, give or take a tick of the kernel.
        let (all, own) = (grown("user_s_total") + grown("system_s_total"), grown("cpu_s_total"));
        assert!(own >= 0.0 && all - own > 0.05, "{own} s of {all} s");
    }
}
