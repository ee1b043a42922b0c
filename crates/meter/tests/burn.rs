//! CPU time of a process against what the scheduler says of the thread that spent it.
//!
//! Alone in its binary: whatever else ran in this process would be counted too.

use std::fs;
use std::hint::black_box;

use hopbench_meter::{METERS, MeteredProcess, delta};
use hopbench_model::Reading;
use hopbench_sys::clock;

const BURN_NS: u64 = 200_000_000;

/// User and system time are each cut to a clock tick of 10 ms at both edges.
const TICKS_S: f64 = 0.04;

/// CPU time of the calling thread, ns.
fn thread_run_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("a kernel with schedstat");
    let (run_ns, _) = text.split_once(' ').expect("three numbers");
    run_ns.parse().expect("a number")
}

fn burn() -> u64 {
    let began = thread_run_ns();
    loop {
        let mut x = 1u64;
        for n in 0..100_000 {
            x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(n));
        }
        let spent = thread_run_ns() - began;
        if spent >= BURN_NS {
            return spent;
        }
    }
}

#[test]
fn process_time_grows_by_what_was_burnt() {
    let meter = METERS.iter().find(|meter| meter.name == "process").unwrap();
    let mut read = (meter.open)(&MeteredProcess::itself()).unwrap();
    let (mut start, mut end) = (Reading::new(), Reading::new());

    let began_ns = clock::now();
    read(&mut start).unwrap();
    // The thread ends before the second reading: its time must not be lost with it.
    let burnt_s = std::thread::spawn(burn).join().unwrap() as f64 / 1e9;
    read(&mut end).unwrap();
    let wall_s = (clock::now() - began_ns) as f64 / 1e9;

    let window = delta::window(&start, &end);
    let spent_s = window["user_s"] + window["system_s"];
    assert!((spent_s - burnt_s).abs() <= TICKS_S, "{spent_s} s were read, {burnt_s} s were burnt");
    assert!(window["user_s"] >= 0.5 * burnt_s, "arithmetic is user time: {window:?}");
    let threads = window["threads"] + 1.0;
    assert!(
        spent_s <= wall_s * threads + TICKS_S,
        "{spent_s} s in {wall_s} s of {threads} threads"
    );
}
