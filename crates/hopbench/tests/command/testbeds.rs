//! `--testbed`, `hopbench list`, `kube` and `doctor` as far as they go without a cluster: none is
//! reached here.

use std::fs;
use std::process::Command;

use hopbench_model::{Path, Plan, Point, TestbedSpec};
use hopbench_run::new_run;
use hopbench_run::results::{Folder, open};
use serde_json::Value;

use crate::lab::program::{binary, run};
use crate::lab::{Finished, program};

#[rustfmt::skip]
const SHIPPED: [&str; 11] = [
    "quickstart", "tcp-fanout", "message-size-sweep", "mesh-latency", "mesh-variants",
    "mesh-protocols",
    "cni-matrix", "max-throughput", "ip-families", "before-after",
    "check-against-peers",
];

/// The program where kubectl would find no cluster.
fn alone(arguments: &[&str]) -> Command {
    let mut command = program(arguments);
    command.env("KUBECONFIG", "/no/such/kubeconfig").env_remove("KUBERNETES_SERVICE_HOST");
    command
}

fn ran(arguments: &[&str]) -> Finished {
    run(&mut alone(arguments))
}

/// What a plan says where there is no cluster: everything that it measures, and that it cannot be.
fn planned(arguments: &[&str]) -> String {
    let run = ran(arguments);
    assert_eq!(run.code, Some(3), "{arguments:?}: {}", run.story());
    assert_eq!(
        run.stderr,
        "hopbench: no cell can be measured here; the reasons are above\n",
        "{}",
        run.story()
    );
    run.stdout
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&planned(&[arguments, &["--json"]].concat())).expect("JSON")
}

fn plan_of(value: &Value) -> Plan {
    serde_json::from_value(value["plan"].clone()).expect("a plan")
}

