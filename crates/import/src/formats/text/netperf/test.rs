//! The tests of netperf that are read.

use crate::kinds::TestKind::{self, Connections, Datagrams, Exchanges, Stream};

/// A test.
#[derive(Debug)]
pub(super) struct Test {
    /// Its name, as `-t` takes it.
    name: &'static str,
    /// How the first line of its output begins, but for `MIGRATED `.
    title: &'static str,
    /// The kind of test that it is.
    pub(super) kind: TestKind,
    /// Whether the server sends.
    pub(super) is_back: bool,
}

/// Every test. One of them had another title in versions before 2.5.
const TESTS: &[Test] = &[
    test("TCP_STREAM", "TCP STREAM TEST", Stream),
    Test { is_back: true, ..test("TCP_MAERTS", "TCP MAERTS TEST", Stream) },
    test("UDP_STREAM", "UDP STREAM TEST", Datagrams),
    test("UDP_STREAM", "UDP UNIDIRECTIONAL SEND TEST", Datagrams),
    test("TCP_RR", "TCP REQUEST/RESPONSE TEST", Exchanges),
    test("UDP_RR", "UDP REQUEST/RESPONSE TEST", Exchanges),
    test("TCP_CRR", "TCP Connect/Request/Response TEST", Connections),
];

const fn test(name: &'static str, title: &'static str, kind: TestKind) -> Test {
    Test { name, title, kind, is_back: false }
}

impl Test {
    /// The test whose output begins with this line.
    pub(super) fn by_title(head: &str) -> Option<&'static Self> {
        let (title, _) = head.strip_prefix("MIGRATED ").unwrap_or(head).split_once(" from ")?;
        TESTS.iter().find(|test| test.title == title)
    }

    /// The test of a command line of netperf: without `-t` it is the first one.
    pub(super) fn by_command(command: &str) -> Option<&'static Self> {
        // Behind the two dashes the letters mean something else.
        let words = command.trim_matches('"').split_whitespace().take_while(|word| *word != "--");
        let words: Vec<&str> = words.collect();
        let named =
            words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("-t")? {
                "" => words.get(at + 1).copied(),
                name => Some(name),
            });
        let name = named.unwrap_or(TESTS[0].name);
        TESTS.iter().find(|test| test.name.eq_ignore_ascii_case(name))
    }

    /// What carries it: `TCP` or `UDP`.
    pub(super) fn protocol(&self) -> &'static str {
        if self.name.starts_with("UDP") { "UDP" } else { "TCP" }
    }
}

/// The bits/s of 1 in a unit of netperf, as it stands before `/s` or `/sec`.
pub(super) fn bits_per_s(unit: &str) -> Option<f64> {
    // A thousand of these bytes are 1024, and of these bits 1000.
    Some(match unit {
        "10^0bits" => 1.0,
        "10^3bits" => 1e3,
        "10^6bits" => 1e6,
        "10^9bits" => 1e9,
        "Bytes" => 8.0,
        "KBytes" => 8.0 * 1024.0,
        "MBytes" => 8.0 * 1_048_576.0,
        "GBytes" => 8.0 * 1_073_741_824.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_known_by_its_first_line_and_by_its_command() {
        let title = |head: &str| Test::by_title(head).map(|test| test.name);
        assert_eq!(title("MIGRATED TCP MAERTS TEST from a () port 0 AF_INET"), Some("TCP_MAERTS"));
        assert_eq!(title("UDP UNIDIRECTIONAL SEND TEST from a () port 0"), Some("UDP_STREAM"));
        assert_eq!(title("OMNI Send TEST from a () port 0"), None);
        let command = |words: &str| Test::by_command(words).map(|test| test.name);
        assert_eq!(command("\"netperf -H a -t TCP_CRR -- -k\""), Some("TCP_CRR"));
        assert_eq!(command("netperf -H a -tudp_rr"), Some("UDP_RR"));
        assert_eq!(command("netperf -H a -- -t dgram"), Some("TCP_STREAM"));
        assert_eq!(command("netperf -t omni"), None);
        assert_eq!(command("netperf -t"), Some("TCP_STREAM"));
    }
}
