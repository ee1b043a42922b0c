//! Bad input on the command line: a clear error, the right exit code, and nothing started.

mod table;

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::process::Command;

use table::WRONG;

use crate::lab::namespace::{inside, path};
use crate::lab::program::{Running, binary, run};
use crate::lab::records::printed;
use crate::lab::wait::{MS, pause};
use crate::lab::{Agent, Finished, Turn, program, words};

/// What must be in the error, besides `hopbench` or `error` saying so.
fn assert_says(run: &Finished, code: i32, parts: &[&str], what: &str) {
    assert_eq!(run.code, Some(code), "{what}: {}", run.story());
    for part in parts {
        assert!(run.stderr.contains(part), "{what}: nothing about `{part}`: {}", run.story());
    }
    assert!(run.stdout.is_empty(), "{what}: {}", run.story());
    assert!(!run.stderr.contains("panicked"), "{what}: {}", run.story());
}

#[test]
fn wrong_command_lines_are_told_and_start_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a listener");
    silent.set_nonblocking(true).expect("a listener that does not block");
    let target = silent.local_addr().expect("its address").to_string();
    let mut wrong = Vec::new();
    for (line, parts) in WRONG {
        let arguments: Vec<String> = line
            .split(' ')
            .map(|word| match word {
                "U" => format!("http://{target}/"),
                word => word
                    .strip_prefix('T')
                    .filter(|rest| rest.is_empty() || rest.starts_with(':'))
                    .map_or_else(|| word.to_owned(), |rest| format!("{target}{rest}")),
            })
            .collect();
        let run = run(&mut program(&arguments));
        let missing: Vec<_> = parts.iter().filter(|part| !run.stderr.contains(**part)).collect();
        if run.code != Some(2)
            || !missing.is_empty()
            || !run.stdout.is_empty()
            || run.stderr.contains("panicked")
        {
            wrong.push(format!("`{line}`: nothing about {missing:?}; {}", run.story()));
        }
        match silent.accept() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            other => wrong.push(format!("`{line}` connected to its target: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), WRONG.len(), wrong.join("\n"));
}

#[test]
fn every_problem_is_told_at_once() {
    let run = run(&mut program(&["rr", "127.0.0.1:1", "--size", "0", "-c", "0", "--time", "0"]));
    assert_says(&run, 2, &["--size", "--connections", "--time"], "three problems");
}

#[test]
fn a_port_in_use() {
    // Nobody else takes a port there: the one of UDP is to be free for TCP.
    inside(|| {
        let agent = Agent::insecure(&["--bind", "127.0.0.1"]);
        let port = agent.port.to_string();
        let taken = run(&mut program(&["serve", "--bind", "127.0.0.1", "--port", &port]));
        assert_says(&taken, 2, &["--port", &port, "in use", "another"], "TCP");
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let port = udp.local_addr().expect("its address").port().to_string();
        let taken = run(&mut program(&["serve", "--bind", "127.0.0.1", "--port", &port]));
        assert_says(&taken, 2, &["--port", "UDP", &port, "in use"], "UDP");
    });
}

#[test]
fn a_cpu_that_an_end_does_not_have() {
    let agent = Agent::insecure(&[]);
    for (cpus, end) in [("4000", "client"), ("/4000", "server")] {
        let run =
            run(&mut program(&["rr", &agent.target(), "--insecure", "--cpu", cpus, "-t", "1s"]));
        assert_says(&run, 2, &["--cpu", "4000", end, "may use 0"], cpus);
    }
}

#[test]
fn an_end_that_cannot_be_reached() {
    // A port that was free a moment ago.
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
    let target = format!("127.0.0.1:{port}");
    let refused = run(&mut program(&["stream", &target, "--insecure"]));
    assert_says(&refused, 3, &[&target, "refused", "hopbench serve"], "an agent");
    let refused = run(&mut program(&["http", &format!("http://{target}/")]));
    assert_says(&refused, 3, &[&target, "refused"], "a web server");
    for arguments in [
        ["stream", "no-such-host.invalid"],
        ["http", "http://no-such-host.invalid/"],
        ["ping", "no-such-host.invalid"],
    ] {
        assert_says(
            &run(&mut program(&arguments)),
            3,
            &["no-such-host.invalid", "no address"],
            arguments[0],
        );
    }
    let v6 = run(&mut program(&["stream", "127.0.0.1", "-6"]));
    assert_says(&v6, 3, &["127.0.0.1", "IPv6"], "a family that the host does not have");
}

#[test]
fn a_wrong_token() {
    let agent = Agent::guarded(&[]);
    let other = "0123456789abcdef".repeat(4);
    for (token, why) in [
        (&["--token", other.as_str()][..], "another token"),
        (&["--insecure"][..], "not started with --insecure"),
        (&[][..], "none was given"),
    ] {
        let run = run(program(&["rr", &agent.target(), "-t", "100ms"]).args(token));
        assert_says(&run, 3, &[&agent.target(), why, "--token"], "a token");
        assert!(
            !run.stderr.contains(&agent.token) && !run.stderr.contains(&other),
            "a token was printed"
        );
    }
    // The right one, by flag, by environment and by file.
    let arguments = ["rr", &agent.target(), "--json", "-t", "100ms", "--warmup", "0"];
    assert_eq!(run(program(&arguments).args(["--token", &agent.token])).code, Some(0));
    assert_eq!(run(program(&arguments).env("HOPBENCH_TOKEN", &agent.token)).code, Some(0));
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), format!("{}\n", agent.token)).expect("a token in it");
    assert_eq!(run(program(&arguments).arg("--token-file").arg(file.path())).code, Some(0));
    // `http` measures any server, so that it takes none from the environment.
    let url = format!("http://{}/", agent.target());
    let mut http = program(&["http", &url, "-t", "100ms", "--warmup", "0", "--token-file"]);
    let done = run(http.arg(file.path()).env("HOPBENCH_TOKEN", &other));
    assert_eq!(done.code, Some(0), "{}", done.story());
}

