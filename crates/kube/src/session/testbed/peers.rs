//! A trial that a tool of others makes, in containers beside the agents of a path.

mod script;

use std::collections::BTreeMap;
use std::time::Duration;

use hopbench_model::{CpuSet, Fault, Point, Proof};
use hopbench_peer::{Commands, PORT, PeerTool, Server, Task, of_point};
use hopbench_sys::clock;
use hopbench_testbed::placement::{PodId, program};
use hopbench_testbed::{AgentId, PeerSaid, PeerServer, Route, Seen, last_words};
use k8s_openapi::api::core::v1::Pod;
use tokio::time::{sleep, timeout};

use self::script::{End, Place, command, is_listening, split};
use crate::api::client::Api;
use crate::api::forward::exec::{Printed, Process};
use crate::objects::containers::PEER;
use crate::proof;
use crate::proof::facts::ProofFacts;
use crate::session::cluster::Cluster;

/// A server that does not listen by then will not. The shortest pause of some images' `sleep` is a
/// second.
const MOST_START: Duration = Duration::from_secs(10);
/// A client takes at most this much longer than its trial.
const MOST_LONGER: Duration = Duration::from_secs(15);
/// A program that has not printed its version by then hangs.
const MOST_VERSION: Duration = Duration::from_secs(10);
/// How often it is looked whether somebody still waits for a tool.
const LOOK: Duration = Duration::from_millis(100);

/// Where an end of a tool is started.
#[derive(Debug, Clone, Copy)]
struct Seat<'a> {
    /// The name of the pod.
    pod: &'a str,
    /// The CPUs that it is held to; absent: those of its container.
    cpus: Option<&'a CpuSet>,
}

/// The result of a run of a tool.
struct Ran {
    output: String,
    /// The words about the server; see [`PeerServer::said`].
    server_said: String,
    started: Duration,
    /// Where its processes were, the client's first.
    client: Place,
    /// Absent: the tool brought no server.
    server: Option<Place>,
}

impl Cluster {
    /// Lets the tool of a point make a trial.
    pub(super) fn peer_trial(
        &mut self,
        route: &Route,
        point: &Point,
        is_over: &dyn Fn() -> bool,
    ) -> Result<PeerSaid, Fault> {
        let tool = of_point(point).ok_or_else(|| {
            let found = point.peer.as_ref().map(|peer| peer.tool.as_str()).unwrap_or_default();
            Fault::input(format!("found the tool `{found}`, expected one that hopbench starts"))
        })?;
        let failed = |why: String| Fault::measuring(format!("{}: {why}", tool.name));
        let commands = tool.commands(&Task::of(point, route.target, PORT)).map_err(failed)?;
        let ends = self.endpoints(&route.path)?;
        let servers = ends.servers_of(program(&point.server).as_deref());
        let (Some(client), Some(server)) = (ends.clients.first(), servers.first()) else {
            return Err(failed("the path has no ends".to_owned()));
        };
        let (access, built) = self.standing()?;
        let named = |pod: &PodId| built.names.get(pod).map(String::as_str).unwrap_or_default();
        let seats = [
            Seat { pod: named(client), cpus: point.job.client_cpus.as_ref() },
            Seat { pod: named(server), cpus: point.job.server_cpus.as_ref() },
        ];
        let length = Duration::from_nanos(point.job.timing.window_ns) + MOST_LONGER;
        let known = self.tools.get(tool.name);
        let (version, mut ran) = access
            .runtime
            .block_on(async {
                let running = async {
                    let version = match known {
                        Some(version) => version.clone(),
                        None => version_of(&built.api.pods, seats[0].pod, tool).await?,
                    };
                    let ran = run(&built.api.pods, tool, &commands, seats, length).await?;
                    Ok::<_, String>((version, ran))
                };
                tokio::select! {
                    ran = running => ran,
                    () = over(is_over) => Err("it was interrupted".to_owned()),
                }
            })
            .map_err(failed)?;
        let said = |(pod, place): (&PodId, &Place)| (pod.agent(), place.machine.clone());
        let at = [Some((client, &ran.client)), ran.server.as_ref().map(|place| (server, place))];
        let machines: BTreeMap<AgentId, _> = at.into_iter().flatten().map(said).collect();
        let (clients, servers) = (std::slice::from_ref(client), std::slice::from_ref(server));
        let facts = ProofFacts { built, ends: &ends, servers, service: None, proxies: &[] };
        let seen =
            Seen { job: &point.job, clients: &[], servers: &[], machines: &machines, stood: false };
        let mut placed = proof::of_tool(&facts, clients, ran.server.is_some(), &seen);
        placed.extend(held(seats, &ran));
        self.tools.insert(tool.name, version.clone());
        Ok(PeerSaid {
            version,
            client: format!("{} {}", tool.name, commands.client),
            server: match commands.server {
                Server::Tool(program, words) => Some(format!("{program} {words}")),
                Server::There | Server::Ours(_) => None,
            },
            output: ran.output,
            server_said: ran.server_said,
            differs: tool.differs,
            started: ran.started,
            machine: Some(std::mem::take(&mut ran.client.machine)),
            placed,
        })
    }
}

