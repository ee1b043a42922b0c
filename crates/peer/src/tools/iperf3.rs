//! iperf3: TCP streams, and datagrams of UDP.

use hopbench_model::{Pattern, Transport, Unit};

use crate::tool::{Commands, PeerTool, Server, Task, other};

pub(super) const TOOL: PeerTool = PeerTool {
    name: "iperf3",
    measures: "TCP streams and UDP datagrams",
    remedy: "install it (`apt-get install iperf3`)",
    version: "--version",
    differs: "iperf3 has whole seconds and no warm-up here, so the slow start of TCP counts. It \
              writes all of `size` and takes each datagram as it comes, as ours does with `write: \
              exact` and `coalesce: 0`",
    commands,
};

fn commands(task: &Task<'_>) -> Result<Commands, String> {
    let job = task.job;
    let mut client =
        task.line("-c {address} -p {port} {family} -t {seconds} -P {connections} -l {size} -J");
    let is_udp = task.is(Transport::Udp, Pattern::OneWay, Unit::Packets);
    if is_udp {
        task.without(&[])?;
        task.one_datagram_a_call()?;
        // 0 is as much as it can send; a rate is that of each flow.
        let per_s = job.rate().zip(job.size()).and_then(|(rate, size)| rate.datagrams_per_s(size));
        let bits = per_s.map_or(0.0, |per_s| per_s * task.size() as f64 * 8.0);
        let of_flow = (bits / f64::from(job.connections)) as u64;
        if bits > 0.0 && of_flow == 0 {
            return Err("it takes no rate below 1 bit/s a flow".to_owned());
        }
        client.push_str(&format!(" -u -b {of_flow}"));
    } else if task.is(Transport::Tcp, Pattern::OneWay, Unit::Bits) {
        task.without(&["rate"])?;
        client.push_str(match job.params["direction"].as_str() {
            Some("from-server") => " -R",
            Some("both") => " --bidir",
            _ => "",
        });
    } else {
        return other(&TOOL);
    }
    Ok(Commands {
        kind: if is_udp { "peer-udp" } else { "peer-stream" },
        server: Server::Tool(TOOL.name, task.line("-s -1 -p {listen} {family}")),
        client,
        input: "",
        // A Service leads datagrams to the agent.
        has_more_ports: is_udp,
    })
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, WorkloadKind, fixture};
    use serde_json::{Value, json};

    use super::*;
    use crate::tool::tests::{lines, of};

    fn job(kind: &str, params: Value) -> Job {
        Job { kind: Some(WorkloadKind::of(kind)), connections: 4, ..fixture::job("", params) }
    }

    #[test]
    fn a_stream_is_asked_for_as_ours() {
        let stream = |direction: &str| {
            lines(&TOOL, &job("stream", json!({"size": "128KiB", "direction": direction})))
        };
        let client = "-c 10.0.0.2 -p 5201 -4 -t 1 -P 4 -l 131072 -J";
        assert_eq!(stream("to-server"), ["-s -1 -p 5201 -4", client]);
        assert_eq!(stream("from-server")[1], format!("{client} -R"));
        assert_eq!(stream("both")[1], format!("{client} --bidir"));
        let paced = of(&TOOL, &job("stream", json!({"size": "1KiB", "rate": "1Gbit"})));
        assert_eq!(paced, Err("it cannot be told `rate`".to_owned()));
    }

    #[test]
    fn a_rate_of_datagrams_is_shared_by_the_flows() {
        let udp = |rate: &str| {
            let job = job("udp", json!({"size": "100B", "rate": rate, "gso": 1}));
            lines(&TOOL, &job)[1].rsplit_once(" -u ").unwrap().1.to_owned()
        };
        assert_eq!(udp("max"), "-b 0");
        assert_eq!(udp("1000pps"), "-b 200000", "1000 x 100 B x 8 / 4");
        let many = of(&TOOL, &job("udp", json!({"size": "100B", "rate": "max", "gso": 8})));
        assert_eq!(many, Err("it cannot be told `gso`".to_owned()));
        let many = of(&TOOL, &job("udp", json!({"size": "100B", "rate": "max", "batch": 8})));
        assert_eq!(many, Err("it cannot be told `batch`".to_owned()));
        let gathers = |time: &str| {
            of(&TOOL, &job("udp", json!({"size": "100B", "rate": "max", "coalesce": time})))
        };
        assert_eq!(gathers("50us"), Err("it takes no `coalesce` but 0".to_owned()));
        assert!(gathers("0").is_ok());
    }
}