#[test]
fn something_that_is_no_agent() {
    let nginx =
        "HTTP/1.1 400 Bad Request\r\nServer: nginx\r\nConnection: close\r\n\r\n<html>400</html>";
    for (what, answer) in [
        ("a web server", nginx),
        ("an SSH server", "SSH-2.0-OpenSSH_9.2\r\n"),
        ("one that hangs up", ""),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let target = listener.local_addr().expect("its address").to_string();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer.as_bytes());
        });
        let run = run(&mut program(&["rr", &target, "--insecure", "-t", "100ms"]));
        assert_says(&run, 3, &[&target, "no hopbench agent"], what);
        server.join().expect("the server");
    }
}

#[test]
fn one_that_never_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let target = listener.local_addr().expect("its address").to_string();
    let run = run(&mut program(&["rr", &target, "--insecure", "-t", "100ms"]));
    assert_says(&run, 3, &[&target, "said nothing for 5 s", "no hopbench agent"], "silence");
}

#[test]
fn no_right_to_send_icmp() {
    inside(|| {
        // In a new network namespace `ping_group_range` is empty: nobody may have ICMP datagram
        // sockets.
        let arguments = ["ping", "127.0.0.1", "--count", "3", "--every", "10ms", "--json"];
        let allowed = run(&mut program(&arguments));
        assert_eq!(
            crate::lab::records::one(&allowed).metrics["lost"],
            0.0,
            "the raw socket of who has the right"
        );
        let mut bare = Command::new("setpriv");
        bare.env("PATH", path()).args(["--bounding-set", "-net_raw", "--inh-caps", "-net_raw"]);
        let refused = run(bare.arg(binary()).args(arguments));
        assert_says(&refused, 3, &["ping_group_range", "CAP_NET_RAW"], "ICMP");
    });
}

