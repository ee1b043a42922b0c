//! A tool of others: what it measures, and its command lines.

use std::fmt;
use std::net::SocketAddr;

use hopbench_model::units::Span;
use hopbench_model::{Job, Pattern, Point, SECOND, Schedule, Transport, Unit, printable};
use serde_json::Value;

/// Characters of a version that are kept.
const MOST_WORDS: usize = 100;

/// A tool of others that a testbed can start.
///
/// To add one: a file in `tools/` and a line in [`PEERS`](crate::PEERS). The crate `import` has to
/// read what it prints.
pub struct PeerTool {
    /// Its name in scenarios, and the name of the program.
    pub name: &'static str,
    /// What it measures, in a few words.
    pub measures: &'static str,
    /// How to get it for this machine.
    pub remedy: &'static str,
    /// The argument with which it prints its version.
    pub version: &'static str,
    /// Why its figures may differ from ours.
    pub differs: &'static str,
    /// Its command lines, or the reason why it cannot measure this.
    pub(crate) commands: fn(&Task<'_>) -> Result<Commands, String>,
}

/// The task of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The job of the workload that it stands beside.
    pub job: &'a Job,
    /// Path and query that HTTP requests.
    pub request: &'a str,
    /// Whether a server program of the testbed answers HTTP.
    pub has_program: bool,
    /// The destination of the client.
    pub target: SocketAddr,
    /// The port on which the tool's server listens.
    pub port: u16,
}

/// The command lines of a task, without the names of the programs. No word has a blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commands {
    /// The name of the workload's kind: `peer-stream`, of what `import` calls `imported-stream`.
    pub kind: &'static str,
    /// The server, with its arguments.
    pub server: Server,
    /// The arguments of the client, with blanks between.
    pub client: String,
    /// The text that the client reads from its standard input.
    pub input: &'static str,
    /// Whether it needs more than one port, so that no Service can lead to it.
    pub has_more_ports: bool,
}

/// The server of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Server {
    /// None: the kernel answers, or a server program that the testbed has started.
    There,
    /// A program of the tool, by its name, with these arguments.
    Tool(&'static str, String),
    /// hopbench, with these arguments.
    Ours(String),
}

impl fmt::Debug for PeerTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PeerTool {
    /// The command lines of a task.
    ///
    /// # Errors
    /// Why the tool cannot measure this.
    pub fn commands(&self, task: &Task<'_>) -> Result<Commands, String> {
        (self.commands)(task)
    }

    /// Its version, in its own words, from what it prints for it.
    pub fn version_in(&self, printed: &[u8]) -> String {
        let text = String::from_utf8_lossy(printed);
        let has_digit = |line: &&str| line.contains(|c: char| c.is_ascii_digit());
        let line = text.lines().map(str::trim).find(has_digit);
        line.map_or_else(|| "not known".to_owned(), |line| printable::excerpt(line, MOST_WORDS))
    }

    /// The name of the kind of what the tool measures for this job: `peer-stream`. `is_agent`:
    /// hopbench answers HTTP.
    ///
    /// # Errors
    /// Why it cannot measure it.
    pub fn kind_of(&self, job: &Job, is_agent: bool) -> Result<&'static str, String> {
        let target = SocketAddr::from(([192, 0, 2, 1], 1));
        let task = Task { job, request: "/", has_program: !is_agent, target, port: 1 };
        self.commands(&task).map(|commands| commands.kind)
    }
}

/// The parameters of workloads that no tool here is told.
const NEVER: &[&str] = &[
    "tls",
    "congestion",
    "receive_low_water",
    "not_sent_low_water",
    "send_buffer",
    "receive_buffer",
    "headers",
    "body",
    "body_hex",
    "body_size",
    "no_keep_alive",
    "http2",
    "count",
];

impl<'a> Task<'a> {
    /// The task of a point's tool, whose client connects to `target` and whose server listens on
    /// `port`.
    pub fn of(point: &'a Point, target: SocketAddr, port: u16) -> Self {
        let (request, has_program) = (point.server.request.as_str(), !point.server.is_agent());
        Self { job: &point.job, request, has_program, target, port }
    }
}

