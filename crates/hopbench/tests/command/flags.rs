//! One name for one thing: flags, their hidden aliases, and the version.

use std::process::Command;

use hopbench_model::{RECORD_SCHEMA, RUN_SCHEMA};
use hopbench_wire::PROTOCOL;

use crate::lab::program;
use crate::lab::program::{binary, run};

#[test]
fn the_version_says_what_it_speaks() {
    let long = run(&mut program(&["--version"]));
    assert_eq!(long.code, Some(0), "{}", long.story());
    let lines: Vec<Vec<&str>> =
        long.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["hopbench", env!("CARGO_PKG_VERSION")]);
    let of = |name: &str| {
        lines.iter().find(|line| line[0] == name).unwrap_or_else(|| panic!("no {name}"))[1]
    };
    assert_eq!(
        (of("record"), of("run"), of("protocol")),
        (RECORD_SCHEMA, RUN_SCHEMA, &*PROTOCOL.to_string())
    );
    assert!(!of("commit").is_empty());
    assert_eq!(run(&mut program(&["-V"])).stdout.lines().count(), 1);
}

#[test]
fn as_a_plugin_of_kubectl_it_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let plugin = folder.path().join("kubectl-hopbench");
    std::os::unix::fs::symlink(binary(), &plugin).expect("a link");
    let called = |args: &[&str]| run(Command::new(&plugin).args(args));
    let help = called(&["kube", "manifests", "--help"]);
    assert_eq!(help.code, Some(0), "{}", help.story());
    for part in ["Usage: kubectl hopbench kube manifests", "\nkubectl hopbench kube manifests | "] {
        assert!(help.stdout.contains(part), "no {part}: {}", help.story());
    }
    let bad = called(&["kube", "manifests", "--name", "Bad_Name"]);
    assert!(bad.stderr.starts_with("kubectl hopbench: "), "{}", bad.story());
    let unknown = called(&["rum"]);
    assert!(unknown.stderr.contains("kubectl hopbench"), "{}", unknown.story());
}

/// Everywhere the one name is in the help, and the other is not, and still means the same.
#[test]
fn help_has_one_name_for_one_thing() {
    for (command, shown) in [
        (&["run"][..], &["--output", "--time", "--format"][..]),
        (&["plan"], &["--time", "--format"]),
        (&["rr"], &["--time", "--format"]),
        (&["http"], &["--time", "--format"]),
        (&["report"], &["--output", "--format"]),
        (&["compare"], &["--output", "--format"]),
        (&["import"], &["--output"]),
        (&["doctor"], &["--output", "--time", "--format"]),
        (&["kube", "image"], &["--output"]),
    ] {
        let help = run(program(command).arg("--help"));
        assert_eq!(help.code, Some(0), "{}", help.story());
        let words: Vec<&str> =
            help.stdout.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
        for name in shown {
            assert!(words.contains(name), "{command:?} has no {name}: {}", help.stdout);
        }
        for hidden in ["--out", "--duration", "--json"] {
            assert!(!words.contains(&hidden), "{command:?} shows {hidden}: {}", help.stdout);
        }
    }
}

/// Arguments that several commands share describe themselves, and not the command.
#[test]
fn the_help_of_a_command_describes_the_command() {
    for (command, description) in [
        ("run", "Measures a scenario and reports on it\n"),
        ("report", "Reports on a results folder\n"),
        ("compare", "Compares two results folders"),
    ] {
        let help = run(&mut program(&[command, "--help"]));
        assert!(help.stdout.starts_with(description), "{command}: {}", help.story());
    }
}

/// Flags that all workloads share say what they mean for this one.
#[test]
fn the_help_of_a_workload_is_about_that_workload() {
    let help = |name: &str| {
        let help = run(&mut program(&[name, "--help"]));
        assert_eq!(help.code, Some(0), "{}", help.story());
        help.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let rr = help("rr");
    for part in ["CPUs of the client, or of client/server: 0, 0/1,", "[env: HOPBENCH_TOKEN]"] {
        assert!(rr.contains(part), "no {part}: {rr}");
    }
    for name in ["http", "grpc", "ping"] {
        let text = help(name);
        assert!(text.contains("--cpu <CPUS> CPUs of the client: 0, 0-1 "), "{text}");
        assert!(!text.contains("client/server") && !text.contains("HOPBENCH_TOKEN"), "{text}");
        let takes_token = text.contains("--token <TOKEN> Measure an agent that has no --http");
        assert_eq!(takes_token, name != "ping", "{text}");
    }
    let ping = help("ping");
    assert!(ping.contains("-c, --connections <N> The same as --count "), "{ping}");
    for other in ["--token", "--insecure", "--local-address"] {
        assert!(!ping.contains(other), "{other}: {ping}");
    }
}

#[test]
fn aliases_mean_the_same() {
    let plan = |more: &[&str]| {
        let done = run(&mut program(&[&["plan", "quickstart", "--seed", "7"][..], more].concat()));
        done.stdout
    };
    let named = plan(&["--time", "2s", "--format", "json"]);
    assert!(named.contains("\"window_ns\": 2000000000"), "{named}");
    for alias in [
        &["--duration", "2s", "--json"][..],
        &["-t", "2s", "-f", "json"],
        &["--duration=2s", "--format=json"],
    ] {
        assert_eq!(plan(alias), named, "{alias:?}");
    }
    for arguments in [
        &["rr", "127.0.0.1:1", "--duration", "0"][..],
        &["rr", "127.0.0.1:1", "--time", "0", "--json"],
        &["rr", "127.0.0.1:1", "-t", "0", "--format", "json"],
    ] {
        let done = run(&mut program(arguments));
        assert_eq!(done.code, Some(2), "{}", done.story());
        assert!(
            done.stderr.contains("--time: found `0ns`, expected at least 1ms"),
            "{}",
            done.story()
        );
    }
    let both = run(&mut program(&["plan", "quickstart", "--json", "--format", "text"]));
    assert_eq!(both.code, Some(2), "{}", both.story());
}
