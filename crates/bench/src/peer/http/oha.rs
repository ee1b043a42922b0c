//! oha: HTTP, closed loop and constant rate.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::generator::{Generator, Load};
use crate::bench::{INSTALLED, Peer, Version, split};

/// How oha is found.
pub(crate) const PEER: Peer =
    Peer { name: "oha", version: Version::Printed("--version", "oha "), source: INSTALLED };

/// Requests as fast as they are answered.
pub(crate) const CLOSED: Generator = Generator {
    peer: &PEER,
    shown: "oha",
    words: |load, _| Ok(words(load, "")),
    read: parse,
    counted: |_| None,
    note: "",
};

/// A rate; what comes too fast for the connections waits in its queue and is made up for.
pub(crate) const RATE: Generator = Generator {
    shown: "oha -q --latency-correction",
    words: |load, _| Ok(words(load, &format!("-q {} --latency-correction", load.per_s))),
    note: "oha sends what its queue still has after the end, and counts that time. Its timer of 1 \
           ms releases the sends of that time as a batch: four at 4000/s.",
    ..CLOSED
};

fn words(Load { url, connections, seconds, .. }: &Load, extra: &str) -> Vec<String> {
    let common = format!("--no-tui --output-format json -c {connections} -z {seconds}s -w");
    split(&format!("{common} {extra} {url}"))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    summary: Summary,
    status_code_distribution: BTreeMap<String, u64>,
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    requests_per_sec: f64,
}

fn parse(json: &str) -> Result<f64> {
    let output: Output = serde_json::from_str(json).context("output of oha")?;
    if let Some((code, count)) =
        output.status_code_distribution.iter().find(|(code, _)| *code != "200")
    {
        bail!("{count} requests of oha ended with code {code}");
    }
    if let Some((why, count)) = output.error_distribution.iter().next() {
        bail!("{count} requests of oha failed: {why}");
    }
    Ok(output.summary.requests_per_sec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::http::generator::sample;

    const PRINTED: &str = include_str!("../../../fixtures/oha-1.16.0.json");

    #[test]
    fn requests_a_second() {
        assert_eq!(parse(PRINTED).unwrap().floor(), 1_998.0);
    }

    #[test]
    fn failed_requests_are_not_a_result() {
        let with = |field: &str, key: &str| {
            let mut value: serde_json::Value = serde_json::from_str(PRINTED).unwrap();
            value[field][key] = serde_json::json!(3);
            parse(&value.to_string()).unwrap_err().to_string()
        };
        assert_eq!(with("statusCodeDistribution", "503"), "3 requests of oha ended with code 503");
        assert_eq!(
            with("errorDistribution", "connection closed"),
            "3 requests of oha failed: connection closed"
        );
        assert!(parse("").is_err());
    }

    #[test]
    fn a_rate_is_asked_for_with_its_correction() {
        let words = (RATE.words)(&sample(4000), std::path::Path::new("/")).unwrap().join(" ");
        assert!(
            words.ends_with("-c 16 -z 3s -w -q 4000 --latency-correction http://10.71.0.2/"),
            "{words}"
        );
        let words = (CLOSED.words)(&sample(0), std::path::Path::new("/")).unwrap().join(" ");
        assert!(!words.contains("-q"), "{words}");
    }
}