impl Task<'_> {
    /// Whether a job is of this kind: what carries it, who waits for whom, what is counted.
    pub(crate) fn is(&self, transport: Transport, pattern: Pattern, unit: Unit) -> bool {
        let kind = self.job.kind();
        (self.job.transport(), kind.pattern, kind.unit) == (transport, pattern, unit)
    }

    /// Whole seconds of the trial, at least 1.
    pub(crate) fn seconds(&self) -> u64 {
        self.job.timing.window_ns.div_ceil(SECOND).max(1)
    }

    /// Bytes of a message.
    pub(crate) fn size(&self) -> u64 {
        self.job.size().map_or(1, |size| size.0)
    }

    /// A command line with the values of the task in place of their names in braces: `{address}`
    /// and `{port}` of the target, `{any}` and `{listen}` of the server, `{family}` (`-4` or `-6`),
    /// `{seconds}`, `{connections}`, `{threads}`, `{size}`, `{url}`.
    pub(crate) fn line(&self, words: &str) -> String {
        let job = self.job;
        let (target, request) = (self.target, self.request);
        let values = [
            ("{address}", target.ip().to_string()),
            ("{port}", target.port().to_string()),
            ("{listen}", self.port.to_string()),
            ("{family}", if target.is_ipv6() { "-6" } else { "-4" }.to_owned()),
            ("{any}", if target.is_ipv6() { "::" } else { "0.0.0.0" }.to_owned()),
            ("{seconds}", self.seconds().to_string()),
            ("{connections}", job.connections.to_string()),
            ("{threads}", job.threads.min(job.connections).to_string()),
            ("{size}", self.size().to_string()),
            // It comes last: a path may have braces of its own.
            ("{url}", format!("http://{target}{request}")),
        ];
        values.iter().fold(words.to_owned(), |line, (name, value)| line.replace(name, value))
    }

    /// The command lines for HTTP/1.1 without a rate.
    pub(crate) fn http(&self, tool: &PeerTool, client: &str) -> Result<Commands, String> {
        self.requests(tool)?;
        self.closed()?;
        Ok(self.http_commands("peer-http", client))
    }

    /// Refuses all but plain HTTP/1.1.
    pub(crate) fn requests(&self, tool: &PeerTool) -> Result<(), String> {
        if !self.is(Transport::Http, Pattern::Exchanges, Unit::Requests) {
            return other(tool);
        }
        self.without(&[])
    }

    /// The command lines for HTTP, which a server program answers or else hopbench.
    pub(crate) fn http_commands(&self, kind: &'static str, client: &str) -> Commands {
        let ours = "serve --http --insecure --bind {any} --port {listen}";
        let server = if self.has_program { Server::There } else { Server::Ours(self.line(ours)) };
        Commands { kind, server, client: self.line(client), input: "", has_more_ports: false }
    }

    /// Refuses a job that says more than a tool can be told: one of these parameters, or one that
    /// no tool is told.
    pub(crate) fn without(&self, more: &[&str]) -> Result<(), String> {
        let params = &self.job.params;
        let is_said = |name: &&&str| match &params[**name] {
            Value::Null | Value::Bool(false) => false,
            Value::Array(list) => !list.is_empty(),
            _ => true,
        };
        if let Some(name) = NEVER.iter().chain(more).find(is_said) {
            return Err(format!("it cannot be told `{}`", name.replace('_', "-")));
        }
        if self.job.burst > 1 {
            return Err("it cannot be told `burst`".to_owned());
        }
        let gathers = |text: &str| text.parse::<Span>().is_ok_and(|span| span.0 > 0);
        if params["coalesce"].as_str().is_some_and(gathers) {
            return Err("it takes no `coalesce` but 0".to_owned());
        }
        if params["receive_time"] == "kernel" {
            return Err("it takes no `receive-time` but process".to_owned());
        }
        if params["receive"] == "discard" || params["method"].as_str().is_some_and(|m| m != "GET") {
            return Err("it only copies what it receives, and asks with GET".to_owned());
        }
        Ok(())
    }

    /// Refuses a schedule with a rate.
    pub(crate) fn closed(&self) -> Result<(), String> {
        match self.job.schedule {
            Schedule::Closed => Ok(()),
            _ => Err("it is not told a rate".to_owned()),
        }
    }

    /// Refuses more than one connection.
    pub(crate) fn one_connection(&self) -> Result<(), String> {
        match self.job.connections {
            1 => Ok(()),
            more => Err(format!("it has one connection, not {more}")),
        }
    }

    /// Refuses more than one datagram with a call.
    pub(crate) fn one_datagram_a_call(&self) -> Result<(), String> {
        for key in ["gso", "batch"] {
            if self.job.params[key].as_u64().unwrap_or(1) > 1 {
                return Err(format!("it cannot be told `{key}`"));
            }
        }
        Ok(())
    }

    /// Refuses IPv6.
    pub(crate) fn ipv4(&self) -> Result<(), String> {
        if self.target.is_ipv6() { Err("it speaks IPv4 only".to_owned()) } else { Ok(()) }
    }
}

