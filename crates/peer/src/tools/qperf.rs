//! qperf: one TCP stream, and round trips over TCP.

use hopbench_model::{Pattern, Transport, Unit};

use crate::tool::{Commands, PeerTool, Server, Task, other};

pub(super) const TOOL: PeerTool = PeerTool {
    name: "qperf",
    measures: "one TCP stream, and round trips over one TCP connection",
    remedy: "install it (`apt-get install qperf`)",
    version: "--version",
    differs: "qperf blocks in each call, as hopbench does with `engine: threads`. It writes all of \
              `size`, as ours does with `write: exact`",
    commands,
};

fn commands(task: &Task<'_>) -> Result<Commands, String> {
    let (kind, test) = if task.is(Transport::Tcp, Pattern::OneWay, Unit::Bits) {
        ("peer-stream", "tcp_bw")
    } else if task.is(Transport::Tcp, Pattern::Exchanges, Unit::Requests) {
        ("peer-rr", "tcp_lat")
    } else {
        return other(&TOOL);
    };
    task.without(&["rate", "response"])?;
    if task.job.params["direction"].as_str().is_some_and(|word| word != "to-server") {
        return Err("it sends to the server only".to_owned());
    }
    task.closed()?;
    task.one_connection()?;
    task.ipv4()?;
    let client = task.line("{address} -lp {port} -t {seconds} -m {size} -e 5 -vs -vu ") + test;
    Ok(Commands {
        kind,
        server: Server::Tool(TOOL.name, task.line("-lp {listen}")),
        client,
        input: "",
        // Beside its own port it takes a free one for the data.
        has_more_ports: true,
    })
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, WorkloadKind, fixture};
    use serde_json::json;

    use super::*;
    use crate::tool::tests::{lines, of};

    #[test]
    fn a_stream_and_a_round_trip_are_its_tests() {
        let job = |kind: &str, direction: &str| Job {
            kind: Some(WorkloadKind::of(kind)),
            ..fixture::job("", json!({"size": "1KiB", "direction": direction}))
        };
        let client = "10.0.0.2 -lp 5201 -t 1 -m 1024 -e 5 -vs -vu";
        let expected = |test: &str| ["-lp 5201".to_owned(), format!("{client} {test}")];
        assert_eq!(lines(&TOOL, &job("stream", "to-server")), expected("tcp_bw"));
        assert_eq!(lines(&TOOL, &job("rr", "to-server")), expected("tcp_lat"));
        assert!(of(&TOOL, &job("stream", "both")).is_err());
        assert!(of(&TOOL, &job("rr", "to-server")).unwrap().has_more_ports);
    }
}