/// As lines are wrapped nobody needs to know.
fn words(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_shipped_scenario_has_a_page_for_a_cluster() {
    // The last two say more of a cluster than that it is not there.
    for name in &SHIPPED[..9] {
        let here = run(&mut program(&["plan", name, "--seed", "7", "--json"]));
        let here = plan_of(&serde_json::from_str(&here.stdout).expect("JSON"));
        let there = json(&["plan", name, "--seed", "7", "--testbed", "kubernetes"]);
        let mut plan = plan_of(&there);
        assert_eq!(plan.testbed.name(), "kubernetes");
        if plan.budget_ns.is_some() {
            // Trials are longer where it takes longer to begin one.
            for (point, here) in plan.points.iter_mut().zip(&here.points) {
                point.job.timing = here.job.timing;
                if let (Some(search), Some(here)) = (&mut point.search, &here.search) {
                    search.short = here.short;
                }
            }
        }
        assert_eq!(
            Plan { testbed: here.testbed.clone(), ..plan.clone() },
            here,
            "{name}: only the testbed differs"
        );
        assert_eq!(there["cells"], 0);
        let page = planned(&["plan", name, "--seed", "7", "--testbed", "kubernetes"]);
        for line in page.lines() {
            assert!(line.chars().count() <= 80, "{name}: {} columns: {line}", line.chars().count());
        }
        for path in &plan.paths {
            assert!(
                page.lines().any(|line| line.starts_with(&format!("{} ", path.name))),
                "{name}: no {}",
                path.name
            );
        }
        let page = words(&page);
        assert!(
            page.contains("testbed kubernetes: the current context of the kubeconfig nodes "),
            "{page}"
        );
        let missing = there["missing"].as_array().expect("needs");
        assert!(
            missing[0]["path"].is_null() && page.contains("cannot run here everything "),
            "{page}"
        );
        assert_eq!(
            page.contains(" mesh envoy: our own, image "),
            plan.paths.iter().any(|path| path.is_proxied())
        );
        let is_beside = |path: &Path, point: &Point| {
            let asks = path.variant.as_ref().is_some_and(|v| v.policy_check || v.policy_report);
            let is_seen = path.to.runtime.is_none() && !point.server.is_agent();
            path.is_proxied() || asks || is_seen
        };
        let is_sandbox =
            |path: &Path, _: &Point| path.from.runtime.is_some() || path.to.runtime.is_some();
        let any = |is: &dyn Fn(&Path, &Point) -> bool| {
            let of_hopbench = |point: &Point| point.peer.is_none();
            let cells = plan.cells.iter().map(|cell| plan.at(*cell));
            cells.filter(|(_, point)| of_hopbench(point)).any(|(path, point)| is(path, point))
        };
        assert_eq!(
            page.contains(": by the agents beside them, from /proc at the window's edges"),
            any(&is_beside),
            "{page}"
        );
        assert_eq!(
            page.contains(
                "trials of less than 2 s are too short for their CPU and memory: `--time 10s` \
                 gives these; throughput and latency have figures anyway"
            ),
            any(&is_sandbox),
            "{page}"
        );
    }
}

#[test]
fn a_plan_without_a_cluster_says_what_a_run_there_would_take() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("x.yaml");
    let text = |extent: &str| {
        format!(
            "name: x\n{extent}\ntime: 10s\nwarmup: 1s\ntestbed: kubernetes\n\
             workloads: {{w: {{rr: {{size: [1, 9]}}}}}}\n\
             paths: {{p: pod@a -> pod@b, q: pod@a -> pod@b via cluster-ip}}\n"
        )
    };
    fs::write(&file, text("rounds: 3")).expect("a file");
    let arguments = ["plan", file.to_str().expect("a path")];
    let page = words(&planned(&arguments));
    let begin = "x: no cell 4 cells more cannot run here, see below if nothing were missing: 4 \
                 cells in 3 rounds = 12 trials, about ";
    assert!(page.starts_with(begin), "{page}");
    let told = json(&arguments);
    let number = |of: &Value, key: &str| of[key].as_f64().expect(key);
    let if_all = &told["if_nothing_missing"];
    for (key, here, there) in [
        ("cells", 0.0, 4.0),
        ("searches", 0.0, 0.0),
        ("rounds", 0.0, 3.0),
        ("least_rounds", 0.0, 3.0),
        ("trials", 0.0, 12.0),
        ("least_trials", 0.0, 12.0),
        // Of 1 s and 10 s, and 95 ms between them.
        ("estimated_s", 0.0, 12.0 * 11.095),
        ("least_estimated_s", 0.0, 12.0 * 11.095),
    ] {
        let said = [number(&told, key), number(if_all, key)];
        assert!((said[0] - here).abs() < 1e-6 && (said[1] - there).abs() < 1e-6, "{key}: {told}");
    }
    // The rule's rounds are those that there would be time for.
    fs::write(&file, text("stop: {ci: 5%, budget: 10m}")).expect("a file");
    let page = words(&planned(&arguments));
    assert!(page.contains(" rounds in 10m (of ") && !page.contains(" 0 rounds in "), "{page}");
}

#[test]
fn what_only_a_lab_has_is_told() {
    let arguments = ["plan", "cni-matrix", "--testbed", "kubernetes"];
    let note =
        "link, zone-link of the lab: not on the testbed kubernetes, whose network is as it is";
    let page = words(&planned(&arguments));
    assert!(page.ends_with(&format!("left out {note}")), "{page}");
    assert!(page.contains("nodes a in zone one; b in zone one; c in zone two "), "{page}");
    assert_eq!(json(&arguments)["notes"], serde_json::json!([note]));
    assert!(!planned(&["plan", "mesh-latency", "--testbed", "kubernetes"]).contains("left out"));
}

#[test]
fn a_file_says_which_testbed() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("staging.yaml");
    let file = file.to_str().expect("a path");
    let text = "kubernetes:
  context: staging
  image: example.org/hopbench:1
  pull-policy: Never
  nodes: {a: {name: worker-1.example}, b: {labels: {pool: fast}, zone: z2}}
  networks:
    overlay: {runtime-class: vx}
    eni: {annotations: {example.org/nic: b}, interface: net1}
    ptp:
  runtimes: {runsc: sandbox}
  servers: {nginx: {image: 'nginx:1.28', port: 8080, cpus: 0.5, request: '/bytes/{bytes}'}}
  mesh: {provider: istio, revision: canary, families: [ipv4, ipv6]}
  gateway: {address: '203.0.113.7:80', namespace: ingress, labels: {app: gateway}}
  prometheus: {service: 'monitoring/prometheus:9090'}
  patch: {spec: {priorityClassName: high}}
  network-policy: true
