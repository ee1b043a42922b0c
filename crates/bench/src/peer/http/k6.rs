//! k6: HTTP at a constant rate, unary calls of gRPC in a closed loop.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::generator::{Generator, Load, write_service};
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
    counted: |_| None,
    note: "k6 runs k6.js, below; what it calls a dropped iteration was not sent.",
};

/// Calls of gRPC as fast as they are answered: as many virtual users as calls at once.
pub(crate) const CALLS: Generator = Generator {
    peer: &PEER,
    shown: "k6 constant-vus",
    words: call_words,
    read: parse_calls,
    counted: |_| None,
    note: "k6 runs k6-grpc.js, below. A virtual user has one connection and one call at a time, so \
           there are 16 times as many connections.",
};

const CALL_SCRIPT: &str = r#"import grpc from 'k6/net/grpc';
import { Counter } from 'k6/metrics';
const client = new grpc.Client();
client.load([__ENV.FOLDER], 'echo.proto');
const answered = new Counter('answered');
const failed = new Counter('failed');
export const options = {
  scenarios: {
    calls: {
      executor: 'constant-vus',
      vus: Number(__ENV.CALLS), duration: __ENV.DURATION,
    },
  },
};
export default function () {
  try {
    if (__ITER === 0) client.connect(__ENV.SERVER, { plaintext: true });
    const answer = client.invoke('hopbench.v1.Echo/Unary', { response_bytes: 16 });
    (answer.status === grpc.StatusOK ? answered : failed).add(1);
  } catch (error) {
    failed.add(1);
  }
}
export function handleSummary(data) { return { stdout: JSON.stringify(data.metrics) }; }
"#;

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
    let Load { url, connections, per_s, .. } = load;
    let settings = format!("-e RATE={per_s} -e CONNECTIONS={connections} -e URL={url}");
    run_words("k6.js", SCRIPT, &settings, load, scratch)
}

fn call_words(load: &Load, scratch: &Path) -> Result<Vec<String>> {
    write_service(scratch)?;
    let (calls, server) = (16 * load.connections, load.server());
    let settings = format!("-e CALLS={calls} -e SERVER={server} -e FOLDER={}", scratch.display());
    run_words("k6-grpc.js", CALL_SCRIPT, &settings, load, scratch)
}

/// The words that run a script, which is written to a file of this name.
fn run_words(
    name: &'static str,
    script: &str,
    settings: &str,
    load: &Load,
    scratch: &Path,
) -> Result<Vec<String>> {
    let file = scratch.join(name);
    std::fs::write(&file, script).context(name)?;
    let mut words = split(&format!(
        "run --quiet --no-usage-report --log-output none -e DURATION={}s {settings}",
        load.seconds
    ));
    words.push(file.display().to_string());
    Ok(words)
}

#[derive(Debug, Deserialize)]
struct Output {
    http_reqs: Metric,
    http_req_failed: Metric,
}

#[derive(Debug, Deserialize)]
struct CallOutput {
    answered: Option<Metric>,
    /// A metric without a value is left out.
    failed: Option<Metric>,
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

fn parse_calls(text: &str) -> Result<f64> {
    let output: CallOutput = serde_json::from_str(text.trim()).context("summary of k6")?;
    if let Some(failed) = output.failed {
        bail!("{} calls/s of k6 failed", failed.values.rate);
    }
    Ok(output.answered.context("k6 had no answer")?.values.rate)
}

/// The scripts by their names, for who wants to repeat a run.
pub(crate) fn scripts() -> [(&'static str, &'static str); 2] {
    [("k6.js", SCRIPT), ("k6-grpc.js", CALL_SCRIPT)]
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
    fn calls_a_second() {
        let printed = include_str!("../../../fixtures/k6-grpc-1.1.0.json");
        assert_eq!(parse_calls(printed).unwrap().floor(), 3614.0);
        let mut value: serde_json::Value = serde_json::from_str(printed).unwrap();
        value["failed"]["values"]["rate"] = serde_json::json!(0.5);
        let error = parse_calls(&value.to_string()).unwrap_err().to_string();
        assert!(error.contains("0.5 calls/s"), "{error}");
    }

    #[test]
    fn the_script_is_beside_its_settings() {
        let scratch = tempfile::tempdir().unwrap();
        let words = words(&sample(4000), scratch.path()).unwrap().join(" ");
        assert!(
            words
                .contains("-e DURATION=3s -e RATE=4000 -e CONNECTIONS=16 -e URL=http://10.71.0.2/"),
            "{words}"
        );
        assert_eq!(std::fs::read_to_string(scratch.path().join("k6.js")).unwrap(), SCRIPT);
        let words = call_words(&sample(0), scratch.path()).unwrap().join(" ");
        assert!(words.contains("-e CALLS=256 -e SERVER=10.71.0.2 -e FOLDER=/"), "{words}");
        assert!(words.ends_with("/k6-grpc.js") && scratch.path().join("echo.proto").exists());
    }
}
