//! `serve` with limits: what arrives is never more than they say, and the record tells that they
//! were met.
//!
//! A ceiling is a ratio that holds on a slow machine: it may be missed from below, never from
//! above.

use hopbench_model::{Record, WarningKind};

use crate::lab::program::{Running, run};
use crate::lab::records::{metric, one, printed};
use crate::lab::wait::{S, until};
use crate::lab::{Agent, Relay, Turn, program};

/// The ceiling, bits a second, and as a flag.
const CEILING: f64 = 50e6;
const MAX_RATE: &str = "50Mbit";
/// What one write and the allowance of 2 ms may add in a window of 3 s.
const BURST: f64 = 1.1;

fn says_limited(record: &Record, by: &str) -> bool {
    record.warnings.iter().any(|w| w.kind == WarningKind::Limited && w.detail.contains(by))
}

/// Asks for several times the ceiling, and checks what arrives.
#[track_caller]
fn is_held(agent: &Agent, flags: &[&str], arrived: &[&str]) {
    let (workload, flags) = flags.split_first().expect("a workload");
    let target = if *workload == "http" {
        format!("http://{}{}", agent.target(), flags[0])
    } else {
        agent.target()
    };
    let flags = if *workload == "http" { &flags[1..] } else { flags };
    let mut command = program(&[workload, target.as_str(), "--json", "-t", "3s", "--warmup", "1s"]);
    if *workload != "http" {
        command.arg("--insecure");
    }
    let done = run(command.args(flags));
    assert_eq!(done.code, Some(0), "{}", done.story());
    let record = printed(&done).remove(0);
    let rate: f64 = arrived.iter().map(|name| metric(&record, name)).sum();
    assert!(rate <= BURST * CEILING, "{workload} {flags:?}: {:.1} Mbit/s arrived", rate / 1e6);
    // Far below what was asked for, and yet most of what is allowed.
    assert!(rate >= 0.5 * CEILING, "{workload} {flags:?}: only {:.1} Mbit/s arrived", rate / 1e6);
    if *workload != "http" {
        assert!(says_limited(&record, "--max-rate"), "{workload} {flags:?}: {:?}", record.warnings);
        // On a machine that is busy otherwise it may not come up to it.
        if rate >= 0.9 * CEILING {
            let because = &record.limited_because;
            assert_eq!(record.limited_by, "agent_limit", "{workload} {flags:?}: {because}");
        }
    }
}

#[test]
fn a_ceiling_holds_whoever_sends() {
    let _turn = Turn::shared();
    let agent = Agent::insecure(&["--max-rate", MAX_RATE, "--http"]);
    let received = ["received_bits_per_s"];
    is_held(&agent, &["stream", "--direction", "from-server", "--rate", "500Mbit"], &received);
    is_held(
        &agent,
        &["stream", "--direction", "from-server", "-c", "4", "--engine", "threads"],
        &received,
    );
    is_held(&agent, &["stream", "--direction", "to-server", "--rate", "500Mbit"], &received);
    // 8 x 100 x 25 kB: 160 Mbit/s.
    is_held(&agent, &["push", "-c", "8", "--rate", "100", "--size", "25kB"], &received);
    is_held(&agent, &["udp", "--size", "1000", "--rate", "500Mbit"], &received);
    is_held(&agent, &["http", "/?size=100kB", "-c", "4"], &received);
}

/// Two clients at once share one ceiling.
#[test]
fn a_ceiling_is_the_agents_and_not_a_trials() {
    let _turn = Turn::shared();
    let agent = Agent::insecure(&["--max-rate", MAX_RATE]);
    let arguments =
        ["stream", &agent.target(), "--insecure", "--json", "-t", "3s", "--warmup", "1s"];
    let clients: Vec<_> = ["from-server", "to-server"]
        .map(|way| Running::start(program(&arguments).args(["--direction", way])))
        .into();
    let rates: Vec<f64> = clients
        .into_iter()
        .map(|client| {
            let record = one(&client.finish());
            assert!(says_limited(&record, "--max-rate"), "{:?}", record.warnings);
            metric(&record, "received_bits_per_s")
        })
        .collect();
    let both: f64 = rates.iter().sum();
    assert!((0.5 * CEILING..=BURST * CEILING).contains(&both), "{rates:?} bit/s");
}

#[test]
fn new_connections_that_follow_each_other_find_their_places_free() {
    let agent = Agent::insecure(&["--max-flows", "4"]);
    for engine in ["epoll", "uring", "threads"] {
        let arguments =
            ["crr", &agent.target(), "--insecure", "--json", "-t", "500ms", "--warmup", "50ms"];
        let record = one(&run(program(&arguments).args(["-c", "4", "--engine", engine])));
        assert!(metric(&record, "requests") > 20.0, "{:?}", record.metrics);
        assert_eq!(metric(&record, "errors"), 0.0, "{engine}: {:?}", record.errors);
        assert!(!record.metrics.contains_key("refused_flows"), "{engine}: {:?}", record.metrics);
    }
}

/// A client that goes away while the agent does not learn of it leaves a flow behind, which has one
/// of the places that the trial counts on.
#[test]
fn connections_that_find_no_place_are_failures_that_the_record_explains() {
    let agent = Agent::insecure(&["--max-flows", "2"]);
    let relay = Relay::to(agent.address());
    let target = relay.target();
    let crr = ["crr", &target, "--insecure", "--json", "-t", "2s", "--warmup", "200ms", "-c", "2"];
    let client = Running::start(&mut program(&crr));
    assert!(until(10 * S, || (relay.headers().len() > 20).then_some(())).is_some());
    relay.keep_next();
    let done = client.finish();
    assert_eq!(relay.kept(), 1, "{}", done.story());
    let record = one(&done);
    assert!(
        metric(&record, "refused_flows") > 0.0 && metric(&record, "errors") > 0.0,
        "{:?}",
        record.metrics
    );
    assert!(metric(&record, "requests") > 0.0, "one place was left: {:?}", record.metrics);
    assert!(says_limited(&record, "refused"), "{:?}", record.warnings);
    assert!(record.invariants.iter().all(|i| i.ok), "{:?}", record.invariants);
    // With the trial all of it was given back, also what is still open at the other end.
    let rr = ["rr", &target, "--insecure", "--json", "-t", "100ms", "--warmup", "20ms"];
    one(&run(program(&rr).args(["-c", "2"])));
    let refused = run(program(&rr).args(["-c", "3"]));
    assert!(
        refused.code == Some(3) && refused.stderr.contains("--max-flows"),
        "{}",
        refused.story()
    );
}
