//! The mesh of a lab: what there is of proxies, and of the services that they ask, and how a path meets them.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use hopbench_control::authority::Authority;
use hopbench_model::{Fault, Nanos, SECOND};
use hopbench_sys::clock;
use hopbench_testbed::{Counters, Gauges, Proxy, of_proxy};

use crate::built::Built;
use crate::demand::Demand;
use crate::pod::PodId;
use crate::posts::{self, Met, Post, Role};
use crate::proxies::{Proxies, Task};

/// Proxies send their last reports within this time after the traffic, ns: they do so once a second.
const REPORTING_NS: Nanos = SECOND + SECOND / 5;

/// How long a proxy needs to look at its own state, ns.
const LOOK_NS: Nanos = 2_000_000;

/// The mesh of a lab.
#[derive(Debug)]
pub(crate) struct Mesh {
    posts: Vec<Post>,
    proxies: Proxies,
    /// Connections to upstreams that each proxy had open already at the trial's start, by the names of processes.
    warm: BTreeMap<String, f64>,
    /// Until when reports of a trial may be under way.
    reporting_until: Nanos,
}

impl Mesh {
    /// Nothing yet; `program` has the services as subcommands, `log` takes what the processes say.
    pub(crate) fn new(program: PathBuf, log: Option<File>) -> Self {
        Self { posts: Vec::new(), proxies: Proxies::new(program, log), warm: BTreeMap::new(), reporting_until: 0 }
    }

    /// Everything that a plan demands, started, each in its pod.
    ///
    /// # Errors
    /// Certificates that cannot be made. A proxy that does not start concerns the paths that meet it: [`Mesh::meet`]
    /// tries again, and says what is wrong.
    pub(crate) fn build(&mut self, demand: &Demand, built: &Built) -> Result<(), Fault> {
        if !demand.is_proxied() {
            return Ok(());
        }
        let address = |pod: &PodId| -> Option<Ipv4Addr> { built.pods.get(pod).map(|pod| pod.address) };
        self.posts = posts::all(demand, &Authority::new()?, address)?;
        let _ = self.start(built, |_| true);
        Ok(())
    }

    /// Starts those that do not run, all at the same time.
    fn start(&mut self, built: &Built, wanted: impl Fn(&Post) -> bool) -> Result<(), Fault> {
        let task = |post: &Post| {
            let stack = built.stack(&post.pod).ok_or_else(|| Fault::input(format!("pod {} is not built", post.pod)))?;
            let cpus = built.node(&post.pod.place.node).and_then(|node| node.cpus.as_deref());
            Ok(Task { name: post.name(), stack, cpus, program: post.program() })
        };
        let tasks: Vec<Task<'_>> =
            self.posts.iter().filter(|post| wanted(post)).map(task).collect::<Result<_, Fault>>()?;
        if tasks.is_empty() { Ok(()) } else { self.proxies.start(tasks) }
    }

    /// Those that a path meets, running, for a trial. Whatever the trial before left to be reported is over then: it
    /// would move counters of links, and spend CPU, on the account of this one. Those that the path does not name are
    /// tried, too: they show that they stay still, and one that does not run takes nothing.
    ///
    /// # Errors
    /// One that the path names and that cannot be started.
    pub(crate) fn meet(&mut self, built: &Built, met: &[Met]) -> Result<Vec<Proxy>, Fault> {
        clock::sleep_until(self.reporting_until);
        self.start(built, |post| met.iter().any(|met| met.named && met.process() == post.name()))?;
        let _ = self.start(built, |post| met.iter().any(|met| !met.named && met.process() == post.name()));
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
                workers: self.posts.iter().find(|post| post.name() == name).map_or(1, Post::workers),
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
        Some((name.to_owned(), *self.proxies.gauges(name).ok()?.get("upstream_active_connections")?))
    }

    /// What they have counted, by the names of [`of_proxy`]; nothing of those that the path does not name and that cannot
    /// be asked.
    ///
    /// # Errors
    /// One that the path names and that has ended or does not answer.
    pub(crate) fn counters(&mut self, met: &[Met]) -> Result<Counters, Fault> {
        // Also where they cannot be read.
        if met.iter().any(|met| met.named && met.role == Role::Telemetry) {
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
            counters.extend(read.into_iter().map(|(counter, value)| (of_proxy(&met.name, &counter), value)));
        }
        Ok(counters)
    }

    /// What they say of themselves now, by their names, and `warm_upstream_connections`: those to upstreams that they had
    /// open already when the trial began, from trials before it.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn gauges(&mut self, met: &[Met]) -> Result<BTreeMap<String, Gauges>, Fault> {
        let mut gauges = BTreeMap::new();
        for met in met {
            let mut read = match self.proxies.gauges(&met.process()) {
                Err(_) if !met.named => continue,
                read => read?,
            };
            read.extend(self.warm.get(&met.process()).map(|open| ("warm_upstream_connections".to_owned(), *open)));
            gauges.insert(met.name.clone(), read);
        }
        Ok(gauges)
    }

    /// Ends them all.
    pub(crate) fn stop(&mut self) {
        self.proxies.stop();
        self.posts.clear();
    }
}
