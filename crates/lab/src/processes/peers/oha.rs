//! oha: HTTP/1.1 requests as fast as they are answered.

use super::tool::{Commands, PeerTool, Task, other};

pub(super) const TOOL: PeerTool = PeerTool {
    name: "oha",
    measures: "HTTP/1.1 without a rate",
    remedy: "install it (`cargo install oha`)",
    version: "--version",
    differs: "oha has no warm-up, so its first requests count",
    commands,
};

fn commands(task: &Task<'_>) -> Result<Commands, String> {
    if !task.is_http() {
        return other(&TOOL);
    }
    task.without(&[])?;
    task.closed()?;
    let (connections, seconds, url) = (task.job.connections, task.seconds(), task.url());
    Ok(Commands {
        kind: "peer-http",
        server: task.http_server(),
        client: format!("--no-tui --output-format json -c {connections} -z {seconds}s -w {url}"),
        input: "",
        has_more_ports: false,
    })
}