#[test]
fn too_few_file_descriptors() {
    let agent = Agent::insecure(&[]);
    let binary = binary();
    // Without the right to raise the hard limit; who does not have that right need not give it up.
    let line = "ulimit -n 200
        if [ \"$(id -u)\" = 0 ]; then
          set -- setpriv --bounding-set -sys_resource --inh-caps -sys_resource \"$@\"
        fi
        exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", line, "sh"]).arg(&binary).env("PATH", path());
    let run =
        run(command.args(["stream", &agent.target(), "--insecure", "-c", "500", "-t", "100ms"]));
    assert_says(
        &run,
        3,
        &["500 connections", "630 open files", "200", "ulimit -n 630"],
        "open files",
    );
}

#[test]
fn a_server_that_is_killed_midway() {
    let _turn = Turn::shared();
    for (workload, metric) in
        [("stream", "received_bits_per_s"), ("rr", "requests_per_s"), ("push", "messages_per_s")]
    {
        let agent = Agent::insecure(&[]);
        let line = format!("{workload} {} --insecure --json -t 20s --warmup 100ms", agent.target());
        let client = Running::start(&mut program(&words(&line)));
        pause(1000 * MS);
        drop(agent);
        let run = client.finish();
        assert_eq!(run.code, Some(4), "{workload}: {}", run.story());
        let records = printed(&run);
        assert_eq!(records.len(), 1, "{workload}: what was measured is printed: {}", run.story());
        let record = &records[0];
        assert!(record.incomplete.is_some(), "{workload}: not marked");
        assert!(
            record.window_s > 0.3 && record.window_s < 10.0,
            "{workload}: window {} s",
            record.window_s
        );
        // Of a stream, what was received is the server's to know, which is gone.
        let name = if workload == "stream" { "sent_bits_per_s" } else { metric };
        let value = record.metrics.get(name).copied();
        assert!(value.is_some_and(|v| v > 0.0), "{workload} has no {name}: {:?}", record.metrics);
        assert!(run.stderr.contains("hopbench: "), "{workload}: {}", run.story());
    }
}

#[test]
fn http_whose_server_dies_midway() {
    let _turn = Turn::shared();
    let agent = Agent::insecure(&["--http"]);
    let url = format!("http://{}/", agent.target());
    let client = Running::start(&mut program(&[
        "http", &url, "--json", "--rate", "200", "-t", "2s", "--warmup", "100ms", "-c", "4",
    ]));
    pause(1000 * MS);
    drop(agent);
    let run = client.finish();
    let records = printed(&run);
    assert_eq!(records.len(), 1, "{}", run.story());
    let errors: u64 = records[0].errors.values().sum();
    assert!(errors > 50, "the failures are counted by reason: {}", run.story());
    assert!(records[0].metrics["requests"] > 50.0, "{}", run.story());
}

#[test]
fn ctrl_c_prints_what_was_measured() {
    let _turn = Turn::shared();
    let agent = Agent::insecure(&["--http"]);
    let url = format!("http://{}/", agent.target());
    let cases: [(&[&str], &str); 4] = [
        (&["stream", &agent.target(), "--insecure"], "received_bits_per_s"),
        (&["rr", &agent.target(), "--insecure"], "requests_per_s"),
        (&["udp", &agent.target(), "--insecure"], "received_packets_per_s"),
        (&["http", &url], "requests_per_s"),
    ];
    for (arguments, metric) in cases {
        let what = arguments[0];
        let client =
            Running::start(program(arguments).args(["--json", "-t", "20s", "--warmup", "100ms"]));
        pause(900 * MS);
        client.signal("INT");
        let run = client.finish();
        let records = printed(&run);
        assert_eq!(records.len(), 1, "{what}: {}", run.story());
        let record = &records[0];
        assert_eq!(record.incomplete.as_deref(), Some("interrupted"), "{what}");
        assert!(
            record.window_s > 0.3 && record.window_s < 5.0,
            "{what}: window {} s",
            record.window_s
        );
        assert!(
            record.metrics.get(metric).is_some_and(|v| *v > 0.0),
            "{what} has no {metric}: {:?}",
            record.metrics
        );
        let broken: Vec<_> = record.invariants.iter().filter(|i| !i.ok).collect();
        assert!(broken.is_empty(), "{what}: {broken:?}");
        assert_eq!(run.code, Some(4), "{what}: {}", run.story());
        assert!(run.stderr.contains("interrupted"), "{what}: {}", run.story());
    }
}

#[test]
fn ctrl_c_before_there_is_anything_to_print() {
    let agent = Agent::insecure(&[]);
    let line = format!("stream {} --insecure -t 20s --warmup 20s", agent.target());
    let client = Running::start(&mut program(&words(&line)));
    pause(700 * MS);
    client.signal("INT");
    let run = client.finish();
    assert_eq!(run.code, Some(4), "{}", run.story());
    assert!(
        run.stdout.contains("incomplete")
            || run.stdout.contains("cut short")
            || run.stderr.contains("interrupted"),
        "{}",
        run.story()
    );
}
