//! Texts of others that would steer a terminal, by every way into the output of the binary.
//!
//! The architecture's test sees that nothing but `output.rs` prints; here is what comes out of it.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::thread;

use hopbench_agent::hello;
use hopbench_control::Channel;
use hopbench_control::credentials::Credentials;
use hopbench_control::secret::Secret;
use hopbench_control::tls::server_config;
use hopbench_model::Fault;
use hopbench_model::printable::steers;
use hopbench_sys::clock;
use hopbench_wire::{FromAgent, ToAgent};
use serde_json::Value;

use crate::lab::program;
use crate::lab::program::{Finished, run};
use crate::lab::wait::S;
use crate::made_up::folder;

/// Clears the screen, sets the title, turns the direction, begins another line; once in 7 bits and
/// once in C1.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{2028}\u{2066}\u{200b}\r\n\
                       hopbench: all is well";

/// Nothing in what a program said steers, and no line of it was made by somebody else.
fn harmless(done: &Finished, what: &str) {
    for (stream, text) in [("stdout", &done.stdout), ("stderr", &done.stderr)] {
        let found: Vec<char> =
            text.chars().filter(|c| steers(*c) && !matches!(c, '\n' | '\t')).collect();
        assert!(found.is_empty(), "{what}: {stream} has {found:?}: {}", done.story());
        // In a page a line feed is a space; scenarios stand in it with theirs.
        let forged =
            what != "html" && text.lines().any(|line| line.starts_with("hopbench: all is well"));
        assert!(!forged, "{what}: {}", done.story());
    }
}

/// Whether a text is somewhere in a JSON document.
fn has(value: &Value, text: &str) -> bool {
    match value {
        Value::String(found) => found == text,
        Value::Array(list) => list.iter().any(|value| has(value, text)),
        Value::Object(map) => map.values().any(|value| has(value, text)),
        _ => false,
    }
}

/// A folder whose names, notes and evidence are hostile.
fn hostile(dir: &Path) {
    folder(dir);
    let file = dir.join("run.json");
    let mut run: Value =
        serde_json::from_str(&fs::read_to_string(&file).expect("run.json")).expect("JSON");
    run["plan"]["points"][0]["workload"] = HOSTILE.into();
    run["plan"]["paths"][0]["name"] = HOSTILE.into();
    run["plan"]["baseline"] = HOSTILE.into();
    run["plan"]["name"] = HOSTILE.into();
    run["scenario"] = HOSTILE.into();
    run["notes"] = serde_json::json!([HOSTILE]);
    run["environment"] = serde_json::json!({"kernel": HOSTILE});
    run["failures"] = serde_json::json!([
        {"path": HOSTILE, "workload": HOSTILE, "point": HOSTILE, "round": 2, "reason": HOSTILE},
    ]);
    fs::write(&file, run.to_string()).expect("written");
    let lines = fs::read_to_string(dir.join("records.jsonl")).expect("records");
    let lines = lines.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).expect("a record");
        record["limited_by"] = HOSTILE.into();
        record["proof"][0]["evidence"] = HOSTILE.into();
        record["environment"] = serde_json::json!({"client": {"kernel": HOSTILE}});
        record["workload"] = HOSTILE.into();
        if record["path"] == "host" {
            record["path"] = HOSTILE.into();
        }
        if record["round"] == 1 {
            record["error"] = HOSTILE.into();
        }
        record.to_string() + "\n"
    });
    fs::write(dir.join("records.jsonl"), lines.collect::<String>()).expect("written");
}

#[test]
fn a_results_folder() {
    let dir = tempfile::tempdir().unwrap();
    hostile(dir.path());
    for format in
        ["screen", "table", "markdown", "csv", "json", "html", "searches", "istio-csv", "fortio"]
    {
        let done = run(program(&["report", "-f", format]).arg(dir.path()));
        assert_eq!(done.code, Some(0), "{format}: {}", done.story());
        harmless(&done, format);
        if format == "json" {
            let read: Value = serde_json::from_str(&done.stdout).expect("JSON");
            assert!(has(&read, HOSTILE), "the same text, spelled otherwise: {read}");
        }
        // Files are shown, too.
        let file = dir.path().join("report");
        let written = run(program(&["report", "-f", format, "-o"]).arg(&file).arg(dir.path()));
        assert_eq!(written.code, Some(0), "{format}: {}", written.story());
        assert_eq!(fs::read_to_string(&file).expect("a report"), done.stdout, "{format}");
    }
    let other = tempfile::tempdir().unwrap();
    hostile(other.path());
    let file = other.path().join("run.json");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("\"r1\"", "\"r2\"")).unwrap();
    let records = other.path().join("records.jsonl");
    fs::write(&records, fs::read_to_string(&records).unwrap().replace("\"r1\"", "\"r2\"")).unwrap();
    for format in ["table", "markdown", "json", "junit"] {
        let mut command = program(&["compare", "-f", format, "--fail-on", "throughput>5%"]);
        harmless(&run(command.arg(dir.path()).arg(other.path())), format);
    }
}

