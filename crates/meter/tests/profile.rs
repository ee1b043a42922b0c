//! A profile of a thread whose work is known.

use std::hint::black_box;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use hopbench_meter::profile::{Access, Profile, Profiler, Watched};
use hopbench_sys::clock;

/// How long is profiled, ns.
const WINDOW_NS: u64 = 500_000_000;
const READ_EVERY_NS: u64 = 20_000_000;

/// It calls next to nothing: without optimisation even an operator's method is a function.
#[inline(never)]
fn the_known_work(over: &AtomicBool) -> u64 {
    let mut sum = 0u64;
    while !over.load(Ordering::Relaxed) {
        let mut n = 0u64;
        while n < 100_000 {
            sum ^= n << 3;
            n += 1;
        }
        sum = black_box(sum);
    }
    sum
}

/// The kernel's answer; `None` where it forbids everything.
fn access() -> Option<Access> {
    match Access::now() {
        Ok(access) => Some(access),
        Err(why) => {
            let required = std::env::var("HOPBENCH_REQUIRE_PERF").is_ok_and(|value| value == "1");
            assert!(!required, "HOPBENCH_REQUIRE_PERF=1: {why}");
            let _ = writeln!(io::stderr(), "SKIP: {why}");
            None
        }
    }
}

/// A profile of this process while a thread of it works. The thread starts after the profiler.
fn profiled(access: Access) -> Profile {
    let pids = vec![std::process::id()];
    let one = Watched { name: "tests".to_owned(), program: None, pids };
    let mut profiler = Profiler::open(vec![one], access).expect("a profiler");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| black_box(the_known_work(&over)));
        let began = clock::now();
        let end = began + WINDOW_NS;
        while clock::now() < end {
            clock::sleep_until(clock::now() + READ_EVERY_NS);
            profiler.read();
        }
        over.store(true, Ordering::Relaxed);
        profiler.finish(began..end)
    })
}

#[test]
fn the_work_of_a_thread_is_found_by_its_name() {
    let Some(best) = access() else { return };
    // What more is allowed includes what less is.
    let all = [Access::Machine, Access::Threads, Access::Programs];
    for access in all.into_iter().skip_while(|access| *access != best) {
        let profile = profiled(access);
        let own = profile.folded.roots().get("tests").copied().unwrap_or_default();
        // 500 at most of the working thread; others may want the CPU.
        assert!((50..=1000).contains(&own), "{access:?}: {own} samples: {profile:?}");
        let known = profile.folded.stacks().filter(|(stack, _)| stack.contains("the_known_work"));
        let known: u64 = known.map(|(_, count)| count).sum();
        assert!(known * 10 >= own * 7, "{access:?}: {known} of {own}: {}", profile.folded.text());
        assert_eq!(profile.lost_samples, 0);
    }
}