lab:
";
    fs::write(file, text).expect("a file");
    let page = words(&planned(&["plan", "mesh-latency", "--testbed", file]));
    for part in [
        "testbed kubernetes: context staging of the kubeconfig",
        "nodes a is worker-1.example; b with pool=fast in zone z2 image",
        "image example.org/hopbench:1 (pull policy Never)",
        "networks host; pod; bridge (as pod); eni: annotation example.org/nic, interface net1; \
         overlay: RuntimeClass vx; ptp: as pod",
        "runtimes runsc: RuntimeClass sandbox",
        "servers nginx: nginx:1.28, port 8080, 0.5 CPUs",
        "mesh istio, revision canary, families ipv4, ipv6",
        "gateway 203.0.113.7:80; pods app=gateway of namespace ingress",
        "prometheus Service monitoring/prometheus, port 9090",
        "metered sidecars: by the agents beside them, from /proc at the window's edges",
        "policy a NetworkPolicy lets only the run's pods reach each other",
        "ingress bridge@a -> bridge@b via gateway, mesh server istio, the gateway",
        " as istio sets it, 2 workers ",
        // No cluster has to be there to know it.
        "`mesh: server`: nobody tells a gateway of others about the sidecars behind it",
    ] {
        assert!(page.contains(part), "no {part}: {page}");
    }
    assert!(!page.contains("mTLS, "), "{page}");
    let other = json(&["plan", "mesh-latency", "--testbed", file, "--context", "prod"]);
    let TestbedSpec::Kubernetes(spec) = plan_of(&other).testbed else { panic!("no cluster") };
    assert_eq!(spec.context.as_deref(), Some("prod"), "the command line's counts more");
    let sweep = words(&planned(&[
        "plan",
        "message-size-sweep",
        "--testbed",
        file,
        "--only",
        "path=host-bridge+runsc.same-node",
    ]));
    assert!(sweep.contains(" RuntimeClass sandbox, ") && !sweep.contains(" mesh istio"), "{sweep}");
    fs::write(file, "kubernetes: {pull-secret: registry}\n").expect("a file");
    let private =
        words(&planned(&["plan", "mesh-latency", "--testbed", file, "--namespace", "team"]));
    assert!(private.contains("(pull policy IfNotPresent, with the Secret registry)"), "{private}");
    let nowhere = ran(&["plan", "mesh-latency", "--testbed", file]);
    assert_eq!(nowhere.code, Some(2), "{}", nowhere.story());
    assert!(nowhere.stderr.contains("give `--namespace NAME`"), "{}", nowhere.story());
    fs::write(file, "kubernetes: {nodes: 3}\n").expect("a file");
    let wrong = ran(&["plan", "mesh-latency", "--testbed", file]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""), "{}", wrong.story());
    assert!(
        wrong.stderr.starts_with(&format!("hopbench: {file}:1:21: kubernetes.nodes: found `3`")),
        "{}",
        wrong.story()
    );
}

#[test]
fn wrong_testbeds_are_told() {
    let rows: &[(&[&str], &str)] = &[
        (&["plan", "quickstart", "--testbed", "kubernets"], "did you mean `kubernetes`?"),
        (
            &["run", "quickstart", "--testbed", "/no/such.yaml"],
            "--testbed: found `/no/such.yaml`, expected a file",
        ),
        (
            &["plan", "quickstart", "--testbed", "hosts"],
            "--testbed: found `hosts`, expected a scenario that says",
        ),
        (
            &["plan", "quickstart", "--context", "x"],
            "--context: found `x`, expected the testbed kubernetes",
        ),
        (&["run", "--resume", "x", "--testbed", "lab"], "--testbed"),
        (&["run", "--resume", "x", "--context", "y"], "--context"),
        (&["list", "networks", "--testbed", "kubernets"], "kubernetes"),
        (&["list", "netwroks"], "networks"),
        (&["doctor", "--testbed", "kubernets"], "did you mean `kubernetes`?"),
        (&["doctor", "--context", "x"], "--context: found `x`, expected the testbed kubernetes"),
        (&["kube"], "Usage: hopbench kube <COMMAND>"),
        (&["kube", "cleen"], "clean"),
        (&["kube", "image", "--tag", "a b"], "--tag: found `a b`"),
        (&["kube", "clean", "--run", "x", "--all"], "--all"),
    ];
    for (arguments, part) in rows {
        let run = ran(arguments);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (Some(2), ""),
            "{arguments:?}: {}",
            run.story()
        );
        assert!(run.stderr.contains(part), "{arguments:?}: no {part}: {}", run.story());
        assert!(
            run.stderr.matches("found `").count() <= 1,
            "one mistake, one problem: {}",
            run.story()
        );
    }
}

