//! The binary as a server.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::program::program;

/// A `hopbench serve` under way; killed when dropped.
#[derive(Debug)]
pub(crate) struct Agent {
    child: Child,
    /// The port it took.
    pub(crate) port: u16,
    /// The token it printed; empty with `--insecure`.
    pub(crate) token: String,
}

impl Agent {
    /// On a free port of all addresses, open to everybody, with more flags.
    pub(crate) fn insecure(flags: &[&str]) -> Self {
        Self::start(&mut program(&[&["serve", "--port", "0", "--insecure"], flags].concat()))
    }

    /// On a free port of all addresses, with a token of its own, with more flags.
    pub(crate) fn guarded(flags: &[&str]) -> Self {
        Self::start(&mut program(&[&["serve", "--port", "0"], flags].concat()))
    }

    /// Starts a command that is `hopbench serve` in the end, and waits until it listens.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"));
        let out = BufReader::new(child.stdout.take().expect("its standard output"));
        let (said, lines) = mpsc::channel();
        // Reads on for as long as it runs, so that it never waits for a reader.
        std::thread::spawn(move || {
            out.lines().map_while(Result::ok).for_each(|line| drop(said.send(line)));
        });
        let mut agent = Self { child, port: 0, token: String::new() };
        // The third line is the example with the token.
        for _ in 0..3 {
            let Ok(line) = lines.recv_timeout(Duration::from_secs(10)) else {
                panic!("the agent did not say that it listens: {command:?}");
            };
            if let Some(rest) = line.strip_prefix("hopbench agent on ") {
                let address = rest.split(", ").next().unwrap_or_default();
                agent.port = address
                    .parse::<SocketAddr>()
                    .unwrap_or_else(|e| panic!("`{line}`: {e}"))
                    .port();
            }
            if let Some((token, _)) =
                line.trim().strip_prefix("HOPBENCH_TOKEN=").and_then(|rest| rest.split_once(' '))
            {
                agent.token = token.to_owned();
            }
        }
        assert!(agent.port > 0, "the agent did not say its port");
        agent
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has not ended.
    pub(crate) fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Its address as a client on this machine uses it.
    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// Its address as an argument.
    pub(crate) fn target(&self) -> String {
        self.address().to_string()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
