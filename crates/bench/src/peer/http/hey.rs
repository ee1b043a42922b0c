//! hey: HTTP, closed loop.

use anyhow::{Context, Result, bail};

use super::generator::{Generator, Load};
use crate::bench::{INSTALLED, Peer, Version, number_after, split};

/// How hey is found.
pub(crate) const PEER: Peer =
    Peer { name: "hey", version: Version::GoModule("github.com/rakyll/hey"), source: INSTALLED };

/// Requests as fast as they are answered.
pub(crate) const CLOSED: Generator = Generator {
    peer: &PEER,
    shown: "hey",
    words: |Load { url, connections, seconds, .. }, _| {
        Ok(split(&format!("-z {seconds}s -c {connections} {url}")))
    },
    read: parse,
    counted: |_| None,
    note: "",
};

fn parse(text: &str) -> Result<f64> {
    if let Some((_, errors)) = text.split_once("Error distribution:") {
        bail!(
            "requests of hey failed: {}",
            errors.trim().lines().next().unwrap_or("it does not say how")
        );
    }
    let (_, codes) =
        text.split_once("Status code distribution:").context("hey printed no status codes")?;
    let codes = codes.lines().map(str::trim).filter(|line| line.starts_with('['));
    if let Some(line) = codes.clone().find(|line| !line.starts_with("[200]")) {
        bail!("requests of hey failed: {line}");
    }
    number_after(text, "Requests/sec:").context("hey printed no requests a second")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = include_str!("../../../fixtures/hey-0.1.5.txt");

    #[test]
    fn requests_a_second() {
        assert_eq!(parse(PRINTED).unwrap().floor(), 10_996.0);
    }

    #[test]
    fn failed_requests_are_not_a_result() {
        let other = PRINTED.replace("[200]", "[503]");
        assert!(parse(&other).unwrap_err().to_string().contains("[503]"));
        let broken =
            format!("{PRINTED}\nError distribution:\n  [3]\tGet \"http://10.71.0.2/\": EOF\n");
        assert!(parse(&broken).unwrap_err().to_string().contains("EOF"));
        assert!(parse("").is_err());
    }
}
