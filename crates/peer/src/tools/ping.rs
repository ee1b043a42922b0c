//! ping of iputils: ICMP echoes.

use hopbench_model::{Pattern, SECOND, Transport, Unit};

use crate::tool::{Commands, PeerTool, Server, Task, other};

/// Echoes of one trial: each is a line of text.
const MOST_ECHOES: f64 = 20_000.0;

pub(super) const TOOL: PeerTool = PeerTool {
    name: "ping",
    measures: "ICMP echoes",
    remedy: "install it (`apt-get install iputils-ping`)",
    version: "-V",
    differs: "ping states whole microseconds; it is given -U, as otherwise the kernel's time of \
              arrival counts, before ping wakes up",
    commands,
};

fn commands(task: &Task<'_>) -> Result<Commands, String> {
    if !task.is(Transport::Icmp, Pattern::Probes, Unit::Echoes) {
        return other(&TOOL);
    }
    task.without(&[])?;
    let per_s = task.job.schedule.per_s().unwrap_or(1.0);
    let count = (per_s * task.seconds() as f64).round().clamp(1.0, MOST_ECHOES);
    // It waits this long for the last answers.
    let wait = (task.job.timing.timeout_ns / SECOND).clamp(1, 10);
    let when = format!("-c {count} -i {} -W {wait}", 1.0 / per_s);
    Ok(Commands {
        kind: "peer-ping",
        server: Server::There,
        client: format!("-n -U {when}{}", task.line(" -s {size} {address}")),
        input: "",
        has_more_ports: false,
    })
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, Schedule, WorkloadKind, fixture};
    use serde_json::json;

    use super::*;
    use crate::tool::tests::lines;

    #[test]
    fn echoes_fill_the_time() {
        let job = |per_s, seconds: u64| Job {
            kind: Some(WorkloadKind::of("ping")),
            schedule: Schedule::Rate(per_s),
            timing: fixture::timing(seconds * SECOND),
            ..fixture::job("", json!({"size": "56B", "every": "10ms"}))
        };
        let client = |per_s, seconds| lines(&TOOL, &job(per_s, seconds))[1].clone();
        assert_eq!(client(100.0, 2), "-n -U -c 200 -i 0.01 -W 1 -s 56 10.0.0.2");
        assert_eq!(client(1000.0, 60), "-n -U -c 20000 -i 0.001 -W 1 -s 56 10.0.0.2");
        assert_eq!(client(0.1, 1), "-n -U -c 1 -i 10 -W 1 -s 56 10.0.0.2");
    }
}
