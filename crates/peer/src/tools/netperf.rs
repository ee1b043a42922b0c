//! netperf: TCP streams, datagrams of UDP, and exchanges over one connection or a new one each.

use hopbench_model::{Pattern, Transport, Unit};

use crate::tool::{Commands, PeerTool, Server, Task, other};

/// The values that every test prints.
const ALL: &str = "THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME";
/// Those of exchanges.
const EXCHANGES: &str = "TRANSACTION_RATE,MIN_LATENCY,MEAN_LATENCY,P50_LATENCY,P90_LATENCY,\
                         P99_LATENCY,MAX_LATENCY,STDDEV_LATENCY,REQUEST_SIZE,RESPONSE_SIZE";
/// Those of datagrams.
const DATAGRAMS: &str = "LOCAL_SEND_THROUGHPUT,LOCAL_SEND_SIZE,LOCAL_SEND_CALLS,REMOTE_RECV_CALLS";

pub(super) const TOOL: PeerTool = PeerTool {
    name: "netperf",
    measures: "one TCP stream, UDP datagrams without a rate, and exchanges over one connection or \
               a new one each",
    remedy: "put netperf and netserver into PATH (Debian has them in non-free: `apt-get install \
             netperf`)",
    version: "-V",
    differs: "netperf blocks in each call, as hopbench does with `engine: threads`; it has no \
              warm-up here, and states percentiles in whole microseconds. It writes all of `size` \
              and takes each datagram as it comes, as ours does with `write: exact` and `coalesce: \
              0`",
    commands,
};

fn commands(task: &Task<'_>) -> Result<Commands, String> {
    let size = task.size();
    let exchange = format!("-r {size},{}", task.job.response().map_or(size, |bytes| bytes.0));
    let one_way = |transport, unit| task.is(transport, Pattern::OneWay, unit);
    let exchanges = |transport, unit| task.is(transport, Pattern::Exchanges, unit);
    // Whole messages go out at once, as those of hopbench do: -D.
    let (kind, test, options, values) = if one_way(Transport::Tcp, Unit::Bits) {
        let (test, options, sender) = stream(task)?;
        let values = ["SEND_THROUGHPUT", "SEND_SIZE", "TRANSPORT_RETRANS"];
        ("peer-stream", test, options, values.map(|name| format!("{sender}_{name}")).join(","))
    } else if one_way(Transport::Udp, Unit::Packets) {
        task.one_datagram_a_call()?;
        let rate = task.job.rate().zip(task.job.size());
        if rate.is_some_and(|(rate, size)| rate.datagrams_per_s(size).is_some()) {
            return Err("it is not told a rate".to_owned());
        }
        // Without -R it sends datagrams to its own network only.
        ("peer-udp", "UDP_STREAM", format!("-m {size} -R 1"), DATAGRAMS.to_owned())
    } else if exchanges(Transport::Tcp, Unit::Requests) {
        ("peer-rr", "TCP_RR", format!("{exchange} -D"), EXCHANGES.to_owned())
    } else if exchanges(Transport::Udp, Unit::Requests) {
        ("peer-rr", "UDP_RR", exchange, EXCHANGES.to_owned())
    } else if exchanges(Transport::Tcp, Unit::Connections) {
        ("peer-crr", "TCP_CRR", format!("{exchange} -D"), EXCHANGES.to_owned())
    } else {
        return other(&TOOL);
    };
    task.without(&[])?;
    task.closed()?;
    task.one_connection()?;
    let to = task.line("-H {address} -p {port} {family} -l {seconds}");
    Ok(Commands {
        kind,
        // -f: one process, which ends with the trial and writes no file.
        server: Server::Tool("netserver", task.line("-D -f {family} -p {listen}")),
        client: format!("{to} -t {test} -- {options} -k {ALL},{values}"),
        input: "",
        // Beside its own port it takes a free one for the data.
        has_more_ports: true,
    })
}

