//! A run of a tool of others: its server in one pod and its client in another, each within its
//! time.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use hopbench_model::units::Span;
use hopbench_model::{Nanos, SECOND};
use hopbench_peer::{Commands, PeerTool, Server};
use hopbench_sys::clock;
use hopbench_testbed::{PeerServer, last_words};
use nix::sys::signal::Signal;

use crate::network::stack::Stack;
use crate::processes::affinity;
use crate::processes::process_table::{cpus_of, listening, network_of};
use crate::processes::stderr_log::StderrLog;
use crate::processes::supervised::Supervised;
use crate::processes::tools::{self, bounded};

/// A program that has not printed its version by then hangs.
const MOST_VERSION_NS: Nanos = 5 * SECOND;
/// A server that does not listen by then will not.
const MOST_START_NS: Nanos = 5 * SECOND;
/// A client takes at most this much longer than its trial.
const MOST_LONGER_NS: Nanos = 15 * SECOND;
/// How often it is looked whether a server listens, or a client has ended.
const LOOK_NS: Nanos = 2_000_000;
/// A client whose output is longer is broken.
const MOST_OUTPUT_BYTES: u64 = 4 << 20;
/// The longest wait for the rest of the output of a client that has ended.
const MOST_REST: Duration = Duration::from_secs(2);

/// The place of one end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat<'a> {
    pub(crate) stack: &'a Stack,
    /// The CPUs that it is held to; absent: any.
    pub(crate) cpus: Option<&'a [usize]>,
}

/// Both ends, and what runs there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends<'a> {
    pub(crate) client: Seat<'a>,
    pub(crate) server: Seat<'a>,
    /// The port on which the server listens.
    pub(crate) port: u16,
    /// The program of hopbench, which answers HTTP.
    pub(crate) ours: &'a Path,
    /// Length of the trial, ns.
    pub(crate) length_ns: Nanos,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What the client printed.
    pub(crate) output: String,
    /// The words about the server; see [`PeerServer::said`].
    pub(crate) server_said: String,
    /// When it started, since 1970 UTC.
    pub(crate) started: Duration,
    /// What the kernel said of each end while it ran, the client first. A server program of the lab
    /// is not among them.
    pub(crate) seen: Vec<SeenProcess>,
}

/// A process as the kernel showed it.
#[derive(Debug)]
pub(crate) struct SeenProcess {
    /// `client` or `server`.
    pub(crate) end: &'static str,
    /// The inode of its network namespace; absent: it had ended.
    pub(crate) network: Option<u64>,
    /// The CPUs that it may use; absent: it had ended.
    pub(crate) cpus: Option<Vec<usize>>,
}

impl SeenProcess {
    fn of(end: &'static str, pid: u32) -> Self {
        Self { end, network: network_of(pid), cpus: cpus_of(pid).map(|set| set.0) }
    }
}

/// Runs a tool to its end, or until `is_over` says that nobody waits for it any more. What was
/// started has ended when this returns.
pub(crate) fn run(
    tool: &PeerTool,
    commands: &Commands,
    ends: &Ends<'_>,
    is_over: &dyn Fn() -> bool,
) -> io::Result<Outcome> {
    let program = find(tool.name)?;
    let mut server = match &commands.server {
        Server::There => None,
        Server::Tool(name, words) => Some(serve(tool, &find(name)?, words, ends)?),
        Server::Ours(words) => Some(serve(tool, ends.ours, words, ends)?),
    };
    let mut seen: Vec<SeenProcess> =
        server.iter().map(|server| SeenProcess::of("server", server.process.pid())).collect();
    let started = clock::wall();
    let command = ends.client.stack.namespace.command(&program)?;
    let mut client = Client::start(command, commands, ends.client.cpus)?;
    seen.insert(0, SeenProcess::of("client", client.process.pid()));
    let output = client.finish(tool, ends.length_ns + MOST_LONGER_NS, is_over);
    let server_said = server.as_mut().map(Serving::said).unwrap_or_default();
    // The server ends here, before anybody else needs its port.
    drop(server);
    let output = output.map_err(|error| io::Error::other(format!("{error}{server_said}")))?;
    Ok(Outcome { output, server_said, started, seen })
}

/// A program of a tool.
pub(crate) fn find(program: &str) -> io::Result<PathBuf> {
    let found = tools::find(program);
    found.ok_or_else(|| io::Error::other(format!("no program `{program}` in PATH")))
}

