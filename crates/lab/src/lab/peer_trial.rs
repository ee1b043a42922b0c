//! A trial that a tool of others makes in a lab.

use hopbench_model::{CpuSet, Fault, Point, Proof, Record};
use hopbench_peer::{PORT, PeerTool, Server, Task, of_point};
use hopbench_testbed::placement::PodId;
use hopbench_testbed::{Counters, PeerSaid, Route, held};

use super::Lab;
use super::peers::{port, version_fact};
use crate::processes::peers::{self, Ends, Outcome, Seat};
use crate::proof::prove_peer;

impl Lab {
    /// Lets the tool of a point make a trial.
    pub(super) fn peer_trial(
        &mut self,
        route: &Route,
        point: &Point,
        is_over: &dyn Fn() -> bool,
    ) -> Result<PeerSaid, Fault> {
        let tool = of_point(point).ok_or_else(|| Fault::input("the lab starts no such tool"))?;
        let failed = |why: String| Fault::measuring(format!("{}: {why}", tool.name));
        let endpoints = self.endpoints(&route.path)?;
        let (Some(client), Some(server)) =
            (endpoints.clients.first().cloned(), endpoints.servers.first().cloned())
        else {
            return Err(failed("the path has no ends".to_owned()));
        };
        let port = port(&endpoints.path, &server);
        let commands = tool.commands(&Task::of(point, route.target, port)).map_err(failed)?;
        if commands.server != Server::There && port != PORT {
            // A server program would have the port. It is started again when it is needed.
            self.programs.leave(&server);
        }
        let built = self.standing()?;
        let cpus = |pod: &PodId, named: &Option<CpuSet>| {
            named.as_ref().map(|set| set.0.clone()).or_else(|| self.agent_cpus(pod))
        };
        let job = &point.job;
        let held = [cpus(&client, &job.client_cpus), cpus(&server, &job.server_cpus)];
        let stack = |pod| built.stack(pod).ok_or_else(|| failed(format!("{pod} is not built")));
        let seats = [stack(&client)?, stack(&server)?];
        let ends = Ends {
            client: Seat { stack: seats[0], cpus: held[0].as_deref() },
            server: Seat { stack: seats[1], cpus: held[1].as_deref() },
            port,
            ours: self.agents.program(),
            length_ns: job.timing.window_ns,
        };
        let outcome = peers::run(tool, &commands, &ends, is_over)
            .map_err(|error| failed(error.to_string()))?;
        let placed = placed(tool, [&client, &server], &ends, &outcome);
        let version = self.read_back.get(&version_fact(tool.name)).cloned().unwrap_or_default();
        Ok(PeerSaid {
            version,
            client: format!("{} {}", tool.name, commands.client),
            server: match commands.server {
                Server::There => None,
                Server::Tool(program, words) => Some(format!("{program} {words}")),
                Server::Ours(words) => Some(format!("hopbench {words}")),
            },
            output: outcome.output,
            server_said: outcome.server_said,
            differs: tool.differs,
            started: outcome.started,
            machine: None,
            placed,
        })
    }

    /// The proofs from counters alone that a tool's traffic took its path.
    pub(super) fn peer_proofs(
        &self,
        route: &Route,
        point: &Point,
        before: &Counters,
        after: &Counters,
        record: &Record,
    ) -> Vec<Proof> {
        let way = self.way(route).ok();
        way.map_or_else(Vec::new, |way| prove_peer(&way, before, after, point, record))
    }
}

/// Whether the processes of a tool were in their pods, and on their CPUs. `pods`: the client's, the
/// server's.
fn placed(tool: &PeerTool, pods: [&PodId; 2], ends: &Ends<'_>, outcome: &Outcome) -> Vec<Proof> {
    let (mut proofs, mut on) = (Vec::new(), Vec::new());
    for process in &outcome.seen {
        let (pod, seat) = match process.end {
            "client" => (pods[0], ends.client),
            _ => (pods[1], ends.server),
        };
        let built = seat.stack.namespace.inode();
        let (evidence, ok) = match process.network {
            Some(inode) if inode == built => {
                (format!("{} in {pod}, namespace {built}", tool.name), true)
            }
            Some(inode) => (format!("{} in namespace {inode}, {pod} is {built}", tool.name), false),
            None => (format!("{} in {pod} ended before it was looked at", tool.name), false),
        };
        proofs.push(Proof { hop: process.end.to_owned(), evidence, ok });
        if let (Some(asked), Some(found)) = (seat.cpus, &process.cpus) {
            on.push((process.end, asked, found.as_slice()));
        }
    }
    proofs.extend(held(on));
    proofs
}