#[test]
fn words_are_listed_by_testbed() {
    let list = |arguments: &[&str]| {
        let run = ran(&[&["list"], arguments].concat());
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.story());
        run.stdout
    };
    let names = |list: &str| {
        let name = |line: &str| Some(line.strip_prefix("  ")?.split(' ').next()?.to_owned());
        list.lines().filter_map(name).collect::<Vec<_>>()
    };
    assert_eq!(names(&list(&["testbeds"])), ["lab", "kubernetes", "hosts"]);
    assert_eq!(
        names(&list(&["networks", "--testbed", "kubernetes"])),
        ["host", "pod", "bridge", "overlay", "ptp", "macvlan", "eni"]
    );
    assert_eq!(names(&list(&["networks", "--testbed", "hosts"])), ["host"]);
    assert_eq!(names(&list(&["runtimes", "--testbed", "lab"])), ["runsc"]);
    assert_eq!(names(&list(&["servers", "--testbed", "lab"])), ["nginx"]);
    assert_eq!(
        names(&list(&["providers"])),
        ["envoy", "istio", "istio-ambient", "linkerd", "cilium"]
    );
    assert!(names(&list(&["vias"])).contains(&"load-balancer".to_owned()));
    let all = list(&["networks"]);
    let headings: Vec<&str> = all.lines().filter(|line| line.ends_with(':')).collect();
    assert_eq!(headings, ["networks of lab:", "networks of kubernetes:", "networks of hosts:"]);
    let everything = list(&[]);
    assert!(
        everything.starts_with("workloads:\n")
            && everything.contains("\n\nruntimes of kubernetes:\n"),
        "{everything}"
    );
    assert!(!everything.contains("runtimes of hosts:"), "there are none: {everything}");
}

/// A run on a cluster is no lab: it enters no sandbox, whose `/run` would hide the results, and
/// leaves no folder where it could not begin.
#[test]
fn a_run_on_a_cluster_that_cannot_be_reached() {
    let dir = tempfile::tempdir().expect("a folder");
    let results = dir.path().join("results");
    let out = results.to_str().expect("a path");
    for out in [out, "/run/hopbench-no-such-folder"] {
        let run = ran(&["run", "quickstart", "--testbed", "kubernetes", "--out", out]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""), "{}", run.story());
        assert!(run.stderr.contains("/no/such/kubeconfig"), "{}", run.story());
        assert!(!run.stderr.contains("is lost there"), "{}", run.story());
        assert!(!std::path::Path::new(out).exists(), "{out}");
    }
    let lab =
        ran(&["run", "quickstart", "--testbed", "lab", "--out", "/run/hopbench-no-such-folder"]);
    assert!(lab.code == Some(2) && lab.stderr.contains("is lost there"), "{}", lab.story());
}

#[test]
fn a_run_on_a_cluster_is_resumed_there() {
    let dir = tempfile::tempdir().expect("a folder");
    let results = dir.path().join("results");
    let plan =
        plan_of(&json(&["plan", "mesh-latency", "--testbed", "kubernetes", "--context", "then"]));
    let ours = hopbench_agent::hello();
    let made = new_run(plan, "as it was written".to_owned(), &ours).expect("a run");
    drop(Folder::create(&results, made).expect("a folder"));
    let run = ran(&["run", "--resume", results.to_str().expect("a path"), "--resume-anyway"]);
    assert_eq!(run.code, Some(3), "{}", run.story());
    assert!(run.stderr.contains("/no/such/kubeconfig"), "{}", run.story());
    let (kept, _) = open(&results).expect("the run");
    let TestbedSpec::Kubernetes(spec) = kept.plan.testbed else { panic!("no cluster") };
    assert_eq!((spec.context.as_deref(), kept.plan.cells.len()), (Some("then"), 30));
}