/// The version of a tool, in its own words.
pub(crate) fn version(tool: &PeerTool) -> String {
    let printed = tools::find(tool.name)
        .and_then(|program| bounded(Command::new(program).arg(tool.version), MOST_VERSION_NS).ok());
    // Some end with a failure all the same, and some print it to standard error.
    tool.version_in(&printed.map(|out| [out.stdout, out.stderr].concat()).unwrap_or_default())
}

/// Starts a server; it listens when this returns.
fn serve(tool: &PeerTool, program: &Path, words: &str, ends: &Ends<'_>) -> io::Result<Serving> {
    let command = ends.server.stack.namespace.command(program)?;
    Serving::start(command, tool, words, ends.port, ends.server.cpus)
}

/// A server that runs.
struct Serving {
    process: Supervised,
    /// Many tools say on their standard output what is wrong.
    log: StderrLog,
}

impl Serving {
    /// `command` is its program, in the namespace that it is to be in.
    fn start(
        mut command: Command,
        tool: &PeerTool,
        words: &str,
        port: u16,
        cpus: Option<&[usize]>,
    ) -> io::Result<Self> {
        let (read, write) = io::pipe()?;
        command.stdin(Stdio::null()).stdout(write.try_clone()?).stderr(write);
        let (process, _) = start(command, words, cpus)?;
        let server = Self { process, log: StderrLog::follow(tool.name, read, None)? };
        let end = clock::now() + MOST_START_NS;
        while !listening(server.process.pid()).contains(&port) {
            let failed = |what: String, last: &str| {
                io::Error::other(format!("its server {what}{}", last_words(None, last)))
            };
            if !server.process.is_alive() {
                return Err(failed("ended at once".to_owned(), &server.log.last()));
            }
            if clock::now() > end {
                let waited = Span(MOST_START_NS);
                let what = format!("does not listen on port {port} after {waited}");
                return Err(failed(what, &server.log.so_far()));
            }
            clock::sleep_until(clock::now() + LOOK_NS);
        }
        Ok(server)
    }

    /// Whether it has ended, and its last words, behind the words on a failure. Empty if it goes on
    /// and said nothing.
    fn said(&mut self) -> String {
        if self.process.is_alive() {
            return PeerServer::Running.said(&self.log.so_far());
        }
        let how = self.process.end().map(|status| status.to_string());
        PeerServer::Ended(how.as_deref()).said(&self.log.last())
    }
}

/// A client that runs.
struct Client {
    process: Supervised,
    output: Receiver<io::Result<Vec<u8>>>,
    log: Option<StderrLog>,
}

impl Client {
    /// `command` is its program, in the namespace that it is to be in.
    fn start(
        mut command: Command,
        commands: &Commands,
        cpus: Option<&[usize]>,
    ) -> io::Result<Self> {
        let (read, write) = io::pipe()?;
        // A script fits into a pipe.
        let (input, mut end) = io::pipe()?;
        end.write_all(commands.input.as_bytes())?;
        drop(end);
        command.stdin(input).stdout(write).stderr(Stdio::piped());
        let (process, stderr) = start(command, &commands.client, cpus)?;
        let log = stderr.map(|stderr| StderrLog::follow("peer", stderr, None)).transpose()?;
        let (send, output) = mpsc::channel();
        std::thread::Builder::new().name("peer-output".to_owned()).spawn(move || {
            let mut bytes = Vec::new();
            let done = read.take(MOST_OUTPUT_BYTES).read_to_end(&mut bytes);
            // Nobody waits for it any more where this fails.
            let _ = send.send(done.map(|_| bytes));
        })?;
        Ok(Self { process, output, log })
    }

    /// Waits for its end; what it printed.
    fn finish(
        &mut self,
        tool: &PeerTool,
        most_ns: Nanos,
        is_over: &dyn Fn() -> bool,
    ) -> io::Result<String> {
        let end = clock::now() + most_ns;
        while self.process.is_alive() {
            let why = match clock::now() > end {
                true => format!("it did not end within {}", Span(most_ns)),
                false if is_over() => "it was interrupted".to_owned(),
                false => {
                    clock::sleep_until(clock::now() + LOOK_NS);
                    continue;
                }
            };
            self.process.signal(Signal::SIGKILL);
            return Err(io::Error::other(why));
        }
        let output = self.output.recv_timeout(MOST_REST).unwrap_or_else(|_| Ok(Vec::new()))?;
        let output = String::from_utf8_lossy(&output).into_owned();
        let status = self.process.end();
        // Some end with a failure because echoes or requests got lost: their figures say so.
        if output.trim().is_empty() {
            let last = self.log.as_ref().map(StderrLog::last).unwrap_or_default();
            let how = status.map_or_else(|| "ended".to_owned(), |status| status.to_string());
            let words = last_words(Some(&how), &last);
            return Err(io::Error::other(format!("{} printed nothing{words}", tool.name)));
        }
        Ok(output)
    }
}