/// Ends when nobody waits for a tool any more.
async fn over(is_over: &dyn Fn() -> bool) {
    while !is_over() {
        sleep(LOOK).await;
    }
}

/// The version of a tool, in its own words.
async fn version_of(pods: &Api<Pod>, pod: &str, tool: &PeerTool) -> Result<String, String> {
    // Nobody would end it otherwise, if it hangs.
    let words = command(tool.name, tool.version, End::Client(""), None);
    let asked = async { Process::start(pods, pod, PEER, words).await?.printed(|_| false).await };
    let printed = timeout(MOST_VERSION, asked);
    let printed =
        printed.await.map_err(|_| format!("it did not tell its version in {MOST_VERSION:?}"))??;
    let (_, output) = split(&printed.output).map_err(|why| format!("{why}{}", ending(&printed)))?;
    // Some end with a failure all the same, and some print it to standard error.
    match printed.failure {
        Some(why) if output.is_empty() && printed.error.is_empty() => Err(why),
        _ => Ok(tool.version_in(&[output.into_bytes(), printed.error].concat())),
    }
}

/// Runs a tool to its end. Its server is gone when this returns.
async fn run(
    pods: &Api<Pod>,
    tool: &PeerTool,
    commands: &Commands,
    [at_client, at_server]: [Seat<'_>; 2],
    length: Duration,
) -> Result<Ran, String> {
    let (mut server, place) = match &commands.server {
        Server::Tool(program, words) => {
            let (process, place) = serve(pods, program, words, at_server).await?;
            (Some(process), Some(place))
        }
        // The agent answers in the place of a server of ours.
        Server::There | Server::Ours(_) => (None, None),
    };
    let started = clock::wall();
    let mut measuring = std::pin::pin!(timeout(length, measure(pods, tool, commands, at_client)));
    let mut ended = None;
    let measured = match &mut server {
        // What it says meanwhile must not fill the way to it.
        Some(server) => tokio::select! {
            measured = &mut measuring => measured,
            printed = server.printed(|_| false) => {
                ended = Some(printed);
                measuring.await
            }
        },
        None => measuring.await,
    };
    let server_said = match server {
        // Before anybody else needs its port.
        Some(server) => of_server(ended.as_ref(), &server.end().await),
        None => String::new(),
    };
    let measured = measured.unwrap_or_else(|_| Err(format!("it did not end within {length:?}")));
    let (client, output) = measured.map_err(|why| format!("{why}{server_said}"))?;
    Ok(Ran { output, server_said, started, client, server: place })
}

/// Starts a server; it listens when this returns.
async fn serve(
    pods: &Api<Pod>,
    program: &str,
    words: &str,
    at: Seat<'_>,
) -> Result<(Process, Place), String> {
    let command = command(program, words, End::Server(PORT), at.cpus);
    let mut process = Process::start(pods, at.pod, PEER, command).await?;
    let heard = timeout(MOST_START, process.printed(is_listening)).await;
    match heard {
        Ok(printed) => {
            let printed = printed?;
            if is_listening(&printed.output) {
                return Ok((process, split(&printed.output)?.0));
            }
            Err(format!("its server ended at once{}", ending(&printed)))
        }
        Err(_) => {
            let said = process.end().await;
            let words = last_words(None, &String::from_utf8_lossy(&said));
            Err(format!("its server does not listen on port {PORT} after {MOST_START:?}{words}"))
        }
    }
}

/// Runs a client to its end: where it was, and what it printed.
async fn measure(
    pods: &Api<Pod>,
    tool: &PeerTool,
    commands: &Commands,
    at: Seat<'_>,
) -> Result<(Place, String), String> {
    let command = command(tool.name, &commands.client, End::Client(commands.input), at.cpus);
    let mut process = Process::start(pods, at.pod, PEER, command).await?;
    let printed = process.printed(|_| false).await?;
    let silent = |what: &str| format!("{what}{}", ending(&printed));
    let (place, output) = split(&printed.output).map_err(|why| silent(&why))?;
    // Some end with a failure because echoes or requests got lost: their figures say so.
    if output.trim().is_empty() {
        return Err(silent("it printed nothing"));
    }
    Ok((place, output))
}

/// How a program ended, and the last words that it had.
fn ending(printed: &Printed) -> String {
    last_words(printed.failure.as_deref(), &String::from_utf8_lossy(&printed.error))
}

/// The words about a server, behind those on a failure. `ended`: how, if it did before it was told
/// to; `words`: all that it printed last.
fn of_server(ended: Option<&Result<Printed, String>>, words: &[u8]) -> String {
    match ended {
        Some(Ok(printed)) => {
            let how = printed.failure.as_deref();
            PeerServer::Ended(how).said(&String::from_utf8_lossy(&printed.error))
        }
        Some(Err(why)) => format!("; its server: {why}"),
        None => PeerServer::Running.said(&String::from_utf8_lossy(words)),
    }
}

/// Whether a tool was on the CPUs that it was held to; `None`: it was held to none.
fn held(seats: [Seat<'_>; 2], ran: &Ran) -> Option<Proof> {
    let places = [("client", Some(&ran.client)), ("server", ran.server.as_ref())];
    hopbench_testbed::held(places.into_iter().zip(seats).filter_map(|((end, place), seat)| {
        Some((end, seat.cpus?.0.as_slice(), place?.cpus.0.as_slice()))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(cpus: &str) -> Place {
        split(format!("pod boot {cpus}\n").as_bytes()).unwrap().0
    }

    #[test]
    fn a_tool_is_on_the_cpus_that_it_was_held_to() {
        let asked: CpuSet = "2-3".parse().unwrap();
        let held = |on: [&str; 2], asked: [Option<&CpuSet>; 2]| {
            let ran = Ran {
                output: String::new(),
                server_said: String::new(),
                started: Duration::ZERO,
                client: place(on[0]),
                server: Some(place(on[1])),
            };
            held(asked.map(|cpus| Seat { pod: "p", cpus }), &ran)
                .map(|proof| (proof.evidence, proof.ok))
        };
        let both = [Some(&asked); 2];
        assert_eq!(held(["2", "3"], both), Some(("client on 2; server on 3".to_owned(), true)));
        assert_eq!(held(["2", "1-3"], both).map(|(_, ok)| ok), Some(false));
        assert_eq!(held(["2", "7"], [Some(&asked), None]), Some(("client on 2".to_owned(), true)));
        assert_eq!(held(["2", "3"], [None; 2]), None);
    }

    #[test]
    fn what_a_tool_says_last_is_told() {
        let said = |error: &str, failure: Option<&str>| {
            let (error, failure) = (error.as_bytes().to_vec(), failure.map(str::to_owned));
            ending(&Printed { output: Vec::new(), error, failure })
        };
        assert_eq!(said("", None), "");
        assert_eq!(
            said("no route\nto it\n", Some("exit code 1")),
            " (exit code 1): no route; to it"
        );
    }

    #[test]
    fn a_failure_tells_what_its_server_said() {
        assert_eq!(of_server(None, b"\n"), "");
        assert_eq!(of_server(None, b"no\ninterface\n"), "; its server said: no; interface");
        let failure = Some("exit code 1".to_owned());
        let printed = Printed { output: Vec::new(), error: b"no interface\n".to_vec(), failure };
        let told = of_server(Some(&Ok(printed)), b"no interface\n");
        assert_eq!(told, "; its server had ended (exit code 1): no interface");
        let lost = Err("the way broke".to_owned());
        assert_eq!(of_server(Some(&lost), b""), "; its server: the way broke");
    }
}
