//! Checks of the sources against ARCHITECTURE.md.

mod layout;
mod manifest;
mod modules;
mod source;
mod turns;
mod workload_names;

use std::collections::BTreeSet;

use hopbench_report::{campaign, comparison, export};
use manifest::Manifest;
use source::{
    BESIDE, code, crate_names, crates, folder, read, rust_files, shipped_files, shipped_text,
    stems, workspace,
};

/// A crate, its tier, and the crates that it may be linked with.
///
/// Arrows go to a lower tier. Three do not, and all are one-way: `stats` fills in the model's
/// words. In the upper half of tier 2, `control` carries the messages of `wire`, and `testbed`
/// places the proxies of `mesh`.
const CRATES: &[(&str, u8, &[&str])] = &[
    ("model", 1, &[]),
    ("stats", 1, &["model"]),
    ("sys", 1, &[]),
    // In the place of a dependency of kube-client: the workspace's `[patch.crates-io]`.
    ("jsonpath", 1, &[]),
    ("regex", 1, &[]),
    ("wire", 2, &["model"]),
    ("control", 2, &["wire", "model", "sys"]),
    ("mesh", 2, &["model"]),
    ("load", 2, &["stats", "model", "sys"]),
    ("meter", 2, &["model", "sys"]),
    ("testbed", 2, &["mesh", "model", "sys"]),
    ("analysis", 2, &["stats", "model"]),
    ("import", 2, &["model"]),
    ("peer", 2, &["model"]),
    ("agent", 3, &["control", "load", "meter", "wire", "model", "sys"]),
    (
        "run",
        3,
        &[
            "analysis", "import", "control", "load", "meter", "testbed", "wire", "stats", "model",
            "sys",
        ],
    ),
    ("report", 3, &["analysis", "model", "stats"]),
    ("lab", 3, &["control", "meter", "testbed", "mesh", "peer", "model", "sys"]),
    ("kube", 3, &["control", "testbed", "mesh", "peer", "wire", "model", "sys"]),
    ("hosts", 3, &["control", "testbed", "wire", "model"]),
    ("scenario", 3, &["load", "model", "stats"]),
    ("policy", 3, &["model", "sys"]),
    (
        "hopbench",
        4,
        &[
            "agent", "hosts", "kube", "lab", "run", "report", "scenario", "policy", "control",
            "import", "load", "meter", "peer", "testbed", "wire", "model", "stats", "sys",
        ],
    ),
    // A tool for developers: it drives the binary from outside, like any user.
    ("bench", 4, &["analysis", "model", "stats"]),
    // A part of the test cluster: a process that the API server asks. Nobody is linked with it.
    ("test-webhook", 4, &["mesh", "model"]),
];

const SIDEWAYS: [(&str, &str); 3] = [("stats", "model"), ("control", "wire"), ("testbed", "mesh")];

fn tier(krate: &str) -> u8 {
    let found = CRATES.iter().find(|(name, ..)| *name == krate);
    found
        .unwrap_or_else(|| {
            panic!("crate {krate} has no tier: enter it here and in ARCHITECTURE.md")
        })
        .1
}

#[test]
fn arrows_go_down() {
    let known: BTreeSet<_> = CRATES.iter().map(|(name, ..)| (*name).to_owned()).collect();
    assert_eq!(
        known,
        crate_names().into_iter().collect(),
        "crates with a tier, and crates that are there"
    );
    let members = BESIDE.iter().map(|(_, path)| format!(", \"{path}\"")).collect::<String>();
    let members = format!("members = [\"crates/*\"{members}]");
    assert!(
        workspace().contains(&members),
        "the workspace has members that nobody looks at here; not `{members}`"
    );
    for (krate, own, allowed) in CRATES {
        let manifest = Manifest::of(krate);
        for other in Manifest::ours(&manifest.linked) {
            assert!(allowed.contains(&other), "{krate} must not depend on {other}");
            let down = tier(other) < *own || SIDEWAYS.contains(&(krate, other));
            assert!(down, "{krate} (tier {own}) must not depend on {other} (tier {})", tier(other));
        }
        for other in Manifest::ours(&manifest.for_tests) {
            assert!(
                tier(other) <= *own,
                "the tests of {krate} (tier {own}) must not depend on {other}"
            );
        }
    }
}

