//! The profiles of a campaign: an extra trial of each chosen cell, when all else is measured.
//!
//! Its record is dropped, so it is in no figure. What is kept stands in the folder `profile`.

pub(super) mod choice;
mod taking;

use std::collections::BTreeMap;

use hopbench_meter::profile::{Access, Lack, Watched};
use hopbench_model::{
    Cell, Folded, PROFILE_SCHEMA, ProfileFile, ProfiledCell, ProfiledCount, Record, ServerSpec,
    Unit, proxy_role,
};
use hopbench_testbed::{AgentId, Route, Testbed};

use super::event::{Event, Observer};
use super::meters::Meters;
use super::sessions::Sessions;
use super::trial::CellTrial;
use super::{Around, Campaign};
use crate::results::{CellName, PROFILE_FILE, folded_name, profile_file};
use choice::Profiling;
use taking::{ForWindow, Taking};

/// The program of every proxy: only labs are profiled, and their proxies are Envoys. The services
/// that these ask are no Envoys.
const PROXY_PROGRAM: &str = "envoy";
/// Bytes of a KiB.
const KIB: f64 = 1024.0;

/// What is known of all cells that are profiled.
struct Setting {
    access: Access,
    notes: Vec<String>,
}

/// The stacks of a cell, with what stands beside them.
struct Profiled {
    cell: ProfiledCell,
    folded: Folded,
    /// Whether the kernel's functions have names.
    has_kernel_names: bool,
}

impl Campaign {
    /// Profiles the cells that were chosen. What goes wrong is told, and costs only the profile.
    pub(super) fn profile(&mut self, around: &mut Around<'_>) {
        let Some(profiling) = self.profiling.take() else { return };
        let tell = |observer: &mut dyn Observer, text: &str| observer.event(&Event::Note(text));
        let cells = profiling.cells(around.plan);
        if self.ended.interrupted || cells.is_empty() {
            let why =
                if cells.is_empty() { "no chosen cell can be measured" } else { "interrupted" };
            tell(around.observer, &format!("no profiles: {why}"));
            return;
        }
        // What cannot be read is not overwritten: another version may have made it.
        if let Err(fault) = profile_file(self.folder.path()) {
            return tell(around.observer, &format!("no profiles: {}", fault.text));
        }
        let notes = forbidden(profiling.access());
        let told = notes.iter().cloned().chain(profiling.bounded());
        told.for_each(|note| tell(around.observer, &format!("profiles: {note}")));
        let mut setting = Setting { access: profiling.access(), notes };
        for (number, cell) in (1..).zip(&cells) {
            let name = CellName::of(around.plan, *cell);
            let what = format!("{} {} {}", name.path, name.workload, name.point);
            let profiled = match around.observer.interrupted() {
                true => Err("interrupted".to_owned()),
                false => self.profiled(*cell, &setting, around),
            };
            if around.observer.interrupted() {
                let text = format!(
                    "profiles: interrupted after {} of {}; make the rest with --resume and \
                     --profile",
                    number - 1,
                    cells.len()
                );
                return tell(around.observer, &text);
            }
            let told = match &profiled {
                Ok(Profiled { cell, .. }) => format!("{} samples", cell.samples),
                Err(why) => format!("none: {why}"),
            };
            let text = format!("profile {number} of {}, {}: {told}", cells.len(), what.trim_end());
            tell(around.observer, &text);
            if let Err(why) = self.keep_profile(name, profiled, &mut setting) {
                return tell(around.observer, &format!("no more profiles: {why}"));
            }
        }
    }

    /// An extra trial of a cell, with samples.
    fn profiled(
        &self,
        cell: Cell,
        setting: &Setting,
        around: &mut Around<'_>,
    ) -> Result<Profiled, String> {
        let Around { plan, testbed, sessions, meters, observer, bounds } = around;
        let (path, point) = plan.at(cell);
        let point = Profiling::point(point);
        let mut bounds = *bounds;
        bounds.cover(&point.job);
        let run = self.folder.run();
        let trial = CellTrial {
            run_id: &run.run_id,
            session: run.session,
            path,
            point: &point,
            round: 1,
            stays: false,
            bounds,
            secrets: &self.secrets,
        };
        let name = CellName::of(plan, cell);
        let parts = Parts { testbed: &mut **testbed, sessions, meters, observer: &mut **observer };
        let (taken, record) = taken(&trial, setting.access, parts)?;
        let cell = ProfiledCell {
            path: name.path,
            workload: name.workload,
            point: name.point,
            folded: None,
            problem: None,
            samples_per_cpu_s: taken.samples_per_cpu_s,
            window_s: record.window_s,
            samples: taken.profile.folded.total(),
            other_samples: taken.profile.other_samples,
            idle_samples: taken.profile.idle_samples,
            lost_samples: taken.profile.lost_samples,
            throttled: taken.profile.throttled,
            libraries: taken.profile.libraries,
            count: count(&record),
        };
        let has_kernel_names = taken.profile.has_kernel_names;
        Ok(Profiled { cell, folded: taken.profile.folded, has_kernel_names })
    }

