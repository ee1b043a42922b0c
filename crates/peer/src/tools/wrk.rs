//! wrk: HTTP requests as fast as they are answered.

use crate::tool::{Commands, PeerTool, Task};

pub(super) const TOOL: PeerTool = PeerTool {
    name: "wrk",
    measures: "HTTP/1.1 without a rate",
    remedy: "install it (`apt-get install wrk`)",
    version: "--version",
    differs: "wrk has no warm-up, so its first requests count",
    commands,
};

fn commands(task: &Task<'_>) -> Result<Commands, String> {
    task.http(&TOOL, "-t{threads} -c{connections} -d{seconds}s --latency {url}")
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, WorkloadKind, fixture};
    use serde_json::json;

    use super::*;
    use crate::tool::Server;
    use crate::tool::tests::{lines, of};

    #[test]
    fn requests_go_to_hopbench_or_to_a_program_that_is_there() {
        let job = Job {
            kind: Some(WorkloadKind::of("http")),
            connections: 16,
            threads: 2,
            ..fixture::job("", json!({"url": "http://server/", "method": "GET", "http2": false}))
        };
        let client = "-t2 -c16 -d1s --latency http://10.0.0.2:5201/x";
        let server = "serve --http --insecure --bind 0.0.0.0 --port 5201";
        assert_eq!(lines(&TOOL, &job), [server, client]);
        let target = "[fd00::2]:80".parse().unwrap();
        let task = Task { job: &job, request: "/x", has_program: true, target, port: 80 };
        let commands = TOOL.commands(&task).unwrap();
        assert_eq!(commands.server, Server::There);
        assert!(commands.client.ends_with(" http://[fd00::2]:80/x"), "{}", commands.client);
        let calls = Job { params: json!({"http2": true}).into(), ..job };
        assert_eq!(of(&TOOL, &calls), Err("it cannot be told `http2`".to_owned()));
        let kernel = Job { params: json!({"receive_time": "kernel"}).into(), ..calls };
        let said = "it takes no `receive-time` but process".to_owned();
        assert_eq!(of(&TOOL, &kernel), Err(said));
    }
}
