//! The neighbours of an agent: containers of its own pod, such as a sidecar's or a server
//! program's, that share its PID namespace.

use std::collections::BTreeMap;

use hopbench_meter::{ProgramMeter, container};
use hopbench_model::{Fault, Reading};
use hopbench_wire::{Prepare, neighbour_reading};

/// The name under which a server program's usage stands among the readings: the values of the meter
/// `process`, summed over its processes.
pub(super) const PROGRAM: &str = "program";
/// Containers of one pod.
const MOST: usize = 8;
/// A shorter id could be a part of many names.
const SHORTEST_ID: usize = 12;

/// What the neighbours spend, each by the name of its reading.
#[derive(Debug, Default)]
pub(crate) struct Neighbours(Vec<Neighbour>);

#[derive(Debug)]
struct Neighbour {
    reading: String,
    container: String,
    /// `Err`: why it is not known, or not any more.
    watched: Result<ProgramMeter, String>,
}

impl Neighbours {
    /// Looks for the processes of the containers that an order names, if the session `may`. One
    /// that cannot be seen does not keep the trial from running: others meter it, too. A process
    /// that begins later is not counted.
    ///
    /// # Errors
    /// An order that may not be, or that names what no container has.
    pub(crate) fn find(order: &Prepare, may: bool) -> Result<Self, Fault> {
        let named = order.neighbours.iter().map(|(name, id)| (neighbour_reading(name), id));
        let program = order.watch_container.iter().map(|id| (PROGRAM.to_owned(), id));
        let containers: Vec<(String, &String)> = named.chain(program).collect();
        if !may && !containers.is_empty() {
            return Err(Fault::environment(
                "this agent only serves and looks at no containers; `hopbench serve --both-ends` \
                 does",
            ));
        }
        if containers.len() > MOST {
            return Err(Fault::input(format!(
                "the order names {} containers to look at, expected at most {MOST}",
                containers.len()
            )));
        }
        let is_id = |id: &str| {
            id.len() >= SHORTEST_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        if let Some((name, id)) = containers.iter().find(|(_, id)| !is_id(id)) {
            return Err(Fault::input(format!(
                "the order names container `{id}` for {name}, expected an id of at least \
                 {SHORTEST_ID} letters and digits"
            )));
        }
        let one = |(reading, id): (String, &String)| Neighbour {
            reading,
            container: id.clone(),
            watched: watch(id),
        };
        Ok(Self(containers.into_iter().map(one).collect()))
    }

    /// The server program, if it is one of them and its processes are seen.
    pub(crate) fn program(&self) -> Option<&ProgramMeter> {
        self.0.iter().find(|neighbour| neighbour.reading == PROGRAM)?.watched.as_ref().ok()
    }

    /// Looks for their processes once more.
    pub(crate) fn look_again(&mut self) {
        for neighbour in &mut self.0 {
            neighbour.watched = watch(&neighbour.container);
        }
    }

    /// Reads all of them, at an edge of the window.
    pub(crate) fn read(&mut self, readings: &mut BTreeMap<String, Reading>) {
        for neighbour in &mut self.0 {
            match neighbour.watched.as_mut().map(ProgramMeter::read) {
                Ok(Ok(reading)) => drop(readings.insert(neighbour.reading.clone(), reading)),
                Ok(Err(error)) => neighbour.watched = Err(error.to_string()),
                Err(_) => {}
            }
        }
    }

    /// Those of which nothing is known, with the reason.
    pub(crate) fn unavailable(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|neighbour| {
            Some((neighbour.reading.as_str(), neighbour.watched.as_ref().err()?.as_str()))
        })
    }
}

