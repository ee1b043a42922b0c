//! The meters of sandboxes, read from outside.
//!
//! Inside, `/proc` is the sandbox's own. It shows neither the kernel that the sandbox brings nor
//! the machine.

use std::collections::BTreeMap;

use hopbench_meter::{MeterSet, MeteredProcess, ProgramMeter};
use hopbench_model::{CPU_QUOTA_SETTING, EndReport, Reading};
use hopbench_sys::clock;

use super::ends::Ends;

/// Meters of the machine as a whole; what the others read belongs to the reader's own network
/// namespace.
const OF_MACHINE: &[&str] = &["cpu", "memory", "psi", "softnet"];
/// Where a record has an end's own usage: processor time under the first, memory under the second.
const OF_PROCESS: [&str; 2] = ["self", "process"];

type Readings = BTreeMap<String, Reading>;

/// The sandboxes among the ends of a trial. Without any, nothing is read.
pub(super) struct Sandboxes {
    sandboxes: Vec<Sandbox>,
    machine: Option<MeterSet>,
}

/// One end's.
struct Sandbox {
    end: usize,
    processes: usize,
    /// `Err`: why nothing is known of it.
    watched: Result<ProgramMeter, String>,
    /// What was read at the edges so far.
    read: Vec<Readings>,
}

impl Sandboxes {
    /// The sandboxes of these ends, which are numbered with the clients first.
    pub(super) fn of(ends: &Ends) -> Self {
        let agents = ends
            .clients
            .iter()
            .chain(&ends.servers)
            .enumerate()
            .filter(|(_, agent)| !agent.sandbox.is_empty());
        let sandboxes: Vec<Sandbox> = agents
            .map(|(end, agent)| Sandbox {
                end,
                processes: agent.sandbox.len(),
                watched: ProgramMeter::open(&agent.sandbox).map_err(|absent| absent.why),
                read: Vec::new(),
            })
            .collect();
        let machine = (!sandboxes.is_empty())
            .then(|| MeterSet::open_all(&MeteredProcess::itself(), clock::now));
        Self { sandboxes, machine }
    }

    /// Reads all of them, at an edge of the window.
    pub(super) fn read(&mut self) {
        let machine: Readings = self.machine.as_mut().map(MeterSet::read).unwrap_or_default();
        for sandbox in &mut self.sandboxes {
            let mut readings = machine.clone();
            readings.retain(|meter, _| OF_MACHINE.contains(&meter.as_str()));
            match sandbox.watched.as_mut().map(ProgramMeter::read) {
                Ok(Ok(spent)) => {
                    readings.extend(OF_PROCESS.map(|name| (name.to_owned(), spent.clone())));
                }
                Ok(Err(error)) => sandbox.watched = Err(error.to_string()),
                Err(_) => {}
            }
            sandbox.read.push(readings);
        }
    }

    /// Puts what was read in the place of what the agent of end `end` read inside of its sandbox,
    /// and says so among the settings of its report.
    pub(super) fn correct(&self, end: usize, report: &mut EndReport) {
        let Some(sandbox) = self.sandboxes.iter().find(|sandbox| sandbox.end == end) else {
            return;
        };
        report.settings.retain(|name, _| !name.starts_with("meter_"));
        let (start, finish, said) = match (&sandbox.watched, &sandbox.read[..]) {
            (Ok(_), [start, finish]) => (
                start.clone(),
                finish.clone(),
                format!("of {} processes, from outside of the sandbox", sandbox.processes),
            ),
            (Err(why), _) => (Readings::new(), Readings::new(), format!("unavailable: {why}")),
            (Ok(_), _) => (
                Readings::new(),
                Readings::new(),
                "unavailable: the window was cut short".to_owned(),
            ),
        };
        (report.start.readings, report.end.readings) = (start, finish);
        let quota = sandbox.watched.as_ref().ok().and_then(ProgramMeter::quota);
        report.settings.extend(quota.map(|quota| (CPU_QUOTA_SETTING.to_owned(), quota.to_owned())));
        report.settings.insert("meters".to_owned(), said);
    }
}