/// A stream: its test, its options, and how netperf calls the end that sends.
fn stream(task: &Task<'_>) -> Result<(&'static str, String, &'static str), String> {
    task.without(&["rate"])?;
    let size = task.size();
    match task.job.params["direction"].as_str() {
        Some("both") => Err("it sends one way, not both".to_owned()),
        Some("from-server") => Ok(("TCP_MAERTS", format!("-m ,{size}"), "REMOTE")),
        _ => Ok(("TCP_STREAM", format!("-m {size}"), "LOCAL")),
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, Schedule, WorkloadKind, fixture};
    use serde_json::{Value, json};

    use super::*;
    use crate::tool::tests::{lines, of};

    fn job(kind: &str, params: Value) -> Job {
        Job { kind: Some(WorkloadKind::of(kind)), ..fixture::job("", params) }
    }

    /// The test, its options and its values.
    fn asked(kind: &str, params: Value) -> [String; 3] {
        let [server, client] = lines(&TOOL, &job(kind, params));
        assert_eq!(server, "-D -f -4 -p 5201");
        let rest = client.strip_prefix("-H 10.0.0.2 -p 5201 -4 -l 1 -t ").expect("the target");
        let (test, rest) = rest.split_once(" -- ").expect("options");
        let (options, values) = rest.split_once(" -k THROUGHPUT,").expect("values");
        [test, options, values].map(str::to_owned)
    }

    fn why(job: &Job) -> String {
        of(&TOOL, job).err().unwrap_or_default()
    }

    #[test]
    fn each_workload_has_its_test() {
        let stream = |direction: &str| {
            asked("stream", json!({"size": "128KiB", "direction": direction, "rate": null}))
        };
        let values = |end: &str| {
            format!(
                "THROUGHPUT_UNITS,ELAPSED_TIME,{end}_SEND_THROUGHPUT,{end}_SEND_SIZE,\
                 {end}_TRANSPORT_RETRANS"
            )
        };
        assert_eq!(stream("to-server"), ["TCP_STREAM", "-m 131072", &values("LOCAL")]);
        assert_eq!(stream("from-server"), ["TCP_MAERTS", "-m ,131072", &values("REMOTE")]);
        let exchange = |kind: &str, params: Value| {
            let [test, options, values] = asked(kind, params);
            assert!(values.contains(",P50_LATENCY,P90_LATENCY,P99_LATENCY,"), "{values}");
            [test, options]
        };
        assert_eq!(exchange("rr", json!({"size": "64B"})), ["TCP_RR", "-r 64,64 -D"]);
        let params = json!({"size": "1KiB", "response": "16B", "udp": true});
        assert_eq!(exchange("rr", params), ["UDP_RR", "-r 1024,16"]);
        let params = json!({"size": "1B", "response": null});
        assert_eq!(exchange("crr", params), ["TCP_CRR", "-r 1,1 -D"]);
        let [test, options, values] = asked("udp", json!({"size": "100B", "rate": "max"}));
        assert_eq!([test.as_str(), options.as_str()], ["UDP_STREAM", "-m 100 -R 1"]);
        assert!(values.ends_with(",REMOTE_RECV_CALLS"), "{values}");
    }

    #[test]
    fn its_server_is_another_program() {
        let commands = of(&TOOL, &job("rr", json!({"size": "64B"}))).unwrap();
        assert!(matches!(commands.server, Server::Tool("netserver", _)), "{commands:?}");
        assert!(commands.has_more_ports);
        let six = "[fd00::2]:5201".parse().unwrap();
        let rr = job("rr", json!({"size": "64B"}));
        let task = Task { job: &rr, request: "/", has_program: false, target: six, port: 5201 };
        let commands = TOOL.commands(&task).unwrap();
        assert!(commands.client.starts_with("-H fd00::2 -p 5201 -6 "), "{}", commands.client);
    }

    #[test]
    fn what_it_cannot_be_told_is_refused() {
        let stream = |params| why(&job("stream", params));
        assert_eq!(stream(json!({"direction": "both"})), "it sends one way, not both");
        assert_eq!(stream(json!({"rate": "1Gbit"})), "it cannot be told `rate`");
        let udp = |params| why(&job("udp", params));
        let paced = udp(json!({"size": "100B", "rate": "1000pps"}));
        assert_eq!(paced, "it is not told a rate");
        let many = udp(json!({"size": "100B", "rate": "max", "gso": 8}));
        assert_eq!(many, "it cannot be told `gso`");
        let rr = job("rr", json!({"size": "64B", "tls": true}));
        assert_eq!(why(&rr), "it cannot be told `tls`");
        let rr = || job("rr", json!({"size": "64B"}));
        assert_eq!(why(&Job { schedule: Schedule::Rate(5.0), ..rr() }), "it is not told a rate");
        assert_eq!(why(&Job { connections: 8, ..rr() }), "it has one connection, not 8");
    }
}
