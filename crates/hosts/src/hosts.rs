//! The hosts as a testbed.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Fault, Host, HostsSpec, Path, Plan, Point, Proof, Via};
use hopbench_testbed::{AgentId, Control, Counters, Need, Route, Seen, Testbed};
use hopbench_wire::Hello;

use crate::machine::{Answers, Machine, outside, tls_of};
use crate::{needs, proof};

/// Machines with agents that are already running.
#[derive(Debug)]
pub struct Hosts {
    spec: HostsSpec,
    ours: Hello,
    machines: BTreeMap<String, Machine>,
    /// The paths that the testbed is up for, by name.
    paths: BTreeMap<String, Path>,
}

impl Hosts {
    /// The machines of `spec`, which are spoken to as `ours`; nothing is asked of them yet.
    pub fn new(spec: &HostsSpec, ours: Hello) -> Self {
        Self { spec: spec.clone(), ours, machines: BTreeMap::new(), paths: BTreeMap::new() }
    }

    /// Asks the agents that these paths need, all at once.
    fn ask(&self, paths: &[Path]) -> Answers {
        let needed: BTreeSet<&String> =
            paths.iter().flat_map(|path| [&path.from.node, &path.to.node]).collect();
        let hosts: Vec<&Host> =
            self.spec.nodes.iter().filter(|host| needed.contains(&host.name)).collect();
        let ask = |host| Machine::ask(host, tls_of(host, &self.spec)?, &self.ours);
        std::thread::scope(|scope| {
            let asked: Vec<_> =
                hosts.into_iter().map(|host| (host, scope.spawn(move || ask(host)))).collect();
            let panicked = || Err(Fault::measuring("a thread that asked an agent panicked"));
            asked
                .into_iter()
                .map(|(host, thread)| {
                    (host.name.clone(), thread.join().unwrap_or_else(|_| panicked()))
                })
                .collect()
        })
    }

    fn machine(&self, node: &str) -> Result<&Machine, Fault> {
        self.machines
            .get(node)
            .ok_or_else(|| Fault::environment(format!("the machine {node} was not asked for")))
    }
}

/// The agent of a machine.
fn agent(node: &str) -> AgentId {
    AgentId(format!("host@{node}"))
}

impl Testbed for Hosts {
    fn name(&self) -> &'static str {
        "hosts"
    }

    fn missing(&mut self, plan: &Plan) -> Vec<Need> {
        let mut out: Vec<Need> =
            plan.paths.iter().filter_map(|path| needs::of_path(path, &self.spec)).collect();
        let not = |path: &Path| out.iter().any(|need| need.path.as_deref() == Some(&path.name));
        let possible: Vec<Path> = plan.paths.iter().filter(|path| !not(path)).cloned().collect();
        let unreadable = self.spec.nodes.iter().find_map(|host| tls_of(host, &self.spec).err());
        match unreadable {
            None => {
                let answers = self.ask(&possible);
                out.extend(needs::of_agents(
                    &Plan { paths: possible, ..plan.clone() },
                    &answers,
                    &self.ours,
                ));
            }
            Some(fault) => out.push(Need {
                path: None,
                what: "the token".to_owned(),
                why: fault.text,
                remedy:
                    "`token-file:` is the file that the agents were started with; `hopbench serve` \
                     without one prints a token to put there"
                        .to_owned(),
            }),
        }
        out
    }

    fn unsupported(&self, _path: &Path, point: &Point) -> Option<String> {
        let program = &point.server.program;
        if point.server.is_agent() {
            return None;
        }
        Some(format!(
            "nobody starts {program} on hosts: let the agent answer, or take the testbed lab or \
             kubernetes"
        ))
    }

    fn up(&mut self, plan: &Plan) -> Result<(), Fault> {
        let answers = self.ask(&plan.paths);
        self.machines = answers
            .into_iter()
            .map(|(node, machine)| Ok((node, machine?)))
            .collect::<Result<_, Fault>>()?;
        self.paths = plan.paths.iter().map(|path| (path.name.clone(), path.clone())).collect();
        Ok(())
    }

    fn route(&mut self, path: &Path, _point: &Point) -> Result<Route, Fault> {
        let (client, server) = (agent(&path.from.node), agent(&path.to.node));
        self.machine(&path.from.node)?;
        let target = match &path.via {
            Via::Address(address) => outside(address)?,
            _ => self.machine(&path.to.node)?.target,
        };
        let hops = match &path.via {
            Via::Direct => vec!["whatever is between the hosts".to_owned()],
            via => vec![via.to_string()],
        };
        Ok(Route {
            path: path.name.clone(),
            nodes: vec![
                (client.clone(), path.from.node.clone()),
                (server.clone(), path.to.node.clone()),
            ],
            clients: vec![client],
            servers: vec![server],
            hops,
            ..Route::to(target)
        })
    }

    fn control(&mut self, agent: &AgentId) -> Result<Control, Fault> {
        let node = agent.0.strip_prefix("host@").unwrap_or(&agent.0);
        let address = self.machine(node)?.control;
        let host = self.spec.nodes.iter().find(|host| host.name == node);
        let host = host.ok_or_else(|| {
            Fault::input(format!("the machine {node} is not part of the testbed"))
        })?;
        Ok(Control::Address { address, tls: tls_of(host, &self.spec)? })
    }

    fn counters(&mut self, _route: &Route) -> Result<Counters, Fault> {
        // Whatever is between the hosts counts for itself.
        Ok(Counters::new())
    }

    fn prove(&self, route: &Route, _: &Counters, _: &Counters, seen: &Seen<'_>) -> Vec<Proof> {
        let Some(path) = self.paths.get(&route.path) else { return Vec::new() };
        proof::prove(path, &self.machines, seen)
    }

    fn facts(&self) -> BTreeMap<String, String> {
        const TOLD: &[&str] =
            &["hostname", "kernel", "cpu_model", "cpu_count", "memory_bytes", "cpu_governor"];
        let mut facts = BTreeMap::new();
        for (node, machine) in &self.machines {
            let mut put =
                |name: &str, value: String| facts.insert(format!("node {node} {name}"), value);
            put("control", machine.control.to_string());
            put("address", machine.target.to_string());
            put("boot_id", machine.hello.boot_id.clone());
            for name in TOLD {
                if let Some(value) = machine.hello.machine.get(*name) {
                    put(name, value.clone());
                }
            }
        }
        facts
    }

    fn down(&mut self) {
        // The agents are somebody else's: they stay.
        self.machines.clear();
        self.paths.clear();
    }
}
