//! ghz: unary calls of gRPC, closed loop.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::generator::{Generator, Load, SERVICE_FILE, write_service};
use crate::bench::{INSTALLED, Peer, Version, number_after, split};

/// How ghz is found.
pub(crate) const PEER: Peer =
    Peer { name: "ghz", version: Version::GoModule("github.com/bojand/ghz"), source: INSTALLED };

/// Calls as fast as they are answered, 16 at once on each connection.
pub(crate) const CALLS: Generator = Generator {
    peer: &PEER,
    shown: "ghz, 16 calls a connection",
    words,
    read: parse,
    counted: |_| None,
    note: "ghz reads the service from echo.proto.",
};

fn words(load: &Load, scratch: &Path) -> Result<Vec<String>> {
    write_service(scratch)?;
    let Load { connections, seconds, .. } = load;
    let mut words = split(&format!(
        "--insecure --call hopbench.v1.Echo/Unary --connections {connections} \
         --concurrency {} --duration {seconds}s --duration-stop wait",
        16 * connections
    ));
    let file = scratch.join(SERVICE_FILE).display().to_string();
    let data = r#"{"response_bytes":16}"#;
    words.extend(["--proto", &file, "--data", data, load.server()].map(str::to_owned));
    Ok(words)
}

fn parse(text: &str) -> Result<f64> {
    let statuses = text.lines().filter(|line| line.trim_end().ends_with(" responses"));
    if let Some(other) = statuses.map(str::trim).find(|line| !line.starts_with("[OK]")) {
        bail!("not all calls of ghz succeeded: {other}");
    }
    number_after(text, "Requests/sec:").context("ghz printed no calls a second")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::http::generator::sample;

    const PRINTED: &str = include_str!("../../../fixtures/ghz-0.121.0.txt");

    #[test]
    fn calls_a_second() {
        assert_eq!(parse(PRINTED).unwrap(), 3249.93);
    }

    #[test]
    fn failed_calls_are_not_a_result() {
        let failed = PRINTED.replace("[OK] ", "[Unavailable] ");
        assert_ne!(failed, PRINTED);
        assert!(parse(&failed).unwrap_err().to_string().contains("[Unavailable]   6523 responses"));
        assert!(parse("").is_err());
    }

    #[test]
    fn the_service_is_beside_its_settings() {
        let scratch = tempfile::tempdir().unwrap();
        let words = words(&sample(0), scratch.path()).unwrap().join(" ");
        assert!(words.contains("--connections 16 --concurrency 256 --duration 3s "), "{words}");
        assert!(words.ends_with("echo.proto --data {\"response_bytes\":16} 10.71.0.2"), "{words}");
        assert!(scratch.path().join(SERVICE_FILE).exists());
    }
}