/// Starts a program with these arguments, on these CPUs; with its standard error, if that is piped.
fn start(
    mut command: Command,
    words: &str,
    cpus: Option<&[usize]>,
) -> io::Result<(Supervised, Option<ChildStderr>)> {
    command.args(words.split_whitespace());
    // A Ctrl-C at the terminal is for the conductor, which ends the trial first.
    command.process_group(0);
    // Numbers with a point, and the words that `import` knows.
    command.env("LC_ALL", "C");
    let cpus = cpus.map(<[usize]>::to_vec);
    Supervised::start(move || affinity::on(cpus.as_deref(), || command.spawn()))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::processes::process_table::ProcessId;

    /// A client that a shell plays.
    fn client(script: &str, input: &'static str) -> Client {
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]);
        let commands = Commands {
            kind: "peer-rr",
            server: Server::There,
            client: "one two".to_owned(),
            input,
            has_more_ports: false,
        };
        Client::start(command, &commands, None).unwrap()
    }

    fn ended(mut client: Client, most_ns: Nanos, is_over: bool) -> Result<String, String> {
        let tool = hopbench_peer::PEERS[0];
        client.finish(tool, most_ns, &|| is_over).map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_client_prints_is_kept_however_it_ends() {
        let done = |script: &str, input| ended(client(script, input), 10 * SECOND, false);
        assert_eq!(done("echo $1 $2; echo lost >&2; exit 1", ""), Ok("one two\n".to_owned()));
        assert_eq!(done("cat", "a script\n"), Ok("a script\n".to_owned()));
        let why = done("echo no route >&2; echo to it >&2; exit 3", "").unwrap_err();
        assert_eq!(why, "iperf3 printed nothing (exit status: 3): no route; to it");
        assert!(done("true", "").is_err());
    }

    /// A server that a shell plays, at a port of this process.
    fn server(script: &str) -> Result<Serving, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]);
        let tool = hopbench_peer::PEERS[0];
        Serving::start(command, tool, "one two", port, None).map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_server_prints_is_told_wherever_it_prints_it() {
        for (script, expected) in [
            ("echo out of $2; echo off >&2; exec sleep 60", "; its server said: out of two; off"),
            (
                "sleep 1; echo no interface; exit 3",
                "; its server had ended (exit status: 3): no interface",
            ),
            ("exec sleep 60", ""),
        ] {
            let mut server = server(script).unwrap();
            let end = clock::now() + 10 * SECOND;
            while server.said() != expected && clock::now() < end {
                clock::sleep_until(clock::now() + LOOK_NS);
            }
            assert_eq!(server.said(), expected);
        }
    }

    #[test]
    fn a_server_that_does_not_listen_is_told_with_its_words() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo no interface; echo at all >&2; exit 1", "sh"]);
        // Nobody listens on port 0.
        let started = Serving::start(command, hopbench_peer::PEERS[0], "", 0, None);
        let why = started.err().map(|error| error.to_string());
        assert_eq!(why.as_deref(), Some("its server ended at once: no interface; at all"));
    }

    #[test]
    fn a_client_that_does_not_end_is_killed() {
        for (is_over, why) in [(false, "it did not end within 50ms"), (true, "it was interrupted")]
        {
            let client = client("exec sleep 60", "");
            let process = ProcessId::now(client.process.pid()).unwrap();
            assert_eq!(ended(client, 50_000_000, is_over), Err(why.to_owned()));
            assert!(!process.is_alive());
        }
    }

    #[test]
    fn a_long_output_does_not_fill_the_memory() {
        let endless = client("exec yes", "");
        let output = ended(endless, SECOND, false);
        // Its pipe is closed when enough was read, which ends it.
        assert_eq!(output.map(|text| text.len()), Ok(MOST_OUTPUT_BYTES as usize));
    }
}