/// The reason of a tool that measures something else.
pub(crate) fn other<T>(tool: &PeerTool) -> Result<T, String> {
    Err(format!("it measures {}", tool.measures))
}

#[cfg(test)]
pub(crate) mod tests {
    use hopbench_model::{BY_PEER, WorkloadKind, fixture};
    use serde_json::json;

    use super::*;
    use crate::tools::PEERS;

    /// The command lines of a tool for a job, with the target 10.0.0.2:5201.
    pub(crate) fn of(tool: &PeerTool, job: &Job) -> Result<Commands, String> {
        let target = "10.0.0.2:5201".parse().unwrap();
        tool.commands(&Task { job, request: "/x", has_program: false, target, port: 5201 })
    }

    /// The lines of both ends; that of the server is empty where it has none of its own.
    pub(crate) fn lines(tool: &PeerTool, job: &Job) -> [String; 2] {
        let commands = of(tool, job).unwrap();
        let server = match commands.server {
            Server::There => String::new(),
            Server::Tool(_, words) | Server::Ours(words) => words,
        };
        [server, commands.client]
    }

    #[test]
    fn every_tool_measures_something_and_says_what_it_does_not() {
        let kinds = ["stream", "udp", "rr", "crr", "ping", "http"];
        let mut measured = 0;
        for tool in PEERS {
            let mut job = fixture::job("", json!({"size": "64B", "rate": null, "every": "1s"}));
            for kind in kinds {
                job.kind = Some(WorkloadKind::of(kind));
                match of(tool, &job) {
                    Ok(commands) => {
                        measured += 1;
                        assert_eq!(commands.kind, format!("{BY_PEER}{kind}"), "{}", tool.name);
                    }
                    Err(why) => assert!(why.starts_with("it "), "{}: {why}", tool.name),
                }
            }
            job.kind = Some(WorkloadKind::of("push"));
            assert_eq!(of(tool, &job), other(tool), "{}", tool.name);
            assert!(!tool.differs.is_empty() && !tool.remedy.is_empty(), "{}", tool.name);
            assert!(kinds.iter().any(|kind| {
                job.kind = Some(WorkloadKind::of(kind));
                of(tool, &job).is_ok()
            }));
        }
        assert!(measured >= PEERS.len());
    }

    #[test]
    fn a_version_is_the_first_line_with_a_number() {
        let tool = PEERS[0];
        assert_eq!(
            tool.version_in(b"usage: x\n  x 3.18 (a build)\nLinux 6.1\n"),
            "x 3.18 (a build)"
        );
        assert_eq!(tool.version_in(b"\nno such option\n"), "not known");
    }

    #[test]
    fn what_a_tool_cannot_be_told_is_refused() {
        let job =
            |params| Job { kind: Some(WorkloadKind::of("stream")), ..fixture::job("", params) };
        let why = |params| {
            let job = job(params);
            let target = "10.0.0.2:1".parse().unwrap();
            let task = Task { job: &job, request: "/", has_program: false, target, port: 1 };
            task.without(&["rate"]).err().unwrap_or_default()
        };
        assert_eq!(why(json!({"size": "1KiB", "rate": null, "tls": false, "headers": []})), "");
        assert_eq!(why(json!({"rate": "1Gbit"})), "it cannot be told `rate`");
        assert_eq!(why(json!({"send_buffer": "1KiB"})), "it cannot be told `send-buffer`");
        assert!(why(json!({"receive": "discard"})).starts_with("it only copies"));
        assert!(why(json!({"method": "POST"})).ends_with("with GET"));
        assert_eq!(why(json!({"receive": "copy", "method": "GET"})), "");
        let job = Job { schedule: Schedule::Rate(5.0), burst: 8, ..job(json!({})) };
        let target = "10.0.0.2:1".parse().unwrap();
        let task = Task { job: &job, request: "/", has_program: false, target, port: 1 };
        assert_eq!(task.without(&[]), Err("it cannot be told `burst`".to_owned()));
    }
}
