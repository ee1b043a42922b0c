//! Secrets: what is sent, and where nothing of it shows.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::lab::namespace::outside;
use crate::lab::program::{Finished, run};
use crate::lab::{Agent, Bench, User, program};

const SECRET: &str = "topsecret-42";

/// Answers HTTP, and keeps the heads that it was sent.
fn target() -> (SocketAddr, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let heard = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&heard);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten().take(64) {
            let kept = Arc::clone(&kept);
            thread::spawn(move || {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut bytes) {
                    kept.lock().expect("alone").push_str(&String::from_utf8_lossy(&bytes[..count]));
                    if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err()
                    {
                        break;
                    }
                }
            });
        }
    });
    (address, heard)
}

fn silent(done: &Finished) {
    hides(done, SECRET);
}

fn hides(done: &Finished, secret: &str) {
    assert!(!done.stdout.contains(secret) && !done.stderr.contains(secret), "{}", done.story());
}

#[test]
fn headers_by_hand_are_sent_and_not_shown() {
    let literal = format!("Authorization: Bearer {SECRET}");
    for (header, shown) in [
        (literal.as_str(), "Authorization: <redacted>"),
        (
            "Authorization: Bearer env:HOPBENCH_TEST_SECRET",
            "Authorization: Bearer env:HOPBENCH_TEST_SECRET",
        ),
        ("X-Api-Key: env:HOPBENCH_TEST_SECRET", "X-Api-Key: env:HOPBENCH_TEST_SECRET"),
    ] {
        let (address, heard) = target();
        let url = format!("http://{address}/");
        for format in ["json", "text"] {
            let arguments =
                ["http", &url, "-H", header, "-t", "100ms", "--warmup", "0", "--format", format];
            let done = run(program(&arguments).env("HOPBENCH_TEST_SECRET", SECRET));
            assert_eq!(done.code, Some(0), "{}", done.story());
            silent(&done);
            assert!(format == "text" || done.stdout.contains(shown), "{}", done.story());
        }
        let name = header.split(':').next().expect("a name");
        let scheme = if name == "Authorization" { "Bearer " } else { "" };
        let heard = heard.lock().expect("alone").clone();
        assert!(heard.contains(&format!("\r\n{name}: {scheme}{SECRET}\r\n")), "{heard}");
    }
    let unset = ["http", "http://127.0.0.1:1/", "-H", "Authorization: env:HOPBENCH_TEST_UNSET"];
    let done = run(program(&unset).env_remove("HOPBENCH_TEST_UNSET"));
    assert_eq!(done.code, Some(2), "{}", done.story());
    assert!(
        done.stderr.contains("variable HOPBENCH_TEST_UNSET, which is not set"),
        "{}",
        done.story()
    );
    let wrong = run(&mut program(&[
        "http",
        "http://127.0.0.1:1/",
        "-H",
        &format!("Authorization {SECRET}"),
    ]));
    assert_eq!(wrong.code, Some(2), "{}", wrong.story());
    silent(&wrong);
}

fn scenario(headers: &str, name: &str) -> String {
    format!(
        "name: {name}\nrounds: 1\ntime: 100ms\nwarmup: 20ms\ninterval: 50ms\n\
         paths: {{host: host@a -> host@b}}\n\
         workloads:\n  web: {{http: {{header: [{headers}], response: 1KiB}}}}\n"
    )
}

/// No file of a folder has the secret.
fn clean(folder: &Path) {
    clean_of(folder, SECRET);
}

fn clean_of(folder: &Path, secret: &str) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        assert!(
            !fs::read_to_string(&path).expect("a text").contains(secret),
            "{} has it",
            path.display()
        );
    }
}

