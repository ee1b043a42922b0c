//! The limits of trials in words: a long form for a sentence, and one or two words for a line.

/// The words of a limit.
struct Words {
    /// As records name it.
    limit: &'static str,
    /// One or two words.
    short: &'static str,
    /// What happened.
    long: &'static str,
}

#[rustfmt::skip]
const LIMITS: &[Words] = &[
    words("nic", "the link", "the link was full"),
    words("softirq", "softirq", "packet processing (softirq) filled a CPU"),
    words("socket_buffer", "socket buffer", "socket buffers were too small"),
    words("retransmission", "losses", "losses: bytes were sent again"),
    words("generator", "the load generator", "the load generator"),
    words("agent_limit", "agent limit", "a limit that the agent keeps (--max-rate)"),
    words("target_rate", "the asked rate", "nothing: the asked rate was reached"),
    words("round_trip", "round trip", "the round trip at this number of connections"),
    words("connections", "connections", "the number of connections: all of them were busy"),
    words("unknown", "no limit seen", "no single limit was seen"),
    words("cpu:client", "client CPU", "CPU of the client"),
    words("cpu:server", "server CPU", "CPU of the server"),
    words(
        "cpu:shared",
        "shared CPU",
        "a CPU that the ends share, and that none of them filled alone",
    ),
    words("cpu_quota:client", "client CPU quota", "the CPU quota of the client"),
    words("cpu_quota:server", "server CPU quota", "the CPU quota of the server"),
    words("cpu_quota:shared", "shared CPU quota", "a CPU quota that the ends share"),
    words("steal", "stolen CPU", "a CPU that the hypervisor gave to other machines"),
    words("cpu:other", "CPU of others", "a CPU that was full with other work than the two ends"),
];

const fn words(limit: &'static str, short: &'static str, long: &'static str) -> Words {
    Words { limit, short, long }
}

/// A limit in one or two words: `the link`.
pub fn short(limit: &str) -> String {
    text(limit, |words| words.short)
}

/// A limit as a sentence says it: `the link was full`.
pub fn long(limit: &str) -> String {
    text(limit, |words| words.long)
}

fn text(limit: &str, form: fn(&Words) -> &'static str) -> String {
    let known = LIMITS.iter().find(|words| words.limit == limit);
    if let Some(words) = known {
        return form(words).to_owned();
    }
    match limit.split_once(':') {
        Some(("cpu", who)) => format!("CPU of {who}"),
        Some(("cpu_quota", who)) => format!("CPU quota of {who}"),
        // Of a later version.
        _ => limit.replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_has_a_short_and_a_long_form() {
        let forms = |limit| (short(limit), long(limit));
        let texts = |short: &str, long: &str| (short.to_owned(), long.to_owned());
        assert_eq!(forms("nic"), texts("the link", "the link was full"));
        assert_eq!(
            forms("round_trip"),
            texts("round trip", "the round trip at this number of connections")
        );
        assert_eq!(forms("cpu:client"), texts("client CPU", "CPU of the client"));
        assert_eq!(
            forms("cpu:client-sidecar"),
            texts("CPU of client-sidecar", "CPU of client-sidecar")
        );
        assert_eq!(forms("cpu:shared").0, "shared CPU");
        let quota = texts("server CPU quota", "the CPU quota of the server");
        assert_eq!(forms("cpu_quota:server"), quota);
        assert_eq!(forms("cpu_quota:gateway").1, "CPU quota of gateway");
        let stolen = texts("stolen CPU", "a CPU that the hypervisor gave to other machines");
        assert_eq!(forms("steal"), stolen);
        assert_eq!(forms("of_tomorrow"), texts("of tomorrow", "of tomorrow"));
    }
}
