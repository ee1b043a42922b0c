//! oha: HTTP/1.1 requests as fast as they are answered.

use crate::tool::{Commands, PeerTool, Task};

pub(super) const TOOL: PeerTool = PeerTool {
    name: "oha",
    measures: "HTTP/1.1 without a rate",
    remedy: "install it (`cargo install oha`)",
    version: "--version",
    differs: "oha has no warm-up, so its first requests count; it takes more CPU for a request",
    commands,
};

fn commands(task: &Task<'_>) -> Result<Commands, String> {
    let client = "--no-tui --output-format json -c {connections} -z {seconds}s -w {url}";
    task.http(&TOOL, client)
}