    /// Writes down what came of a cell, instead of what an earlier session had of it.
    fn keep_profile(
        &self,
        name: CellName,
        profiled: Result<Profiled, String>,
        setting: &mut Setting,
    ) -> Result<(), String> {
        let run = self.folder.run();
        let known = profile_file(self.folder.path()).map_err(|fault| fault.text)?;
        // What was made with other rights cannot be compared with these.
        let hidden = Lack::of_names().to_string();
        let rights = |file: &ProfileFile| -> Vec<String> {
            file.notes.iter().filter(|note| **note != hidden).cloned().collect()
        };
        let known = known
            .filter(|file| file.run_id == run.run_id && rights(file) == forbidden(setting.access));
        let mut cells = known.map(|file| file.cells).unwrap_or_default();
        let (mut cell, folded) = match profiled {
            Ok(Profiled { cell, folded, has_kernel_names }) => {
                if !has_kernel_names && !setting.notes.contains(&hidden) {
                    setting.notes.push(hidden);
                }
                (cell, Some(folded))
            }
            Err(why) => (without(name, why), None),
        };
        cells.retain(|known| !known.is_of(&cell));
        if let Some(folded) = &folded {
            let others: Vec<&str> =
                cells.iter().filter_map(|known| known.folded.as_deref()).collect();
            let name = folded_name(&cell.path, &cell.workload, &others);
            self.folder.add_profile(&name, folded.text().as_bytes()).map_err(|f| f.text)?;
            cell.folded = Some(name);
        }
        cells.push(cell);
        let place = |cell: &ProfiledCell| {
            let plan = &run.plan;
            let workload = plan.points.iter().position(|point| point.workload == cell.workload);
            (workload, plan.paths.iter().position(|path| path.name == cell.path))
        };
        cells.sort_by_key(place);
        let file = ProfileFile {
            schema: PROFILE_SCHEMA.to_owned(),
            run_id: run.run_id.clone(),
            notes: setting.notes.clone(),
            cells,
        };
        let mut text = serde_json::to_vec_pretty(&file).map_err(|error| error.to_string())?;
        text.push(b'\n');
        self.folder.add_profile(PROFILE_FILE, &text).map(drop).map_err(|fault| fault.text)
    }
}

/// Notes for readers on what the kernel forbids.
fn forbidden(access: Access) -> Vec<String> {
    access.forbidden().iter().map(Lack::to_string).collect()
}

/// The samples of a trial.
struct Taken {
    profile: hopbench_meter::profile::Profile,
    samples_per_cpu_s: u64,
}

/// What a trial needs.
struct Parts<'a> {
    testbed: &'a mut dyn Testbed,
    sessions: &'a mut Sessions,
    meters: &'a mut Meters,
    observer: &'a mut dyn Observer,
}

/// Measures a trial while samples are taken.
fn taken(
    trial: &CellTrial<'_>,
    access: Access,
    parts: Parts<'_>,
) -> Result<(Taken, Record), String> {
    let Parts { testbed, sessions, meters, observer } = parts;
    let route = testbed.route(trial.path, trial.point).map_err(|fault| fault.text)?;
    // The agents must be there before their threads can be looked at.
    sessions.open(testbed, &route.clients, &route.servers).map_err(|fault| fault.text)?;
    let processes = |agent: &AgentId| -> Vec<u32> {
        testbed.process(agent).into_iter().chain(testbed.sandbox(agent)).collect()
    };
    let taking = Taking::start(watched(&route, &trial.point.server, processes), access)?;
    let mut watcher = ForWindow { observer, window: None };
    let measured = trial.measure(testbed, sessions, meters, &mut watcher);
    let window = watcher.window;
    let profiler = taking.end().ok_or("the thread that took samples panicked")?;
    let done = measured.result.map_err(|fault| fault.text)?;
    let failure = done.failure();
    if let Some(why) = failure.or_else(|| done.record.error.clone()) {
        return Err(why);
    }
    let (start, window_ns) = window.ok_or("the trial had no window")?;
    let samples_per_cpu_s = profiler.samples_per_cpu_s();
    let profile = profiler.finish(start..start.saturating_add(window_ns));
    Ok((Taken { profile, samples_per_cpu_s }, done.record))
}

