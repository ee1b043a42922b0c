//! fortio: HTTP/1.1 requests, as fast as they are answered or at a rate.

use hopbench_model::Schedule;

use crate::tool::{Commands, PeerTool, Task};

pub(super) const TOOL: PeerTool = PeerTool {
    name: "fortio",
    measures: "HTTP/1.1",
    remedy: "put fortio into PATH (Debian has no package of it)",
    version: "version",
    differs: "fortio interpolates percentiles within the buckets of its histogram, and its times \
              count from the send",
    commands,
};

fn commands(task: &Task<'_>) -> Result<Commands, String> {
    task.requests(&TOOL)?;
    let (kind, rate) = match task.job.schedule {
        Schedule::Closed => ("peer-http", "-qps 0".to_owned()),
        Schedule::Rate(per_s) => ("peer-http-paced", format!("-qps {per_s} -uniform")),
        Schedule::Poisson(_) => return Err("it spaces its requests evenly".to_owned()),
    };
    let client =
        format!("load -loglevel Error {rate} -c {{connections}} -t {{seconds}}s -json - {{url}}");
    Ok(task.http_commands(kind, &client))
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, WorkloadKind, fixture};
    use serde_json::json;

    use super::*;
    use crate::tool::tests::of;

    #[test]
    fn a_rate_is_a_kind_of_its_own() {
        let job = |schedule| Job {
            kind: Some(WorkloadKind::of("http")),
            schedule,
            connections: 4,
            ..fixture::job("", json!({}))
        };
        let line = |schedule| {
            let commands = of(&TOOL, &job(schedule)).unwrap();
            (commands.kind, commands.client)
        };
        let end = "-c 4 -t 1s -json - http://10.0.0.2:5201/x";
        let expected = |kind, rate: &str| (kind, format!("load -loglevel Error {rate} {end}"));
        assert_eq!(line(Schedule::Closed), expected("peer-http", "-qps 0"));
        assert_eq!(line(Schedule::Rate(500.0)), expected("peer-http-paced", "-qps 500 -uniform"));
        assert!(of(&TOOL, &job(Schedule::Poisson(5.0))).is_err());
        assert!(of(&TOOL, &Job { burst: 8, ..job(Schedule::Rate(5.0)) }).is_err());
    }
}