#[test]
fn a_run_keeps_no_secret_and_is_resumed_with_the_scenario() {
    let Some(_turn) = outside() else {
        return;
    };
    let headers = format!("'Authorization: Bearer {SECRET}', 'X-Open: seen'");
    let bench = Bench::new(User::all()[0], &scenario(&headers, "secret"));
    let done = bench.run(&["--format", "json"]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    silent(&done);
    clean(&bench.out());
    for name in ["run.json", "records.jsonl", "report.html"] {
        let text = fs::read_to_string(bench.out().join(name)).expect("a file");
        assert!(text.contains("X-Open: seen") || name == "report.html", "{name}");
        assert!(text.contains("redacted"), "{name}");
    }
    let run_file = bench.results().run;
    assert!(
        run_file.scenario.contains("'Authorization: <redacted>', 'X-Open: seen'"),
        "{}",
        run_file.scenario
    );
    silent(&run(&mut bench.command(&["plan", &bench.scenario(), "--format", "json"])));

    // Its last record is lost: there is something to measure again.
    fs::write(bench.out().join("records.jsonl"), "").expect("written");
    let refused = bench.resume(&[]);
    assert_eq!(refused.code, Some(2), "{}", refused.story());
    for part in ["`Authorization` was not kept", "hopbench run SCENARIO --resume"] {
        assert!(refused.stderr.contains(part), "nothing about `{part}`: {}", refused.story());
    }
    let other = bench.work().join("other.yaml");
    fs::write(&other, scenario(&headers, "another")).expect("written");
    let refused = bench.resume(&[&other.to_string_lossy()]);
    assert_eq!(refused.code, Some(2), "{}", refused.story());
    assert!(
        refused.stderr.contains("expected the scenario with which this run began"),
        "{}",
        refused.story()
    );
    let resumed = bench.resume(&[&bench.scenario()]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.story());
    silent(&resumed);
    clean(&bench.out());
    bench.results().whole();
}

/// A certificate and its key in one text, and a line of the key.
fn client_certificate() -> (String, String) {
    let own = rcgen::generate_simple_self_signed(["client.test".to_owned()]);
    let own = own.expect("a certificate");
    let key = own.signing_key.serialize_pem();
    let line = key.lines().nth(1).expect("its first line").to_owned();
    (format!("{}{key}", own.cert.pem()), line)
}

#[test]
fn a_private_key_by_hand_is_not_shown() {
    let (agent, folder) = (Agent::insecure(&["--http"]), tempfile::tempdir().expect("a folder"));
    let (both, line) = client_certificate();
    let file = folder.path().join("client.pem");
    fs::write(&file, both).expect("written");
    let (url, file) = (format!("https://{}/", agent.target()), file.to_string_lossy());
    for format in ["json", "text"] {
        let done = run(&mut program(&[
            "http",
            &url,
            "--insecure-tls",
            "--tls-cert",
            &file,
            "-t",
            "100ms",
            "--warmup",
            "0",
            "--format",
            format,
        ]));
        assert_eq!(done.code, Some(0), "{}", done.story());
        hides(&done, &line);
        let shown = r#""tls_private_key":"<redacted>""#;
        assert!(format == "text" || done.stdout.contains(shown), "{}", done.story());
    }
    let alone = run(&mut program(&["http", &url, "--tls-key", &file]));
    assert_eq!(alone.code, Some(2), "{}", alone.story());
    assert!(alone.stderr.contains("--tls-key: found `"), "{}", alone.story());
}

#[test]
fn a_run_keeps_no_private_key_and_is_resumed_with_the_scenario() {
    let Some(_turn) = outside() else { return };
    let bench = Bench::new(User::all()[0], "");
    let (both, line) = client_certificate();
    let file = bench.work().join("client.pem");
    fs::write(&file, both).expect("written");
    let workload = format!("{{http: {{tls: true, tls-cert: {}, response: 1KiB}}}}", file.display());
    let text = format!(
        "name: key\nrounds: 1\ntime: 100ms\nwarmup: 20ms\ninterval: 50ms\n\
         paths: {{host: host@a -> host@b}}\nworkloads: {{web: {workload}}}\n"
    );
    fs::write(bench.scenario(), text).expect("written");
    let plan = run(&mut bench.command(&["plan", &bench.scenario(), "--format", "json"]));
    assert!(plan.code == Some(0) && plan.stdout.contains("<redacted>"), "{}", plan.story());
    hides(&plan, &line);
    let done = bench.run(&["--format", "json"]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    hides(&done, &line);
    clean_of(&bench.out(), &line);
    fs::write(bench.out().join("records.jsonl"), "").expect("written");
    let refused = bench.resume(&[]);
    assert_eq!(refused.code, Some(2), "{}", refused.story());
    assert!(refused.stderr.contains("`tls-cert` was not kept"), "{}", refused.story());
    let resumed = bench.resume(&[&bench.scenario()]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.story());
    hides(&resumed, &line);
    clean_of(&bench.out(), &line);
    bench.results().whole();
}

/// The scenario's text is as it was; only the plan beside it says another thing.
#[test]
fn a_folder_with_another_plan_gets_no_secret_of_the_scenario() {
    let Some(_turn) = outside() else { return };
    let headers = format!("'Authorization: Bearer {SECRET}'");
    let bench = Bench::new(User::all()[0], &scenario(&headers, "secret"));
    let done = bench.run(&[]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    fs::write(bench.out().join("records.jsonl"), "").expect("written");
    let file = bench.out().join("run.json");
    let sound = fs::read_to_string(&file).expect("a file");
    let plan: serde_json::Value = serde_json::from_str(&sound).expect("JSON");
    let host = |name: &str| serde_json::json!({"name": name, "control": "127.0.0.1:1"});
    let hosts = serde_json::json!({"hosts": {"nodes": [host("a"), host("b")]}});
    let subjects = serde_json::json!([{"name": "new", "pod": {"agent": "elsewhere:1"}}]);
    for (what, place, value) in [
        ("expected a scenario that says the machines", "/plan/testbed", hosts),
        ("another path", "/plan/paths/0/to/node", serde_json::json!("a")),
        ("another request", "/plan/points/0/server/request", serde_json::json!("/elsewhere")),
        ("another subject", "/plan/subjects", subjects),
    ] {
        let mut plan = plan.clone();
        match plan.pointer_mut(place) {
            Some(found) => *found = value,
            None => plan["plan"]["subjects"] = value,
        }
        fs::write(&file, plan.to_string()).expect("written");
        let refused = bench.resume(&[&bench.scenario()]);
        assert_eq!(refused.code, Some(2), "{what}: {}", refused.story());
        assert!(refused.stderr.contains(what), "{what}: {}", refused.story());
    }
    fs::write(&file, sound).expect("written");
    let resumed = bench.resume(&[&bench.scenario()]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.story());
    silent(&resumed);
}

#[test]
fn a_folder_takes_no_variable_that_was_not_allowed() {
    let Some(_turn) = outside() else {
        return;
    };
    let bench =
        Bench::new(User::all()[0], &scenario("'Cookie: env:HOPBENCH_TEST_SECRET'", "secret"));
    let refused = bench.run(&[]);
    assert_eq!(refused.code, Some(2), "{}", refused.story());
    assert!(
        refused.stderr.contains("variable HOPBENCH_TEST_SECRET, which is not set"),
        "{}",
        refused.story()
    );
    assert!(!bench.out().exists());
    let with =
        |arguments: &[&str]| run(bench.command(arguments).env("HOPBENCH_TEST_SECRET", SECRET));
    let out = bench.out().to_string_lossy().into_owned();
    let done = with(&["run", &bench.scenario(), "--output", &out]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    silent(&done);
    clean(&bench.out());
    fs::write(bench.out().join("records.jsonl"), "").expect("written");
    for others in [&[][..], &["--allow-env", "HOPBENCH_TEST_OTHER"]] {
        let refused = with(&[&["run", "--resume", &out][..], others].concat());
        assert_eq!(refused.code, Some(2), "{}", refused.story());
        for part in ["Cookie takes HOPBENCH_TEST_SECRET", "add --allow-env HOPBENCH_TEST_SECRET"] {
            assert!(refused.stderr.contains(part), "nothing about `{part}`: {}", refused.story());
        }
    }
    let resumed = with(&["run", "--resume", &out, "--allow-env", "HOPBENCH_TEST_SECRET"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.story());
    bench.results().whole();
}

#[test]
fn the_hint_of_a_server_is_no_argument() {
    let agent = Agent::guarded(&["--bind", "127.0.0.1"]);
    assert!(
        !agent.token.is_empty(),
        "the harness reads the token from `HOPBENCH_TOKEN=... hopbench stream`"
    );
    let quick = ["-t", "50ms", "--warmup", "0"];
    let client = |token: &str| {
        let target = agent.target();
        run(program(&[&["rr", target.as_str()][..], &quick].concat()).env("HOPBENCH_TOKEN", token))
    };
    let served = client(&agent.token);
    assert_eq!(served.code, Some(0), "{}", served.story());
    let shown = fs::read(format!("/proc/{}/cmdline", agent.pid())).expect("its arguments");
    assert!(!String::from_utf8_lossy(&shown).contains(&agent.token));

    // A server takes the same variable.
    let mut command = program(&["serve", "--port", "0", "--bind", "127.0.0.1"]);
    let other = Agent::start(command.env("HOPBENCH_TOKEN", &agent.token));
    assert_eq!(other.token, "", "it does not say what its user knows");
    let target = other.target();
    let ask = |token: &str| {
        run(program(&[&["rr", target.as_str()][..], &quick].concat()).env("HOPBENCH_TOKEN", token))
    };
    assert_eq!(ask(&agent.token).code, Some(0));
    let stranger = ask(&"0".repeat(agent.token.len()));
    assert_eq!(stranger.code, Some(3), "{}", stranger.story());
    let wrong = run(program(&["serve", "--port", "0"]).env("HOPBENCH_TOKEN", "short"));
    assert_eq!(wrong.code, Some(2), "{}", wrong.story());
    assert!(wrong.stderr.contains("HOPBENCH_TOKEN: "), "{}", wrong.story());
}
