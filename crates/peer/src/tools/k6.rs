//! k6: HTTP/1.1 requests of virtual users, each on a connection of its own.

use crate::tool::{Commands, PeerTool, Task};

/// The script that k6 reads from its standard input. It prints what the crate `import` reads.
const SCRIPT: &str = "import http from 'k6/http';
export const options = {
  discardResponseBodies: true,
  vus: Number(__ENV.CONNECTIONS), duration: __ENV.DURATION,
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(99)'],
};
export default function () { http.get(__ENV.URL); }
export function handleSummary(data) { return { stdout: JSON.stringify(data.metrics) }; }
";

pub(super) const TOOL: PeerTool = PeerTool {
    name: "k6",
    measures: "HTTP/1.1 without a rate",
    remedy: "put k6 into PATH (Debian has no package of it)",
    version: "version",
    differs: "k6 runs a script for each request, which takes CPU time, and its percentiles are \
              interpolated",
    commands,
};

fn commands(task: &Task<'_>) -> Result<Commands, String> {
    let client = "run --quiet --no-usage-report --log-output none -e CONNECTIONS={connections} \
                  -e DURATION={seconds}s -e URL={url} -";
    Ok(Commands { input: SCRIPT, ..task.http(&TOOL, client)? })
}
