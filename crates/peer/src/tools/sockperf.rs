//! sockperf: round trips over TCP.

use hopbench_model::{Pattern, Transport, Unit};

use crate::tool::{Commands, PeerTool, Server, Task, other};

/// The smallest message that sockperf sends, bytes.
const LEAST_BYTES: u64 = 14;

pub(super) const TOOL: PeerTool = PeerTool {
    name: "sockperf",
    measures: "round trips over one TCP connection",
    remedy: "install it (`apt-get install sockperf`)",
    version: "--version",
    differs: "sockperf blocks in recvfrom, as hopbench does with `engine: threads`",
    commands,
};

fn commands(task: &Task<'_>) -> Result<Commands, String> {
    if !task.is(Transport::Tcp, Pattern::Exchanges, Unit::Requests) {
        return other(&TOOL);
    }
    task.without(&["response"])?;
    task.closed()?;
    task.one_connection()?;
    task.ipv4()?;
    let size = task.size();
    if size < LEAST_BYTES {
        return Err(format!("it sends at least {LEAST_BYTES} bytes, not {size}"));
    }
    Ok(Commands {
        kind: "peer-rr",
        // Connections of tools before it may still hold the port.
        server: Server::Tool(
            TOOL.name,
            task.line("server --tcp -i {any} -p {listen} --uc-reuseaddr"),
        ),
        client: task
            .line("ping-pong --full-rtt --tcp -i {address} -p {port} -m {size} -t {seconds}"),
        input: "",
        has_more_ports: false,
    })
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, Schedule, WorkloadKind, fixture};
    use serde_json::json;

    use super::*;
    use crate::tool::tests::{lines, of};

    #[test]
    fn one_message_goes_there_and_back() {
        let job = |size: &str, connections, schedule| Job {
            kind: Some(WorkloadKind::of("rr")),
            connections,
            schedule,
            ..fixture::job("", json!({"size": size, "response": null, "udp": false}))
        };
        let expected = [
            "server --tcp -i 0.0.0.0 -p 5201 --uc-reuseaddr",
            "ping-pong --full-rtt --tcp -i 10.0.0.2 -p 5201 -m 64 -t 1",
        ];
        assert_eq!(lines(&TOOL, &job("64B", 1, Schedule::Closed)), expected);
        let why = |size, connections, schedule| of(&TOOL, &job(size, connections, schedule));
        let says =
            |why: Result<Commands, String>, text: &str| assert_eq!(why, Err(text.to_owned()));
        says(why("1B", 1, Schedule::Closed), "it sends at least 14 bytes, not 1");
        says(why("64B", 8, Schedule::Closed), "it has one connection, not 8");
        says(why("64B", 1, Schedule::Rate(5.0)), "it is not told a rate");
    }
}
