//! Tests of the timer of the epoll engine and of the end of its waits.

use super::*;
use crate::engines::tests::setup;

const MS: Nanos = 1_000_000;

/// Each time of a schedule has waits that answers end, and one that ends in time.
#[test]
fn answers_between_the_times_of_a_schedule_do_not_set_the_timer() {
    let setup = setup(false);
    let mut engine = EpollEngine::new(&setup).unwrap();
    let mut ready = Vec::new();
    for _ in 0..50 {
        let until = clock::now() + MS;
        for _ in 0..3 {
            setup.waker.wake();
            engine.wait(until, &mut ready).unwrap();
            assert_eq!(engine.alarm.armed, Nanos::MAX, "after an answer");
        }
        while clock::now() < until {
            engine.wait(until, &mut ready).unwrap();
            assert_eq!(engine.alarm.armed, Nanos::MAX, "after a time");
        }
    }
}

/// Whether it is a timeout that ends them or the timer, which a time with many answers sets.
#[test]
fn waits_end_in_time_and_do_not_spin() {
    let setup = setup(false);
    let mut engine = EpollEngine::new(&setup).unwrap();
    let mut ready = Vec::new();
    for (answers, ns) in [(0, 300_000), (1, 3 * MS), (20, 20 * MS), (0, 300_000), (20, 20 * MS)] {
        let until = clock::now() + ns;
        for _ in 0..answers {
            setup.waker.wake();
            engine.wait(until, &mut ready).unwrap();
        }
        let mut waits = 0;
        while clock::now() < until {
            engine.wait(until, &mut ready).unwrap();
            waits += 1;
        }
        assert!(waits <= 4, "{waits} waits of {ns} ns");
    }
    assert!(ready.is_empty());
}
