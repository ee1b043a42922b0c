//! fortio: HTTP, closed loop and constant rate.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::nginx::Nginx;
use super::{Peer, number_after};
use crate::bench::Bench;
use crate::figures::Figures;
use crate::lab::End;

/// How fortio is found.
pub(crate) const PEER: Peer = Peer {
    name: "fortio",
    version_args: &["version"],
    version: |printed| printed.split_whitespace().next().map(str::to_owned),
};

/// What is asked of fortio.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    /// Connections.
    pub(crate) connections: u32,
    /// Requests a second, evenly spaced over the connections; 0 for as fast as they are answered.
    pub(crate) per_s: u64,
    /// Without making up for what was late.
    pub(crate) no_catch_up: bool,
    /// Whole seconds.
    pub(crate) seconds: u32,
}

/// One run of fortio against an nginx that runs.
///
/// Figures: `requests_per_s`, and `behind_share`, the share of sleeps that were behind where that is more
/// than 5 % (below, fortio does not say, and neither does this: the figure is then 0).
///
/// # Errors
/// When fortio fails or prints something else, or a request failed.
pub(crate) fn run(bench: &Bench, url: &str, load: Load) -> Result<(Figures, crate::process::Usage)> {
    let (c, qps, t) = (load.connections.to_string(), load.per_s.to_string(), format!("{}s", load.seconds));
    let mut words = vec!["load", "-loglevel", "Error", "-qps", &qps, "-c", &c, "-t", &t, "-json", "-"];
    if load.per_s > 0 {
        words.push("-uniform");
    }
    if load.no_catch_up {
        words.push("-nocatchup");
    }
    words.push(url);
    let client = bench.peer(&PEER, End::Client, &words)?.run(bench.scratch(), bench.limit())?;
    let figures = Figures::from([("requests_per_s", parse(&client.stdout)?), ("behind_share", behind(&client.stderr))]);
    Ok((figures, client.usage))
}

/// One run of fortio against an nginx of its own.
///
/// Figures: those of [`run`], and `client_cpu_s_per_request` with requests as nginx counted them.
///
/// # Errors
/// As [`run`].
pub(crate) fn alone(bench: &Bench, load: Load) -> Result<Figures> {
    let nginx = Nginx::start(bench)?;
    let (mut figures, usage) = run(bench, &nginx.url(), load)?;
    figures.insert("client_cpu_s_per_request", usage.total_s() / nginx.served()?);
    nginx.stop()?;
    Ok(figures)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Output {
    #[serde(rename = "ActualQPS")]
    actual_qps: f64,
    ret_codes: BTreeMap<String, u64>,
}

fn parse(json: &str) -> Result<f64> {
    let output: Output = serde_json::from_str(json).context("output of `fortio load -json -`")?;
    if let Some((code, count)) = output.ret_codes.iter().find(|(code, _)| *code != "200") {
        bail!("{count} requests of fortio ended with code {code}");
    }
    Ok(output.actual_qps)
}

fn behind(text: &str) -> f64 {
    let warning = text.lines().find(|line| line.contains("of sleep were falling behind"));
    warning.and_then(|line| number_after(line, "WARNING ")).unwrap_or(0.0) / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_a_second() {
        assert_eq!(parse(include_str!("../../fixtures/fortio.json")).unwrap().round(), 3_996.0);
        assert!(parse(r#"{"ActualQPS":10.0,"RetCodes":{"200":9,"503":1}}"#).unwrap_err().to_string().contains("503"));
        assert!(parse("").is_err());
    }

    #[test]
    fn the_warning_is_read() {
        assert_eq!((behind(include_str!("../../fixtures/fortio-behind.txt")) * 1e4).round(), 9993.0);
        assert_eq!(behind(include_str!("../../fixtures/fortio-on-time.txt")), 0.0);
    }
}