fn watch(id: &str) -> Result<ProgramMeter, String> {
    let pids =
        container::processes(id).map_err(|error| format!("/proc cannot be listed: {error}"))?;
    if pids.is_empty() {
        return Err("the agent beside it does not see its processes".to_owned());
    }
    let most = ProgramMeter::MOST_PROCESSES;
    if pids.len() > most {
        return Err(format!("it has {} processes, at most {most} are read", pids.len()));
    }
    ProgramMeter::open(&pids).map_err(|absent| absent.why)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::{env, fs};

    use hopbench_model::fixture;
    use hopbench_sys::clock;
    use hopbench_wire::{FlowKey, Role};
    use serde_json::Value;

    use super::*;

    /// A process in a cgroup of its own, as a container has it.
    struct Contained {
        child: Child,
        group: PathBuf,
    }

    impl Contained {
        /// `None`: this machine lets nobody make a cgroup.
        fn start(id: &str) -> Option<Self> {
            let roots = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
            let is_root = |root: &&&str| Path::new(root).join("cgroup.procs").exists();
            let group = Path::new(roots.iter().find(is_root)?).join(id);
            fs::create_dir(&group).ok()?;
            let mut shell = Command::new("sh");
            shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            let child = shell.spawn().unwrap();
            fs::write(group.join("cgroup.procs"), child.id().to_string()).unwrap();
            Some(Self { child, group })
        }

        fn end(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    impl Drop for Contained {
        fn drop(&mut self) {
            self.end();
            let _ = fs::remove_dir(&self.group);
        }
    }

    #[test]
    fn a_neighbour_is_found_by_its_cgroup_and_read_until_it_ends() {
        let id = format!("hopbench{}neighbour", std::process::id());
        let Some(mut contained) = Contained::start(&id) else {
            let is_required = env::var("HOPBENCH_REQUIRE_NETNS").is_ok_and(|said| said == "1");
            assert!(!is_required, "HOPBENCH_REQUIRE_NETNS=1, and no cgroup can be made");
            return;
        };
        let mut found = Neighbours::find(&order(&id), true).unwrap();
        let mut read = || {
            let mut readings = BTreeMap::new();
            found.read(&mut readings);
            readings.remove("neighbour server-sidecar")
        };
        let before = read().unwrap();
        clock::sleep_until(clock::now() + 200_000_000);
        let after = read().unwrap();
        let spent = after["cpu_s_total"] - before["cpu_s_total"];
        // It would take all of a CPU, and others want some of it.
        assert!(spent > 0.005 && spent < 1.0, "{spent} s");
        assert!(after["processes"] == 1.0 && after["rss_bytes"] > 100e3, "{after:?}");
        contained.end();
        assert_eq!(read(), None);
        let why = |found: &Neighbours| {
            found.unavailable().map(|(_, why)| why.to_owned()).collect::<Vec<_>>().join("; ")
        };
        assert_ne!(why(&found), "");
        found.look_again();
        assert_eq!(why(&found), "the agent beside it does not see its processes");
    }

    /// An order to look at these containers.
    fn looks_at(neighbours: BTreeMap<String, String>, program: Option<&str>) -> Prepare {
        Prepare {
            run: 1,
            key: FlowKey::new([0; 32]),
            role: Role::Onlooker,
            job: fixture::job("rr", Value::Null),
            target: None,
            shared_clock: true,
            peer_clock_offset_ns: 0,
            first_flow: 0,
            all_connections: 0,
            watch: Vec::new(),
            watch_container: program.map(str::to_owned),
            looks_on: false,
            neighbours,
            permit: None,
            shows_credential: false,
            stays: false,
            replaces: None,
        }
    }

    fn order(id: &str) -> Prepare {
        looks_at([("server-sidecar".to_owned(), id.to_owned())].into(), None)
    }

    #[test]
    fn orders_that_name_no_container_are_refused() {
        for id in ["", "0123456789a", "../../0123456789ab", "0123456789ab/", "0123456789a "] {
            let fault = Neighbours::find(&order(id), true).unwrap_err();
            assert!(fault.text.contains(&format!("`{id}`")), "{fault:?}");
        }
        let many = (0..=MOST).map(|n| (n.to_string(), "0123456789ab".to_owned())).collect();
        let fault = Neighbours::find(&looks_at(many, None), true).unwrap_err();
        assert!(fault.text.contains("at most 8"), "{fault:?}");
        let program = looks_at(BTreeMap::new(), Some("0123456789ab"));
        for order in [order("0123456789ab"), program] {
            let fault = Neighbours::find(&order, false).unwrap_err();
            assert!(fault.text.contains("only serves"), "{fault:?}");
        }
        assert!(Neighbours::find(&looks_at(BTreeMap::new(), None), false).is_ok());
    }

    #[test]
    fn a_container_that_is_not_there_is_told_and_is_no_fault() {
        let mut found = Neighbours::find(&order("0123456789abcdefnowhere"), true).unwrap();
        let mut readings = BTreeMap::new();
        found.read(&mut readings);
        assert!(readings.is_empty(), "{readings:?}");
        let told: Vec<_> = found.unavailable().collect();
        let why = "the agent beside it does not see its processes";
        assert_eq!(told, [("neighbour server-sidecar", why)]);
        let order = looks_at(BTreeMap::new(), Some("0123456789abcdefnowhere"));
        let found = Neighbours::find(&order, true).unwrap();
        assert_eq!(found.unavailable().collect::<Vec<_>>(), [("program", why)]);
        assert!(found.program().is_none());
    }
}
