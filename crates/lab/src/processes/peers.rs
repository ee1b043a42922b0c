//! A run of a tool of others: its server in one pod and its client in another, each within its
//! time.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use hopbench_model::units::Span;
use hopbench_model::{Nanos, SECOND, printable};
use hopbench_peer::{Commands, PeerTool, Server};
use hopbench_sys::clock;
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
/// Characters of a tool's last words that are told.
const MOST_TOLD: usize = 300;

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
    let program = find(tool)?;
    let server = match &commands.server {
        Server::There => None,
        Server::Tool(words) => Some(serve(tool, &program, words, ends)?),
        Server::Ours(words) => Some(serve(tool, ends.ours, words, ends)?),
    };
    let mut seen: Vec<SeenProcess> =
        server.iter().map(|server| SeenProcess::of("server", server.pid())).collect();
    let started = clock::wall();
    let command = ends.client.stack.namespace.command(&program)?;
    let mut client = Client::start(command, commands, ends.client.cpus)?;
    seen.insert(0, SeenProcess::of("client", client.process.pid()));
    let output = client.finish(tool, ends.length_ns + MOST_LONGER_NS, is_over)?;
    // The server ends here, before anybody else needs its port.
    drop(server);
    Ok(Outcome { output, started, seen })
}

/// The program of a tool.
pub(crate) fn find(tool: &PeerTool) -> io::Result<PathBuf> {
    let found = tools::find(tool.name);
    found.ok_or_else(|| io::Error::other(format!("no program `{}` in PATH", tool.name)))
}

/// The version of a tool, in its own words.
pub(crate) fn version(tool: &PeerTool) -> String {
    let printed = tools::find(tool.name)
        .and_then(|program| bounded(Command::new(program).arg(tool.version), MOST_VERSION_NS).ok());
    // Some end with a failure all the same, and some print it to standard error.
    tool.version_in(&printed.map(|out| [out.stdout, out.stderr].concat()).unwrap_or_default())
}

/// Starts a server; it listens when this returns.
fn serve(tool: &PeerTool, program: &Path, words: &str, ends: &Ends<'_>) -> io::Result<Supervised> {
    let mut command = ends.server.stack.namespace.command(program)?;
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let (process, stderr) = start(command, words, ends.server.cpus)?;
    let log = stderr.map(|stderr| StderrLog::follow(tool.name, stderr, None)).transpose()?;
    let end = clock::now() + MOST_START_NS;
    while !listening(process.pid()).contains(&ends.port) {
        let failed = |what: String| {
            let last = log.as_ref().map(StderrLog::so_far).unwrap_or_default();
            io::Error::other(format!("its server {what}{}", told(&last)))
        };
        if !process.is_alive() {
            return Err(failed("ended at once".to_owned()));
        }
        if clock::now() > end {
            let waited = Span(MOST_START_NS);
            return Err(failed(format!("does not listen on port {} after {waited}", ends.port)));
        }
        clock::sleep_until(clock::now() + LOOK_NS);
    }
    Ok(process)
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
        command.stdin(Stdio::from(input)).stdout(Stdio::from(write));
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
            return Err(io::Error::other(format!(
                "{} printed nothing ({how}){}",
                tool.name,
                told(&last)
            )));
        }
        Ok(output)
    }
}

/// Starts a program with these arguments, on these CPUs.
fn start(
    mut command: Command,
    words: &str,
    cpus: Option<&[usize]>,
) -> io::Result<(Supervised, Option<ChildStderr>)> {
    command.args(words.split_whitespace()).stderr(Stdio::piped());
    // A Ctrl-C at the terminal is for the conductor, which ends the trial first.
    command.process_group(0);
    // Numbers with a point, and the words that `import` knows.
    command.env("LC_ALL", "C");
    let cpus = cpus.map(<[usize]>::to_vec);
    Supervised::start(move || affinity::on(cpus.as_deref(), || command.spawn()))
}

/// A program's last words behind what is said of it; nothing where it had none.
fn told(words: &str) -> String {
    let words = words.trim();
    if words.is_empty() {
        return String::new();
    }
    format!(": {}", printable::excerpt(&words.replace('\n', "; "), MOST_TOLD))
}

#[cfg(test)]
mod tests {
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