#[test]
fn a_results_folder_of_another_version_or_damaged() {
    let dir = tempfile::tempdir().unwrap();
    for (file, from, to) in [
        ("run.json", "hopbench.run/1", HOSTILE),
        ("run.json", "hopbench.plan/1", HOSTILE),
        ("records.jsonl", "hopbench.record/1", HOSTILE),
        ("records.jsonl", "\"r1\"", &serde_json::to_string(HOSTILE).unwrap()),
        (
            "records.jsonl",
            "\"window_s\":1.0",
            &format!("\"window_s\":{}", serde_json::to_string(HOSTILE).unwrap()),
        ),
    ] {
        folder(dir.path());
        let path = dir.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        let to = if from.starts_with('"') {
            to.to_owned()
        } else {
            serde_json::to_string(to).unwrap().trim_matches('"').to_owned()
        };
        fs::write(&path, text.replace(from, &to)).unwrap();
        for command in [&["report"][..], &["run", "--resume"]] {
            let done = run(program(command).arg(dir.path()));
            assert_eq!(done.code, Some(2), "{}", done.story());
            harmless(&done, file);
            assert!(
                command[0] == "run" || done.stderr.contains("\\u"),
                "it is spelled out: {}",
                done.story()
            );
        }
    }
    let named = dir.path().join(HOSTILE.replace('\n', ""));
    fs::create_dir(&named).unwrap();
    harmless(&run(program(&["report"]).arg(&named)), "the name of a folder");
}

#[test]
fn a_scenario() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.yaml");
    let quoted = serde_json::to_string(HOSTILE).unwrap();
    for text in [
        format!("name: {quoted}\npaths: {{a: bridge@a -> bridge@b}}\nworkloads: {{w: rr}}\n"),
        format!(
            "name: x\npaths: {{{quoted}: {quoted}}}\n\
             workloads: {{{quoted}: {{{quoted}: {quoted}}}}}\n"
        ),
        format!(
            "name: x\n{quoted}: 1\npaths: {{a: bridge@a -> bridge@b}}\n\
             workloads: {{w: {{http: {{header: {quoted}}}}}}}\n"
        ),
        HOSTILE.to_owned(),
    ] {
        fs::write(&file, text).unwrap();
        for command in ["plan", "run"] {
            let done = run(program(&[command]).arg(&file).current_dir(dir.path()));
            assert_eq!(done.code, Some(2), "{}", done.story());
            harmless(&done, command);
        }
    }
}

#[test]
fn arguments() {
    let argument = HOSTILE.replace('\u{2028}', "");
    for arguments in [
        vec![argument.as_str()],
        vec!["report", argument.as_str()],
        vec!["rr", "127.0.0.1:1", "--size", argument.as_str()],
        vec!["rr", argument.as_str()],
        vec!["http", argument.as_str()],
        vec!["list", argument.as_str()],
        vec!["lab", "down", "--name", argument.as_str()],
    ] {
        let done = run(&mut program(&arguments));
        assert_eq!(done.code, Some(2), "{}", done.story());
        let found = done.stderr.chars().any(|c| steers(c) && !matches!(c, '\n' | '\t'));
        assert!(!found, "{}", done.story());
    }
}

/// Answers connections with a banner until the test is over.
fn banner(text: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten().take(1_000_000) {
            let _ = stream.write_all(text.as_bytes());
            let _ = stream.read(&mut [0; 4096]);
        }
    });
    address
}

#[test]
fn the_banner_of_a_target() {
    for text in [HOSTILE, "HTTP/1.1 200 \u{1b}[2J\r\nContent-Length: \u{9b}31m\u{202e}\r\n\r\n"] {
        let address = banner(text);
        for format in ["text", "json"] {
            let url = format!("http://{address}/");
            let done = run(&mut program(&[
                "http", &url, "-t", "100ms", "--warmup", "0", "--format", format,
            ]));
            assert_eq!(done.code, Some(4), "{}", done.story());
            harmless(&done, "http");
        }
        let done = run(&mut program(&["rr", &address.to_string(), "--insecure", "-t", "100ms"]));
        assert_eq!(done.code, Some(3), "{}", done.story());
        harmless(&done, "rr");
    }
}

/// What a hostile agent says when it is to prepare a trial, or of itself.
fn agent(version: &'static str, fault: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        let config =
            server_config(&Credentials::of_token(&Secret::insecure())).expect("a configuration");
        let (stream, _) = listener.accept().expect("a client");
        let mut channel = Channel::accept(stream, config).expect("a session");
        while let Ok(Some(message)) = channel.receive_until::<ToAgent>(clock::now() + 10 * S) {
            let answer = match message {
                ToAgent::Hello(_) => {
                    let mut ours = hello();
                    ours.version = version.to_owned();
                    ours.machine.insert("kernel".to_owned(), HOSTILE.to_owned());
                    if !fault {
                        ours.protocol += 1;
                    }
                    FromAgent::Hello(ours)
                }
                ToAgent::Clock => FromAgent::Clock { now_ns: clock::now() },
                ToAgent::Prepare(_) => {
                    FromAgent::Failed { fault: Fault::environment(HOSTILE), report: None }
                }
                _ => continue,
            };
            if channel.send(&answer).is_err() {
                break;
            }
        }
    });
    address
}

#[test]
fn the_words_of_an_agent() {
    for (version, fault, code) in [("0.1.0", true, 3), (HOSTILE, true, 3), (HOSTILE, false, 3)] {
        let target = agent(version, fault).to_string();
        let done =
            run(&mut program(&["rr", &target, "--insecure", "-t", "100ms", "--warmup", "0"]));
        assert_eq!(done.code, Some(code), "{}", done.story());
        harmless(&done, "an agent");
        assert!(done.stderr.contains("\\u001b[2J"), "its words are told: {}", done.story());
    }
}
