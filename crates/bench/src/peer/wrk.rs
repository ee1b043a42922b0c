//! wrk: HTTP, closed loop.

use anyhow::{Context, Result, bail};

use super::nginx::Nginx;
use super::{Peer, number_after, word_after};
use crate::bench::Bench;
use crate::figures::Figures;
use crate::lab::End;

/// How wrk is found.
pub(crate) const PEER: Peer =
    Peer { name: "wrk", version_args: &["--version"], version: |printed| word_after(printed, "wrk ") };

/// Requests as fast as they are answered, from one thread.
///
/// Figures: `requests_per_s`, and `client_cpu_s_per_request` with requests as nginx counted them.
///
/// # Errors
/// When a program fails or prints something else, or a request failed.
pub(crate) fn closed(bench: &Bench, connections: u32) -> Result<Figures> {
    let nginx = Nginx::start(bench)?;
    let (c, d, url) = (format!("-c{connections}"), format!("-d{}s", bench.seconds()), nginx.url());
    let client = bench.peer(&PEER, End::Client, &["-t1", &c, &d, &url])?.run(bench.scratch(), bench.limit())?;
    let served = nginx.served()?;
    let requests_per_s = parse(&client.stdout)?;
    nginx.stop()?;
    Ok(Figures::from([
        ("requests_per_s", requests_per_s),
        ("client_cpu_s_per_request", client.usage.total_s() / served),
    ]))
}

fn parse(text: &str) -> Result<f64> {
    if let Some(line) = text.lines().find(|l| l.contains("Socket errors:") || l.contains("Non-2xx")) {
        bail!("requests of wrk failed: {}", line.trim());
    }
    number_after(text, "Requests/sec:").context("wrk printed no requests a second")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_a_second() {
        assert_eq!(parse(include_str!("../../fixtures/wrk.txt")).unwrap(), 56_766.65);
    }

    #[test]
    fn failed_requests_are_not_a_result() {
        let errors = "  Socket errors: connect 0, read 3, write 0, timeout 0\nRequests/sec:  10.00\n";
        assert!(parse(errors).unwrap_err().to_string().contains("read 3"));
        assert!(parse("  Non-2xx or 3xx responses: 7\nRequests/sec:  10.00\n").is_err());
        assert!(parse("unable to connect to 10.71.0.2").is_err());
    }
}
