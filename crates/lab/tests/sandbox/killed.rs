//! SIGKILL at any moment, to any of the three processes.

use super::program::{Started, User};
use super::{pause, tree};

#[derive(Debug, Clone, Copy)]
enum Victim {
    Outer,
    Init,
    Inner,
}

/// Moments for each victim.
const MOMENTS: u64 = 12;
/// Moments are spread over this, ms: building takes about as long.
const SPREAD_MS: u64 = 120;
/// By then all must be gone; the program would stay for a minute.
const PATIENCE_NS: u64 = 20_000_000_000;

pub(crate) fn at_any_moment(user: &User) {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let mut built = 0;
    for victim in [Victim::Outer, Victim::Init, Victim::Inner] {
        for moment in 0..MOMENTS {
            // Spread evenly, out of order, and never twice at the same millisecond; the last one,
            // when all stands.
            let wait = (moment + 1 < MOMENTS).then_some(moment * 53 % SPREAD_MS);
            built += usize::from(kill(user, victim, wait));
        }
    }
    assert!(built >= 3, "moments after the end of the building: {built}");
    assert_eq!(mounts, std::fs::read_to_string("/proc/self/mountinfo").expect("mounts"));
}

/// Kills after `wait` ms, or when all is built; whether it was.
fn kill(user: &User, victim: Victim, wait: Option<u64>) -> bool {
    let mut started = Started::script(user, "build");
    let token = started.token().to_owned();
    let mut before = String::new();
    match wait {
        Some(ms) => pause(ms),
        None => {
            started.wait_for("built");
            before = "built".to_owned();
            assert!(
                tree::with_token(&token).len() >= 11,
                "outer, init, inner, and eight in the lab"
            );
        }
    }
    let outer = started.pid();
    // Early on there may be the outer process only.
    let init = || tree::child_of(outer);
    let pid = match victim {
        Victim::Outer => Some(outer),
        Victim::Init => init(),
        Victim::Inner => init().and_then(tree::child_of),
    };
    tree::signal(pid.unwrap_or(outer), "KILL");
    // The end of its output comes when nobody is left who could write: a process that stays makes
    // this wait.
    let killed = hopbench_sys::clock::now();
    let done = started.finish();
    let took_ns = hopbench_sys::clock::now() - killed;
    let at = || format!("{victim:?} after {wait:?} ms: {:?} {}{}", done.code, done.out, done.err);
    let by_kill =
        if matches!(victim, Victim::Outer) || pid.is_none() { None } else { Some(128 + 9) };
    // A start that was killed on its way is an error of the environment.
    assert!(done.code == by_kill || done.code == Some(3), "{}", at());

    assert!(took_ns < PATIENCE_NS, "{}: someone stayed for {took_ns} ns", at());
    let gone = |left: &dyn Fn() -> Vec<u32>| {
        let ended = (0..250).any(|_| {
            let nobody = left().is_empty();
            if !nobody {
                pause(20);
            }
            nobody
        });
        assert!(ended, "{}: {:?} are left", at(), left());
    };
    gone(&|| tree::with_token(&token));
    for space in done.out.lines().filter(|line| line.starts_with("net:")) {
        gone(&|| tree::holders_of(space));
    }
    before == "built" || done.out.contains("built")
}