#[test]
fn what_a_cluster_needs_before_a_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("image.tar");
    let written = ran(&[
        "kube",
        "image",
        "-o",
        file.to_str().expect("a path"),
        "--tag",
        "tools/hopbench:dev",
    ]);
    assert_eq!(written.code, Some(0), "{}", written.story());
    assert!(written.stdout.starts_with("tools/hopbench:dev for "), "{}", written.story());
    let archive = fs::read(&file).expect("the archive");
    let named = b"tools/hopbench:dev";
    assert!(archive.windows(named.len()).any(|part| part == named), "nothing in it is called so");
    assert!(archive.len() as u64 > fs::metadata(binary()).expect("the program").len() / 4);

    let rights = ran(&["kube", "manifests", "--name", "bench", "--account-namespace", "tools"]);
    assert_eq!((rights.code, rights.stderr.as_str()), (Some(0), ""), "{}", rights.story());
    for part in [
        "kind: ClusterRole\n",
        "name: bench, namespace: tools}",
        "resources: [pods]",
        "networkpolicies",
    ] {
        assert!(rights.stdout.contains(part), "no {part}: {}", rights.story());
    }
    let cron = ran(&["kube", "manifests", "-n", "team", "--cron", "0 3 * * *", "quickstart"]);
    assert_eq!(cron.code, Some(0), "{}", cron.story());
    for part in ["kind: Role\n", "kind: CronJob\n", "schedule: \"0 3 * * *\"", "name: quickstart"] {
        assert!(cron.stdout.contains(part), "no {part}: {}", cron.story());
    }
    assert!(cron.stderr.contains("nothing says which nodes a, b"), "{}", cron.story());
    assert!(cron.stderr.contains("every node must have it"), "{}", cron.story());
    let bed = dir.path().join("cluster.yaml");
    let named = "nodes: {a: {name: n1}, b: {name: n2}, c: {name: n3}}";
    let own = format!("kubernetes: {{image: 'registry.example/hopbench:1', {named}}}\n");
    fs::write(&bed, own).expect("a file");
    let bed = bed.to_str().expect("a path");
    let by_file = ["kube", "manifests", "-n", "team", "--cron", "0 3 * * *", "--testbed", bed];
    let by_file = ran(&[&by_file[..], &["quickstart"]].concat());
    assert_eq!((by_file.code, by_file.stderr.as_str()), (Some(0), ""), "{}", by_file.story());
    for part in [
        "  testbed.yaml: |2\n    kubernetes: {image: ",
        "image: \"registry.example/hopbench:1\"",
        "--testbed, /scenario/testbed.yaml, --namespace, team]",
    ] {
        assert!(by_file.stdout.contains(part), "no {part}: {}", by_file.story());
    }
    let odd = ran(&["kube", "manifests", "--cron", "daily", "quickstart"]);
    assert!(odd.code == Some(2) && odd.stderr.contains("five fields"), "{}", odd.story());
    let least = ran(&["kube", "manifests", "--least"]).stdout;
    assert!(least.contains("resources: [pods]") && !least.contains("networkpolicies"), "{least}");
}

#[test]
fn without_a_cluster_there_is_nothing_to_look_at() {
    let doctor = ran(&["doctor", "--testbed", "kubernetes"]);
    assert_eq!(doctor.code, Some(3), "{}", doctor.story());
    let page = words(&doctor.stdout);
    assert!(
        page.starts_with("cluster missing ") && page.contains("/no/such/kubeconfig"),
        "{}",
        doctor.story()
    );
    assert!(
        page.contains("-> ") && doctor.stdout.lines().all(|line| line.chars().count() <= 80),
        "{}",
        doctor.story()
    );
    let clean = ran(&["kube", "clean"]);
    assert_eq!((clean.code, clean.stdout.as_str()), (Some(3), ""), "{}", clean.story());
    assert!(clean.stderr.contains("/no/such/kubeconfig"), "{}", clean.story());
}
