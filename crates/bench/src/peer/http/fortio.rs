//! fortio: HTTP, closed loop and constant rate.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::generator::{Generator, Load};
use crate::bench::{INSTALLED, Peer, Version, split};

/// How fortio is found.
pub(crate) const PEER: Peer =
    Peer { name: "fortio", version: Version::Printed("version", ""), source: INSTALLED };

/// Requests as fast as they are answered.
pub(crate) const CLOSED: Generator = Generator {
    peer: &PEER,
    shown: "fortio -qps 0",
    words: |load, _| Ok(words(load, "")),
    read: parse,
    counted: |_| None,
    note: "",
};

/// A rate, what was late made up for.
pub(crate) const RATE: Generator =
    Generator { shown: "fortio -uniform", words: |load, _| Ok(words(load, "-uniform")), ..CLOSED };

/// A rate, what was late not made up for.
pub(crate) const RATE_EXACT: Generator = Generator {
    shown: "fortio -uniform -nocatchup",
    words: |load, _| Ok(words(load, "-uniform -nocatchup")),
    ..CLOSED
};

fn words(load: &Load, extra: &str) -> Vec<String> {
    let Load { url, connections, per_s, seconds } = load;
    split(&format!(
        "load -loglevel Error -qps {per_s} -c {connections} -t {seconds}s -json - {extra} {url}"
    ))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::http::generator::sample;

    #[test]
    fn requests_a_second() {
        assert_eq!(parse(include_str!("../../../fixtures/fortio.json")).unwrap().round(), 3_996.0);
        assert!(
            parse(r#"{"ActualQPS":10.0,"RetCodes":{"200":9,"503":1}}"#)
                .unwrap_err()
                .to_string()
                .contains("503")
        );
        assert!(parse("").is_err());
    }

    #[test]
    fn the_url_comes_last() {
        let words = words(&sample(20_000), "-uniform -nocatchup").join(" ");
        assert!(words.contains("-qps 20000 -c 16 -t 3s"), "{words}");
        assert!(words.ends_with("-uniform -nocatchup http://10.71.0.2/"), "{words}");
    }
}