/// `policy` is a peer that proxies talk to, and `test-webhook` one that an API server does, each in
/// a process of its own: they measure nothing.
#[test]
fn no_async_runtime_below_the_conductor() {
    for krate in crate_names() {
        if ["lab", "kube", "run", "policy", "hopbench", "test-webhook"].contains(&krate.as_str()) {
            continue;
        }
        let manifest = Manifest::of(&krate);
        for runtime in ["tokio", "async-std", "smol", "futures"] {
            assert!(!manifest.linked.iter().any(|p| p == runtime), "{krate} depends on {runtime}");
        }
    }
}

#[test]
fn every_crate_has_the_lints_of_the_workspace() {
    for krate in crate_names() {
        assert!(Manifest::of(&krate).workspace_lints, "{krate}: [lints] workspace = true");
    }
    assert!(workspace().contains("unsafe_code = \"deny\""), "the workspace denies unsafe code");
}

#[test]
fn only_sys_has_unsafe_code() {
    for krate in crate_names() {
        let files = rust_files(&folder(&krate));
        let own = crates().join("sys/src");
        for file in files.iter().filter(|file| !file.starts_with(&own)) {
            let code = code(&read(file));
            for word in code.split(|c: char| !c.is_alphanumeric() && c != '_') {
                assert!(word != "unsafe", "{} has unsafe code", file.display());
                // `deny` and `forbid` are welcome, `allow` is not.
                assert!(
                    word != "unsafe_code" || code.contains("forbid(unsafe_code)"),
                    "{} changes the lint",
                    file.display()
                );
            }
        }
    }
}

/// `model`, `stats`, `wire`, `mesh`, `analysis`, `import`, `peer` and the placement in `testbed` do
/// no I/O and read no clock.
#[test]
fn pure_crates_are_pure() {
    #[rustfmt::skip]
    const IMPURE: [&str; 10] = [
        "std::fs", "std::env", "std::process", "std::thread", "std::os", "Instant", "SystemTime",
        "hopbench_sys", "libc", "thread_rng",
    ];
    let pure = ["model", "stats", "wire", "mesh", "analysis", "import", "peer"];
    let crates = pure.into_iter().flat_map(shipped_files);
    let mut placement = shipped_files("testbed");
    placement.retain(|file| file.to_string_lossy().contains("/src/placement"));
    assert!(placement.len() > 1, "the placement is somewhere else");
    for file in crates.chain(placement) {
        let code = code(&shipped_text(&file));
        for word in IMPURE {
            assert!(!code.contains(word), "{} has {word}", file.display());
        }
        // Addresses are data; sockets are not.
        #[rustfmt::skip]
        let sockets = [
            "TcpStream", "TcpListener", "UdpSocket", "UnixStream", "ToSocketAddrs", "std::net::*",
            "println!", "eprintln!",
        ];
        for socket in sockets {
            assert!(!code.contains(socket), "{} has {socket}", file.display());
        }
    }
}

/// `report` shows what was measured, and measures nothing.
#[test]
fn reports_never_measure() {
    for file in shipped_files("report").into_iter().chain(shipped_files("analysis")) {
        let code = code(&shipped_text(&file));
        for word in
            ["Instant", "SystemTime", "std::net", "hopbench_sys", "hopbench_load", "hopbench_meter"]
        {
            assert!(!code.contains(word), "{} has {word}", file.display());
        }
    }
}

