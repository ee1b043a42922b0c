//! h2load: HTTP/1.1 requests as fast as they are answered.

use crate::tool::{Commands, PeerTool, Task};

pub(super) const TOOL: PeerTool = PeerTool {
    name: "h2load",
    measures: "HTTP/1.1 without a rate",
    remedy: "install it (`apt-get install nghttp2-client`)",
    version: "--version",
    differs: "h2load has no warm-up here, so its first requests count",
    commands,
};

fn commands(task: &Task<'_>) -> Result<Commands, String> {
    task.http(&TOOL, "--h1 -t {threads} -c {connections} -D {seconds} {url}")
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, WorkloadKind, fixture};
    use serde_json::json;

    use super::super::{k6, oha};
    use super::*;
    use crate::tool::tests::lines;

    #[test]
    fn tools_for_requests_are_told_the_same() {
        let kind = Some(WorkloadKind::of("http"));
        let job = Job { kind, connections: 8, ..fixture::job("", json!({"method": "GET"})) };
        let url = "http://10.0.0.2:5201/x";
        let client = |tool| lines(tool, &job)[1].clone();
        assert_eq!(client(&TOOL), format!("--h1 -t 1 -c 8 -D 1 {url}"));
        let oha = format!("--no-tui --output-format json -c 8 -z 1s -w {url}");
        assert_eq!(client(&oha::TOOL), oha);
        let k6 = client(&k6::TOOL);
        assert!(k6.ends_with(&format!(" -e CONNECTIONS=8 -e DURATION=1s -e URL={url} -")), "{k6}");
    }
}
