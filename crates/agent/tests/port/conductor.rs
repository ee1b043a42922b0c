//! The bounds of a conductor that has the token and no manners.

use crate::session::{Conductor, job, prepare, server};
use hopbench_agent::Limits;
use hopbench_model::{FaultKind, Job, SECOND, Timing};
use hopbench_wire::{FromAgent, Role, ToAgent};
use serde_json::json;

#[test]
fn an_agent_behind_a_port_opens_no_connections() {
    let server = server(Limits::default());
    let mut conductor = Conductor::of(&server);
    let job = Job {
        workload: "http".to_owned(),
        params: json!({"url": "http://127.0.0.1:9/"}).into(),
        ..job()
    };
    conductor.send(&prepare(Role::Client, job));
    let (kind, text) = conductor.refusal(5);
    assert_eq!(kind, FaultKind::Environment);
    assert!(text.contains("only serves"), "{text}");
}

#[test]
fn absurd_times_are_refused_and_the_session_lives_on() {
    let server = server(Limits::default());
    let mut conductor = Conductor::of(&server);
    for (interval_ns, timeout_ns, window_ns) in [
        (u64::MAX, SECOND, SECOND),
        (SECOND, u64::MAX, SECOND),
        (1_000_000, SECOND, 3600 * SECOND),
        (SECOND, SECOND, u64::MAX),
    ] {
        let timing = Timing { warmup_ns: 0, window_ns, interval_ns, timeout_ns };
        conductor.send(&prepare(Role::Server, Job { timing, ..job() }));
        assert_eq!(conductor.refusal(5).0, FaultKind::Input);
    }
    conductor.send(&prepare(Role::Server, job()));
    assert!(matches!(conductor.answer(5), Some(FromAgent::Ready { .. })));
    conductor.send(&ToAgent::Start { window_start_ns: u64::MAX });
    assert_eq!(conductor.refusal(5).0, FaultKind::Input);
}

#[test]
fn a_trial_that_is_finished_before_its_start_ends_with_one_word() {
    let server = server(Limits::default());
    let mut conductor = Conductor::of(&server);
    for _ in 0..2 {
        conductor.send(&prepare(Role::Server, job()));
        assert!(matches!(conductor.answer(5), Some(FromAgent::Ready { .. })));
        conductor.send(&ToAgent::Finish);
        conductor.refusal(5);
        // The same in one breath: `Ready` may or may not have been on its way.
        conductor.send(&prepare(Role::Server, job()));
        conductor.send(&ToAgent::Finish);
        match conductor.answer(5) {
            Some(FromAgent::Ready { .. }) => drop(conductor.refusal(5)),
            Some(FromAgent::Failed { .. }) => {}
            other => panic!("expected an end, got {other:?}"),
        }
    }
}

#[test]
fn limits_bind_who_has_the_token() {
    let limits = Limits { flows: Some(4), duration_ns: Some(2 * SECOND), ..Limits::default() };
    let server = server(limits);
    let mut conductor = Conductor::of(&server);
    conductor.send(&prepare(Role::Server, Job { connections: 5, ..job() }));
    let (kind, text) = conductor.refusal(5);
    assert!(
        kind == FaultKind::Environment && text.contains("4 flows") && text.contains("--max-flows"),
        "{text}"
    );
    let timing = Timing { warmup_ns: SECOND, window_ns: 3 * SECOND / 2, ..job().timing };
    conductor.send(&prepare(Role::Server, Job { timing, ..job() }));
    let (kind, text) = conductor.refusal(5);
    assert!(kind == FaultKind::Environment && text.contains("--max-duration"), "{text}");
}