/// Whatever is printed passes through the sanitizer of `output.rs`. Beside it, `relay` passes bytes
/// on, and `lab` hands them to a holder; a draw target is a terminal.
#[test]
fn only_the_output_prints() {
    // The last is a test in a file of its own.
    const PRINT: [&str; 3] = [
        "hopbench/src/output.rs",
        "hopbench/src/output/bar.rs",
        "kube/src/objects/patch/oracle.rs",
    ];
    for krate in crate_names()
        .into_iter()
        .filter(|krate| !["bench", "test-webhook"].contains(&krate.as_str()))
    {
        for file in shipped_files(&krate) {
            let name =
                file.strip_prefix(crates()).expect("a file of ours").to_string_lossy().into_owned();
            if PRINT.contains(&name.as_str()) {
                continue;
            }
            let code = code(&shipped_text(&file));
            let bytes = ["hopbench/src/cmd/serving/relay.rs", "hopbench/src/cmd/lab.rs"]
                .contains(&name.as_str());
            for word in ["println!", "print!(", "ProgressBar", "stderr().lock"] {
                assert!(!code.contains(word), "{name} has {word}");
            }
            let writes = code.contains("stdout().lock()")
                || code.contains("io::stdout(), ")
                || code.contains("stderr(), ");
            assert!(bytes || !writes, "{name} writes to the terminal");
        }
    }
}

#[test]
fn modules_are_files_beside_their_folder() {
    for krate in crate_names() {
        for file in rust_files(&folder(&krate)) {
            assert!(!file.ends_with("mod.rs"), "{}: write x.rs beside x/", file.display());
        }
    }
}

#[test]
fn files_are_short() {
    const MOST_LINES: usize = 500;
    for krate in crate_names() {
        for file in shipped_files(&krate) {
            let lines = shipped_text(&file).lines().count();
            assert!(
                lines <= MOST_LINES,
                "{} has {lines} lines besides its tests, at most {MOST_LINES} are allowed",
                file.display()
            );
        }
    }
}

/// Forgetting the line in the registry must not go unnoticed.
#[test]
fn registries_hold_what_the_folders_hold() {
    let workloads: Vec<_> = hopbench_load::WORKLOADS.iter().map(|w| w.name()).collect();
    let engines: Vec<_> =
        hopbench_load::engines::ENGINES.iter().map(|(kind, _)| kind.name()).collect();
    let meters: Vec<_> = hopbench_meter::METERS.iter().map(|m| m.name).collect();
    let formats: Vec<_> = hopbench_report::FORMATS.iter().map(|f| f.name).collect();
    let trials: Vec<_> = export::TRIAL_FORMATS.iter().map(|f| f.name).collect();
    let runs: Vec<_> = campaign::SUMMARY_FORMATS.iter().map(|f| f.name).collect();
    let comparisons: Vec<_> = comparison::COMPARISON_FORMATS.iter().map(|f| f.name).collect();
    let tools: Vec<_> = hopbench_import::tools().collect();
    let peers: Vec<_> = hopbench_peer::PEERS.iter().map(|tool| tool.name).collect();
    for name in &formats {
        assert_eq!(hopbench_report::format(name).map(|f| f.name), Some(*name));
    }
    // One registry has two folders.
    let imports = "import/src/formats/json import/src/formats/text";
    for (folders, names) in [
        ("report/src/export/formats", trials),
        ("report/src/campaign/formats", runs),
        ("report/src/comparison/formats", comparisons),
        (imports, tools),
        ("peer/src/tools", peers),
        ("load/src/workloads", workloads),
        ("load/src/engines", engines),
        ("meter/src/meters", meters),
        ("report/src/formats", formats),
    ] {
        let registered: BTreeSet<String> =
            names.iter().map(|name| name.replace('-', "_")).collect();
        assert_eq!(registered.len(), names.len(), "{folders}: something is registered twice");
        let mut there: BTreeSet<String> =
            folders.split(' ').flat_map(|folder| stems(&crates().join(folder))).collect();
        there.remove("tests");
        assert_eq!(registered, there, "{folders}: what is registered, and what is there");
    }
}

#[test]
fn the_checks_see_code_and_nothing_else() {
    let text = "let a = \"unsafe\"; // unsafe\n/* unsafe /* unsafe */ unsafe */ let b = r#\"unsafe \
                \" \"#; let c = ('\"', '\\'', 'x'); fn f<'a>(x: &'a str) { x }";
    let seen = code(text);
    assert!(!seen.contains("unsafe"), "{seen}");
    assert!(seen.contains("let b =") && seen.contains("fn f<'a>(x: &'a str) { x }"), "{seen}");
    assert!(code("unsafe { f() }").contains("unsafe"));
}
