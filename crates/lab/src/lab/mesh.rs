//! The mesh of a lab that stands: its processes, and those of them that a path meets.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use hopbench_control::authority::Authority;
use hopbench_mesh::BATCH_NS;
use hopbench_model::{Fault, Nanos, SECOND};
use hopbench_sys::clock;
use hopbench_testbed::placement::{MeshProcess, MeshRole, Met, Placement, PodId};
use hopbench_testbed::{Counters, Gauges, Proxy, of_proxy};

use super::built::{Built, families};
use crate::mesh::proxies::{MeshTask, Proxies};
use crate::mesh::proxy_setup::{ProcessSetup, setups};

/// Proxies send their last reports within this time after the traffic, ns.
const REPORTING_NS: Nanos = BATCH_NS + SECOND / 5;

/// How long a proxy needs to look at its own state, ns.
const LOOK_NS: Nanos = 2_000_000;

/// The mesh of a lab.
#[derive(Debug)]
pub(crate) struct Mesh {
    setups: Vec<ProcessSetup>,
    proxies: Proxies,
    /// Connections to upstreams that each proxy had open already at the trial's start, by the names
    /// of processes.
    warm: BTreeMap<String, f64>,
    /// Until when reports of a trial may be under way.
    reporting_until: Nanos,
}

impl Mesh {
    /// No process yet. `program` has the services as subcommands; `log` takes the standard error of
    /// the processes.
    pub(crate) fn new(program: PathBuf, log: Option<File>) -> Self {
        Self {
            setups: Vec::new(),
            proxies: Proxies::new(program, log),
            warm: BTreeMap::new(),
            reporting_until: 0,
        }
    }

    /// Starts everything that a placement needs, each process in its pod. A proxy that does not
    /// start is no error: [`Mesh::meet`] tries again, and says what is wrong.
    pub(crate) fn build(&mut self, placement: &Placement, built: &Built) -> Result<(), Fault> {
        if !placement.is_proxied() {
            return Ok(());
        }
        let address =
            |pod: &PodId| -> Option<Ipv4Addr> { built.pods.get(pod).map(|pod| pod.address) };
        self.setups = setups(placement, &Authority::new()?, families(placement), address)?;
        let _ = self.start(built, |_| true);
        Ok(())
    }

    /// Starts those that do not run, all at the same time.
    fn start(&mut self, built: &Built, wanted: impl Fn(&MeshProcess) -> bool) -> Result<(), Fault> {
        let task = |setup: &ProcessSetup| {
            let pod = &setup.process.pod;
            let stack =
                built.stack(pod).ok_or_else(|| Fault::input(format!("pod {pod} is not built")))?;
            let node = built.node(&pod.place.node);
            let cpus = node.and_then(|node| node.cpus.as_deref());
            let envoy = node.and_then(|node| node.spec.settings.envoy.as_deref());
            let (name, program) = (setup.process.name(), setup.program());
            Ok(MeshTask { name, stack, cpus, envoy, program })
        };
        let tasks: Vec<MeshTask<'_>> = self
            .setups
            .iter()
            .filter(|setup| wanted(&setup.process))
            .map(task)
            .collect::<Result<_, Fault>>()?;
        if tasks.is_empty() { Ok(()) } else { self.proxies.start(tasks) }
    }

    /// The processes that a path meets, running, for a trial. First it waits for the last reports
    /// of the trial before. They would move counters of links, and spend CPU, on the account of
    /// this one. Processes that the path does not name are tried, too: they show that they stay
    /// still. One that does not run takes nothing.
    pub(crate) fn meet(&mut self, built: &Built, met: &[Met]) -> Result<Vec<Proxy>, Fault> {
        clock::sleep_until(self.reporting_until);
        self.start(built, |process| {
            met.iter().any(|met| met.named && met.process() == process.name())
        })?;
        let _ = self.start(built, |process| {
            met.iter().any(|met| !met.named && met.process() == process.name())
        });
        self.warm = met.iter().filter_map(|met| self.open(&met.process())).collect();
        let proxy = |met: &Met| {
            let name = met.process();
            self.proxies.fresh(&name);
            let node = &met.pod.place.node;
            Proxy {
                name: met.name.clone(),
                node: node.clone(),
                named: met.named,
                pids: self.proxies.pid(&name).into_iter().collect(),
                beside: None,
                workers: met.workers,
                cpus: built.node(node).and_then(|node| node.cpus.clone()),
            }
        };
        Ok(met.iter().map(proxy).collect())
    }

    /// Connections to upstreams that a proxy has open, with its name.
    fn open(&mut self, name: &str) -> Option<(String, f64)> {
        // The first question makes it look, and the answer to the second has what it saw.
        self.proxies.gauges(name).ok()?;
        clock::sleep_until(clock::now() + LOOK_NS);
        Some((
            name.to_owned(),
            *self.proxies.gauges(name).ok()?.get("upstream_active_connections")?,
        ))
    }

    /// The counters of these processes, by the names of [`of_proxy`]. Processes that the path does
    /// not name, and that cannot be asked, have none.
    pub(crate) fn counters(&mut self, met: &[Met]) -> Result<Counters, Fault> {
        // Also where they cannot be read.
        if met.iter().any(|met| met.named && met.role == MeshRole::Telemetry) {
            self.reporting_until = clock::now() + REPORTING_NS;
        }
        let mut counters = Counters::new();
        // The services first: what proxies report meanwhile was sent by nobody otherwise.
        let mut all: Vec<&Met> = met.iter().collect();
        all.sort_by_key(|met| met.role);
        for met in all {
            let read = match self.proxies.counters(&met.process()) {
                // The proof says so.
                Err(_) if !met.named => continue,
                read => read?,
            };
            // What a trial wrote is of no use to anybody, and its memory is.
            self.proxies.fresh(&met.process());
            counters.extend(
                read.into_iter().map(|(counter, value)| (of_proxy(&met.name, &counter), value)),
            );
        }
        Ok(counters)
    }

    /// The gauges of these processes now, by their names, and `warm_upstream_connections`: those to
    /// upstreams that were open already when the trial began.
    pub(crate) fn gauges(&mut self, met: &[Met]) -> Result<BTreeMap<String, Gauges>, Fault> {
        let mut gauges = BTreeMap::new();
        for met in met {
            let mut read = match self.proxies.gauges(&met.process()) {
                Err(_) if !met.named => continue,
                read => read?,
            };
            read.extend(
                self.warm
                    .get(&met.process())
                    .map(|open| ("warm_upstream_connections".to_owned(), *open)),
            );
            gauges.insert(met.name.clone(), read);
        }
        Ok(gauges)
    }

    /// Ends them all.
    pub(crate) fn stop(&mut self) {
        self.proxies.stop();
        self.setups.clear();
    }
}