/// The processes of a route by the names of their roles. A program that may be another file on
/// another path has the name of what it is. `processes` are those of an agent and of its sandbox.
fn watched(
    route: &Route,
    server: &ServerSpec,
    processes: impl Fn(&AgentId) -> Vec<u32>,
) -> Vec<Watched> {
    let mut pids: BTreeMap<(&str, Option<&str>), Vec<u32>> = BTreeMap::new();
    let ends = [
        ("client", &route.clients),
        (if server.is_agent() { "server" } else { "server-agent" }, &route.servers),
    ];
    for (name, agents) in ends {
        for agent in agents {
            // All agents are one file, and sandboxes have programs of their own.
            pids.entry((name, None)).or_default().extend(processes(agent));
        }
    }
    pids.entry(("server", Some(server.program.as_str()))).or_default().extend(&route.programs);
    for proxy in &route.proxies {
        let program = (!proxy.is_service()).then_some(PROXY_PROGRAM);
        pids.entry((proxy_role(&proxy.name), program)).or_default().extend(&proxy.pids);
    }
    let one = |((name, program), pids): ((&str, Option<&str>), Vec<u32>)| Watched {
        name: name.to_owned(),
        program: program.map(str::to_owned),
        pids,
    };
    pids.into_iter().map(one).collect()
}

/// The unit that the load of a record is counted in.
fn count(record: &Record) -> Option<ProfiledCount> {
    let unit = record.kind().unit;
    let (name, each) = match unit {
        Unit::Bits => ("KiB", record.window_s / 8.0 / KIB),
        Unit::Messages => ("message", record.window_s),
        Unit::Requests => ("request", record.window_s),
        Unit::Connections => ("connection", record.window_s),
        Unit::Packets => ("packet", record.window_s),
        Unit::Echoes => ("echo", 1.0),
    };
    let number = record.metrics.get(unit.metric())? * each;
    (number > 0.0).then(|| ProfiledCount { unit: name.to_owned(), number })
}

/// A cell of which there is no profile.
fn without(name: CellName, why: String) -> ProfiledCell {
    ProfiledCell {
        path: name.path,
        workload: name.workload,
        point: name.point,
        folded: None,
        problem: Some(why),
        samples_per_cpu_s: 0,
        window_s: 0.0,
        samples: 0,
        other_samples: 0,
        idle_samples: 0,
        lost_samples: 0,
        throttled: 0,
        libraries: BTreeMap::new(),
        count: None,
    }
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::Proxy;

    use super::*;

    /// A route with two clients and a server, through these proxies. Each has a process of its own,
    /// from 11 on.
    fn route(proxies: &[&str], programs: &[u32]) -> Route {
        let agents = |names: &[&str]| -> Vec<AgentId> {
            names.iter().map(|name| AgentId((*name).to_owned())).collect()
        };
        let proxy = |(pid, name): (u32, &&str)| Proxy {
            name: (*name).to_owned(),
            node: "a".to_owned(),
            named: true,
            pids: vec![pid],
            beside: None,
            workers: 1,
            cpus: None,
        };
        Route {
            path: "x".to_owned(),
            clients: agents(&["client", "client#2"]),
            servers: agents(&["server"]),
            programs: programs.to_vec(),
            proxies: (11..).zip(proxies).map(proxy).collect(),
            ..Route::to("127.0.0.1:1".parse().unwrap())
        }
    }

    /// What is watched of a route: the root of the stacks, the name of the program, the processes.
    fn told(route: &Route, program: &str) -> Vec<String> {
        let processes = |agent: &AgentId| match agent.0.as_str() {
            "client" => vec![1, 2],
            "client#2" => vec![3],
            _ => vec![4],
        };
        let request = "/".to_owned();
        let server = ServerSpec { program: program.to_owned(), request, response_bytes: None };
        let all = watched(route, &server, processes);
        let one = |one: &Watched| {
            format!("{} {} {:?}", one.name, one.program.as_deref().unwrap_or("-"), one.pids)
        };
        all.iter().filter(|one| !one.pids.is_empty()).map(one).collect()
    }

    #[test]
    fn a_program_is_called_what_it_is_whatever_its_file() {
        let proxies = ["client-sidecar", "server-sidecar", "server-sidecar#2", "policy"];
        assert_eq!(
            told(&route(&proxies, &[21, 22]), "nginx"),
            [
                "client - [1, 2, 3]",
                "client-sidecar envoy [11]",
                "policy - [14]",
                "server nginx [21, 22]",
                "server-agent - [4]",
                "server-sidecar envoy [12, 13]",
            ]
        );
        assert_eq!(
            told(&route(&["gateway", "telemetry"], &[]), ServerSpec::AGENT),
            ["client - [1, 2, 3]", "gateway envoy [11]", "server - [4]", "telemetry - [12]"]
        );
    }
}
