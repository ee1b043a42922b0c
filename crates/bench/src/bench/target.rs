//! The HTTP server that a client is measured against, at the server's end and on its CPU.

pub(crate) mod nginx;

use anyhow::{Context, Result};

use super::context::Bench;
use super::figures::Figures;
use super::peer_program::Peer;
use super::text::split;
use crate::lab::{End, SERVER_ADDRESS};
use crate::process::{RunningProgram, Usage};

/// The page on which a target tells what it served.
pub(crate) const STATUS_PATH: &str = "/requests";

/// The port of our agent.
pub(crate) const OURS_PORT: u16 = 7474;

const PORT: u16 = 80;
/// Where nginx speaks HTTP/2 without TLS.
const HTTP2_PORT: u16 = 81;

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// nginx, one process: what people have.
    Nginx,
    /// The same, asked over HTTP/2.
    NginxHttp2,
    /// The same, asked over TLS.
    NginxTls,
    /// Our own target.
    Ours,
    /// The same, asked over HTTP/2: less than a tenth of nginx's work for a request.
    OursHttp2,
    /// The same, asked over TLS.
    OursTls,
    /// [`crate::part::answer`]: less work for a request, so that the client is the limit.
    Plain,
}

impl Kind {
    /// The programs that must be installed.
    pub(crate) fn needs(self) -> &'static [&'static Peer] {
        match self {
            Self::Nginx | Self::NginxHttp2 | Self::NginxTls => &[&nginx::PEER],
            Self::Ours | Self::OursHttp2 | Self::OursTls | Self::Plain => &[],
        }
    }

    /// The name for the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::NginxHttp2 => "nginx over HTTP/2",
            Self::NginxTls => "nginx over TLS",
            Self::Ours => "our target",
            Self::OursHttp2 => "our target over HTTP/2",
            Self::OursTls => "our target over TLS",
            Self::Plain => "plain server",
        }
    }

    /// Whether it counts what it served, and says so.
    pub(crate) fn counts(self) -> bool {
        !matches!(self, Self::Ours | Self::OursHttp2 | Self::OursTls)
    }
}

/// A server that runs; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    bench: &'a Bench,
    kind: Kind,
    running: RunningProgram,
}

impl<'a> Target<'a> {
    /// Starts one and waits until it listens.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(bench: &'a Bench, kind: Kind) -> Result<Self> {
        let (server, port) = match kind {
            Kind::Nginx | Kind::NginxHttp2 | Kind::NginxTls => (nginx::server(bench)?, PORT),
            Kind::Plain => (bench.own(End::Server, &format!("answer {PORT}"))?, PORT),
            Kind::Ours | Kind::OursHttp2 | Kind::OursTls => {
                let words = split(&format!("serve --http --insecure --port {OURS_PORT}"));
                (bench.ours(End::Server, &words), OURS_PORT)
            }
        };
        Ok(Self { bench, kind, running: bench.serve(&server, port)? })
    }

    /// The address of the small answer.
    pub(crate) fn url(&self) -> String {
        match self.kind {
            Kind::Nginx | Kind::Plain => format!("http://{SERVER_ADDRESS}/"),
            Kind::NginxHttp2 => format!("http://{SERVER_ADDRESS}:{HTTP2_PORT}/"),
            Kind::NginxTls => format!("https://{SERVER_ADDRESS}/"),
            // As long as the answers of the others.
            Kind::Ours | Kind::OursHttp2 => {
                format!("http://{SERVER_ADDRESS}:{OURS_PORT}/?size=16")
            }
            Kind::OursTls => format!("https://{SERVER_ADDRESS}:{OURS_PORT}/?size=16"),
        }
    }

    /// Connections and requests since it started, by its own count: warm-up and all.
    ///
    /// # Errors
    /// When it does not answer.
    pub(crate) fn served(&self) -> Result<Served> {
        let question = format!("get {SERVER_ADDRESS}:{PORT} {STATUS_PATH}");
        let answer = self.bench.run(&self.bench.own(End::Client, &question)?)?;
        let counted = served(&answer.stdout).context("the target did not say what it served")?;
        // The question counts itself.
        Ok(Served { connections: counted.connections - 1.0, requests: counted.requests - 1.0 })
    }

    /// Ends it; returns the end of what it printed, empty where it printed nothing, and its CPU.
    ///
    /// # Errors
    /// When it had ended by itself.
    pub(crate) fn stop(self) -> Result<(String, Usage)> {
        let said = self.running.last_words();
        Ok((said, self.running.stop()?))
    }

    /// Ends it, and works out what a request cost both ends and how busy they were.
    ///
    /// Figures: `requests_per_s` as the client says. `requests` is by the target's count, by the
    /// client's where the target has none, warm-up and all. `client_cpu_s_per_request` is of the
    /// client's whole process. `client_cores` and `target_cores` are what this takes at that rate.
    ///
    /// # Errors
    /// When it does not answer or had ended by itself.
    pub(crate) fn account(self, answered: Answered) -> Result<Figures> {
        let Answered { per_s, requests, client } = answered;
        let requests = if self.kind.counts() { self.served()?.requests } else { requests };
        let (_, usage) = self.stop()?;
        let (client_s, target_s) = (client.total_s() / requests, usage.total_s() / requests);
        Ok(Figures::from([
            ("requests_per_s", per_s),
            ("requests", requests),
            ("client_cpu_s_per_request", client_s),
            ("client_cores", client_s * per_s),
            ("target_cores", target_s * per_s),
        ]))
    }
}

/// A client's run, as that client tells it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered {
    /// Requests answered a second.
    pub(crate) per_s: f64,
    /// Requests answered in all, those of its warm-up among them.
    pub(crate) requests: f64,
    /// CPU of its process, from outside.
    pub(crate) client: Usage,
}

/// Totals of a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Served {
    /// Connections accepted.
    pub(crate) connections: f64,
    /// Requests answered.
    pub(crate) requests: f64,
}

/// The first and third numbers below the heading of the status page.
fn served(page: &str) -> Option<Served> {
    let (_, rest) = page.split_once("server accepts handled requests")?;
    let mut numbers = rest.split_whitespace().map(str::parse::<f64>);
    let connections = numbers.next()?.ok()?;
    let requests = numbers.nth(1)?.ok()?;
    Some(Served { connections, requests })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_page_counts_requests() {
        let page = "Active connections: 1 \nserver accepts handled requests\n 12 13 56981 \n\
                    Reading: 0 Writing: 1 Waiting: 0 \n";
        assert_eq!(served(page), Some(Served { connections: 12.0, requests: 56_981.0 }));
        assert_eq!(served("404"), None);
    }
}
