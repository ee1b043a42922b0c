//! The overhead of a trial beside its warm-up and its window.

use crate::rig::{Agent, MS, TestTrial, job, params};

/// A path that is healthy needs some milliseconds to open and to close. The bound is far above
/// that, and below what any timer that is waited out would cost: machines that run tests are busy.
const MOST_NS: u64 = 100 * MS;

#[test]
fn opening_and_closing_take_a_few_milliseconds() {
    let (mut client, mut server) = (Agent::start(), Agent::start());
    let mut slow = Vec::new();
    for (run, name) in
        ["stream", "push", "rr", "rr-udp", "crr", "udp", "ping", "http"].into_iter().enumerate()
    {
        let workload = name.trim_end_matches("-udp");
        let trial = TestTrial::new(job(workload, params(name, server.address), 4), server.address);
        // The fastest of three: what a timer costs it costs every time.
        let times: Vec<(u64, u64)> = (0..3)
            .map(|n| trial.run((3 * run + n) as u32, &mut [&mut client], &mut [&mut server]))
            .map(|outcome| (outcome.opening_ns, outcome.closing_ns))
            .collect();
        if times.iter().all(|(opening, closing)| opening + closing > MOST_NS) {
            slow.push(format!("{name}: opening and closing {times:?} ns"));
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
    assert_eq!(client.bye(), Ok(()));
    assert_eq!(server.bye(), Ok(()));
}
