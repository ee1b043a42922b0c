//! k6: HTTP, constant rate.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::generator::{Generator, Load};
use crate::bench::{INSTALLED, Peer, Version, split};

/// How k6 is found.
pub(crate) const PEER: Peer =
    Peer { name: "k6", version: Version::Printed("version", "k6 v"), source: INSTALLED };

/// Its executor `constant-arrival-rate`; a virtual user has one connection.
pub(crate) const RATE: Generator = Generator {
    peer: &PEER,
    shown: "k6 constant-arrival-rate",
    words,
    read: parse,
    note: "k6 runs k6.js, below; what it calls a dropped iteration was not sent.",
};

const SCRIPT: &str = r#"import http from 'k6/http';
export const options = {
  discardResponseBodies: true,
  scenarios: {
    rate: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE), timeUnit: '1s', duration: __ENV.DURATION,
      preAllocatedVUs: Number(__ENV.CONNECTIONS), maxVUs: Number(__ENV.CONNECTIONS),
    },
  },
};
export default function () { http.get(__ENV.URL); }
export function handleSummary(data) { return { stdout: JSON.stringify(data.metrics) }; }
"#;

fn words(load: &Load, scratch: &Path) -> Result<Vec<String>> {
    let script = scratch.join("k6.js");
    std::fs::write(&script, SCRIPT).context("k6.js")?;
    let mut words = split(&format!(
        "run --quiet --no-usage-report --log-output none \
         -e RATE={} -e DURATION={}s -e CONNECTIONS={} -e URL={}",
        load.per_s, load.seconds, load.connections, load.url
    ));
    words.push(script.display().to_string());
    Ok(words)
}

#[derive(Debug, Deserialize)]
struct Output {
    http_reqs: Metric,
    http_req_failed: Metric,
}

#[derive(Debug, Deserialize)]
struct Metric {
    values: Values,
}

#[derive(Debug, Deserialize)]
struct Values {
    rate: f64,
}

fn parse(text: &str) -> Result<f64> {
    let output: Output = serde_json::from_str(text.trim()).context("summary of k6")?;
    let failed = output.http_req_failed.values.rate;
    if failed > 0.0 {
        bail!("{failed} of all requests of k6 failed");
    }
    Ok(output.http_reqs.values.rate)
}

/// The script, for who wants to repeat a run.
pub(crate) fn script() -> &'static str {
    SCRIPT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::http::generator::sample;

    const PRINTED: &str = include_str!("../../../fixtures/k6-1.1.0.json");

    #[test]
    fn requests_a_second() {
        assert_eq!(parse(PRINTED).unwrap().floor(), 1_720.0);
    }

    #[test]
    fn failed_requests_are_not_a_result() {
        let mut value: serde_json::Value = serde_json::from_str(PRINTED).unwrap();
        value["http_req_failed"]["values"]["rate"] = serde_json::json!(0.25);
        assert!(
            parse(&value.to_string()).unwrap_err().to_string().contains("0.25 of all requests")
        );
        assert!(parse("").is_err());
    }

    #[test]
    fn the_script_is_beside_its_settings() {
        let scratch = tempfile::tempdir().unwrap();
        let words = words(&sample(4000), scratch.path()).unwrap().join(" ");
        assert!(
            words
                .contains("-e RATE=4000 -e DURATION=3s -e CONNECTIONS=16 -e URL=http://10.71.0.2/"),
            "{words}"
        );
        assert_eq!(std::fs::read_to_string(scratch.path().join("k6.js")).unwrap(), SCRIPT);
    }
}
