//! nginx: the HTTP target that every client is measured against.

use anyhow::{Context, Result};

use super::{Peer, word_after};
use crate::bench::Bench;
use crate::lab::{End, SERVER_ADDRESS};
use crate::listening;
use crate::process::Running;

/// How nginx is found.
pub(crate) const PEER: Peer =
    Peer { name: "nginx", version_args: &["-v"], version: |printed| word_after(printed, "nginx/") };

const PORT: u16 = 80;
/// Enough for the 10 000 connections of the memory row.
const CONNECTIONS: u64 = 10_500;

/// One process without a master, so that ending it ends all of it. The answer comes from the configuration:
/// the less the server does, the more the client decides. In a user namespace no user but root exists, and
/// nginx gives its directories to its user.
const CONFIGURATION: &str = r#"user root;
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 10500; }
http {
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  tcp_nodelay on;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen 80 backlog=16384;
    default_type text/plain;
    location = /requests { stub_status; }
    location / { return 200 "0123456789abcde\n"; }
  }
}
"#;

/// An nginx at the server's end; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Nginx<'a> {
    bench: &'a Bench,
    running: Running,
}

impl<'a> Nginx<'a> {
    /// Starts one on the server's CPU and waits until it listens.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(bench: &'a Bench) -> Result<Self> {
        let directory = bench.scratch().join("nginx");
        std::fs::create_dir_all(&directory).context("directory for nginx")?;
        std::fs::write(directory.join("nginx.conf"), CONFIGURATION).context("nginx.conf")?;
        let prefix = directory.display().to_string();
        let task = bench.peer_with_files(
            &PEER,
            End::Server,
            CONNECTIONS,
            &["-p", &prefix, "-e", "stderr", "-c", "nginx.conf"],
        )?;
        let mut running = task.start(bench.scratch())?;
        listening::wait(&mut running, PORT)?;
        Ok(Self { bench, running })
    }

    /// The address of the small answer.
    pub(crate) fn url(&self) -> String {
        format!("http://{SERVER_ADDRESS}/")
    }

    /// Requests it has served since it started, by its own count: warm-up and all.
    ///
    /// # Errors
    /// When it does not answer.
    pub(crate) fn served(&self) -> Result<f64> {
        // The question counts itself.
        Ok(self.counts()?.requests - 1.0)
    }

    /// Connections it has accepted since it started.
    ///
    /// # Errors
    /// When it does not answer.
    pub(crate) fn accepted(&self) -> Result<f64> {
        Ok(self.counts()?.connections - 1.0)
    }

    fn counts(&self) -> Result<Counts> {
        let target = format!("{SERVER_ADDRESS}:{PORT}");
        let asked = self.bench.own(End::Client, &["get", &target, "/requests"])?;
        let answer = asked.run(self.bench.scratch(), self.bench.limit())?.stdout;
        counts(&answer).context("nginx did not say what it served")
    }

    /// Ends it.
    ///
    /// # Errors
    /// When it had ended by itself.
    pub(crate) fn stop(self) -> Result<()> {
        self.running.stop().map(drop)
    }
}

/// Totals of nginx, the connection and the request of the question included.
#[derive(Debug, PartialEq)]
struct Counts {
    connections: f64,
    requests: f64,
}

/// The first and third numbers below the heading of the status page.
fn counts(page: &str) -> Option<Counts> {
    let (_, rest) = page.split_once("server accepts handled requests")?;
    let mut numbers = rest.split_whitespace().map(str::parse::<f64>);
    let connections = numbers.next()?.ok()?;
    let requests = numbers.nth(1)?.ok()?;
    Some(Counts { connections, requests })
}

/// The configuration, for who wants to repeat a run.
pub(crate) fn configuration() -> &'static str {
    CONFIGURATION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_page_counts_requests() {
        let page = "Active connections: 1 \nserver accepts handled requests\n 12 13 56981 \nReading: 0 Writing: 1 Waiting: 0 \n";
        assert_eq!(counts(page), Some(Counts { connections: 12.0, requests: 56_981.0 }));
        assert_eq!(counts("404"), None);
    }

    #[test]
    fn the_configuration_allows_the_connections() {
        assert!(CONFIGURATION.contains(&format!("worker_connections {CONNECTIONS};")));
    }
}
