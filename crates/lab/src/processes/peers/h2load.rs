//! h2load: HTTP/1.1 requests as fast as they are answered.

use super::tool::{Commands, PeerTool, Task, other};

pub(super) const TOOL: PeerTool = PeerTool {
    name: "h2load",
    measures: "HTTP/1.1 without a rate",
    remedy: "install it (`apt-get install nghttp2-client`)",
    version: "--version",
    differs: "h2load has no warm-up here, so its first requests count",
    commands,
};

fn commands(task: &Task<'_>) -> Result<Commands, String> {
    if !task.is_http() {
        return other(&TOOL);
    }
    task.without(&[])?;
    task.closed()?;
    let (connections, url) = (task.job.connections, task.url());
    let threads = task.job.threads.min(connections);
    let seconds = task.seconds();
    Ok(Commands {
        kind: "peer-http",
        server: task.http_server(),
        client: format!("--h1 -t {threads} -c {connections} -D {seconds} {url}"),
        input: "",
        has_more_ports: false,
    })
}
