//! The observer of an end: meters of itself and of its machine beside the traffic.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_meter::{MeterSet, Target, Watched};
use hopbench_model::{Fault, Reading};
use hopbench_sys::{clock, usage};

/// All meters of one end.
pub(crate) struct Observer {
    meters: MeterSet,
    /// A server program.
    program: Option<Watched>,
    /// Why what the program spent is not known any more.
    program_lost: Option<String>,
}

/// The name under which this process' own usage stands among the readings.
const SELF: &str = "self";
/// The name under which a server program's does: the values of the meter `process`, summed over its
/// processes.
const PROGRAM: &str = "program";

/// Processes of one server program: each takes two open files.
const MOST_PROCESSES: usize = 64;

/// Looks for the processes of a server program, where there is one and the session `may`.
pub(crate) fn watch(pids: &[u32], may: bool) -> Result<Option<Watched>, Fault> {
    if !may && !pids.is_empty() {
        return Err(Fault::environment(
            "this agent only serves and looks at no other processes; `hopbench serve --both-ends` does",
        ));
    }
    if pids.len() > MOST_PROCESSES {
        return Err(Fault::input(format!(
            "the order names {} processes of a server program, expected at most {MOST_PROCESSES}; let it have fewer \
             workers",
            pids.len()
        )));
    }
    let mut named = BTreeSet::new();
    if let Some(twice) = pids.iter().find(|pid| !named.insert(**pid)) {
        return Err(Fault::input(format!(
            "the order names process {twice} twice, expected each once"
        )));
    }
    let program = if pids.is_empty() { None } else { Some(Watched::open(pids)) };
    program.transpose().map_err(|absent| {
        Fault::environment(format!(
            "the server program cannot be watched, has it ended? {}",
            absent.why
        ))
    })
}

impl Observer {
    /// Opens the meters.
    pub(crate) fn new(program: Option<Watched>) -> Self {
        Self {
            meters: MeterSet::open_all(&Target::itself(), clock::now),
            program,
            program_lost: None,
        }
    }

    /// Reads every meter.
    pub(crate) fn read(&mut self) -> BTreeMap<String, Reading> {
        let mut readings = self.meters.read();
        let usage = usage::process();
        let seconds = |ns: u64| ns as f64 / 1e9;
        readings.insert(
            SELF.to_owned(),
            Reading::from([
                ("user_s_total".to_owned(), seconds(usage.user_ns)),
                ("system_s_total".to_owned(), seconds(usage.system_ns)),
                ("max_rss_bytes".to_owned(), usage.max_rss_bytes as f64),
                ("voluntary_switches_total".to_owned(), usage.voluntary_switches as f64),
                ("involuntary_switches_total".to_owned(), usage.involuntary_switches as f64),
            ]),
        );
        match self.program.as_mut().map(Watched::read) {
            Some(Ok(reading)) => drop(readings.insert(PROGRAM.to_owned(), reading)),
            Some(Err(error)) => self.program_lost = Some(error.to_string()),
            None => {}
        }
        // JSON has no word for what is not finite.
        for reading in readings.values_mut() {
            reading.retain(|_, value| value.is_finite());
        }
        readings
    }

    /// What could not be read here, with the reason: meters that this machine does not have, a
    /// program that ended.
    pub(crate) fn unavailable(&self) -> impl Iterator<Item = (&str, &str)> {
        let meters = self.meters.unavailable().iter().map(|(name, why)| (*name, why.as_str()));
        meters.chain(self.program_lost.as_deref().map(|why| (PROGRAM, why)))
    }
}
