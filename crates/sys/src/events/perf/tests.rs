//! Tests of samples: the bytes of records, and a thread that is known to work.

use std::hint::black_box;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::*;
use crate::{clock, cpu};

/// A record of this type with this body.
fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + body.len()).unwrap();
    let header = [&kind.to_ne_bytes()[..], &2u16.to_ne_bytes(), &length.to_ne_bytes()];
    [&header.concat(), body].concat()
}

/// The body of a sample with these addresses, which says that it has `count`.
fn body(addresses: &[u64], count: u64) -> Vec<u8> {
    let words: Vec<u64> = std::iter::once(count).chain(addresses.iter().copied()).collect();
    let mut bytes = Vec::new();
    [7u32, 8].iter().for_each(|half| bytes.extend(half.to_ne_bytes()));
    bytes.extend(99u64.to_ne_bytes());
    [3u32, 0].iter().for_each(|half| bytes.extend(half.to_ne_bytes()));
    words.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes
}

const IN_KERNEL: u64 = -128i64 as u64;
const IN_USER: u64 = -512i64 as u64;

#[test]
fn records_are_read_one_after_the_other() {
    let sample = body(&[IN_KERNEL, u64::MAX - 9000, 5, IN_USER, 6, u64::MAX - 8000], 6);
    let of_words =
        |words: &[u64]| -> Vec<u8> { words.iter().flat_map(|word| word.to_ne_bytes()).collect() };
    // The event, their number; thread, time and CPU.
    let lost = of_words(&[1, 12, 8, 77, 3]);
    let throttled = of_words(&[55, 1, 1, 8, 55, 3]);
    let bytes = [
        record(9, &sample),
        record(2, &lost),
        record(5, &throttled),
        record(6, &throttled),
        record(2, &lost[..16]),
    ];
    let bytes = bytes.concat();
    let all: Vec<Record<'_>> = Records::of(&bytes).collect();
    let [
        Record::Sample(first),
        Record::Lost { count: 12, time_ns: 77 },
        Record::Throttled { time_ns: 55 },
        Record::Other,
        Record::Other,
    ] = &all[..]
    else {
        panic!("{all:?}");
    };
    assert_eq!((first.pid, first.tid, first.time_ns, first.cpu), (7, 8, 99, 3));
    let frames: Vec<(u64, bool)> =
        first.chain.frames().map(|frame| (frame.address, frame.is_kernel)).collect();
    let expected = [(u64::MAX - 9000, true), (5, true), (6, false), (u64::MAX - 8000, false)];
    assert_eq!(frames, expected, "the marks say whose they are");
}

#[test]
fn a_chain_without_marks_is_told_by_its_addresses() {
    let bytes = record(9, &body(&[5, 1 << 63], 2));
    let Some(Record::Sample(sample)) = Records::of(&bytes).next() else { panic!("no sample") };
    assert_eq!(sample.chain.frames().map(|f| f.is_kernel).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn what_does_not_fit_is_left_out() {
    for count in [3, u64::MAX, u64::MAX / 8 + 2] {
        let bytes = record(9, &body(&[5, 6], count));
        assert_eq!(Records::of(&bytes).collect::<Vec<_>>(), [Record::Other], "{count} addresses");
    }
    let good = record(9, &body(&[5], 1));
    // A length of 0 would never end, a long one leads behind the end.
    for length in [0u16, 7, u16::MAX] {
        let mut bytes = good.clone();
        bytes[6..8].copy_from_slice(&length.to_ne_bytes());
        assert_eq!(Records::of(&bytes).count(), 0, "length {length}");
    }
}

/// Every part of good records, and good records with any byte changed, are read without a panic,
/// and never to more records than bytes allow.
#[test]
fn no_bytes_lead_astray() {
    let good = [
        record(9, &body(&[IN_KERNEL, 1, IN_USER, 2], 4)),
        record(2, &[1; 40]),
        record(5, &[1; 48]),
    ];
    let good = good.concat();
    let walk = |bytes: &[u8]| {
        let mut frames = 0;
        for record in Records::of(bytes) {
            if let Record::Sample(sample) = record {
                frames += sample.chain.frames().count();
            }
        }
        assert!(Records::of(bytes).count() * 8 <= bytes.len() && frames * 8 <= bytes.len());
    };
    (0..=good.len()).for_each(|end| walk(&good[..end]));
    for at in 0..good.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[at] = value;
            walk(&bytes);
        }
    }
    // Random bytes, from a fixed seed.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for length in 0..2000 {
        let next = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        walk(&(0..length % 200).map(next).collect::<Vec<u8>>());
    }
}

/// The address range of this function is where the thread of the tests spends its time.
#[inline(never)]
fn spin(over: &AtomicBool) -> u64 {
    let mut sum = 0u64;
    while !over.load(Ordering::Relaxed) {
        (0..1000u64).for_each(|n| sum = black_box(sum.wrapping_mul(31) ^ n));
    }
    sum
}

/// What `watch` makes of the samples of a thread of this process that spins meanwhile, with the
/// thread; `None` where the kernel forbids it.
fn beside_work<T>(
    open: impl FnOnce(u32) -> io::Result<Sampler>,
    watch: impl FnOnce(&mut Sampler) -> T,
) -> Option<(u32, T)> {
    let (thread, over) = (AtomicU32::new(0), AtomicBool::new(false));
    let (id, watched) = std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: it takes nothing and cannot fail.
            thread.store(unsafe { libc::gettid() } as u32, Ordering::SeqCst);
            black_box(spin(&over));
        });
        while thread.load(Ordering::SeqCst) == 0 {
            std::hint::spin_loop();
        }
        let id = thread.load(Ordering::SeqCst);
        let watched = open(id).map(|mut sampler| watch(&mut sampler));
        over.store(true, Ordering::Relaxed);
        (id, watched)
    });
    match watched {
        Ok(watched) => Some((id, watched)),
        Err(error) if forbidden(&error) => {
            assert_ne!(
                std::env::var("HOPBENCH_REQUIRE_PERF").as_deref(),
                Ok("1"),
                "perf_event_open: {error}"
            );
            let _ = writeln!(io::stderr(), "SKIP: the kernel forbids perf_event_open: {error}");
            None
        }
        Err(error) => panic!("perf_event_open: {error}"),
    }
}

/// Samples of a thread that spins for a moment: thread, time, whether it was in the kernel.
fn sampled(open: impl FnOnce(u32) -> io::Result<Sampler>) -> Option<Vec<(u32, u64, bool)>> {
    let (id, (samples, began, ended)) = beside_work(open, |sampler| {
        let mut samples = Vec::new();
        let mut take = |sampler: &mut Sampler| {
            sampler.read(|record| {
                if let Record::Sample(sample) = record
                    && let Some(frame) = sample.chain.frames().next()
                {
                    samples.push((sample.tid, sample.time_ns, frame.is_kernel));
                }
            });
        };
        let began = clock::now();
        while clock::now() < began + 300_000_000 {
            clock::sleep_until(clock::now() + 20_000_000);
            take(sampler);
        }
        take(sampler);
        (samples, began, clock::now())
    })?;
    let of_thread: Vec<_> = samples.into_iter().filter(|(tid, ..)| *tid == id).collect();
    let late = of_thread.iter().filter(|(_, at, _)| *at > ended || *at + 100_000_000 < began);
    assert_eq!(late.count(), 0, "times are those of the clock");
    Some(of_thread)
}

fn forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported)
        || matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::ENOENT))
}

#[test]
fn a_thread_that_spins_is_seen_at_work() {
    let cpus = cpu::allowed().unwrap();
    let sampling = Sampling { per_s: 997, kernel: false };
    let Some(samples) = sampled(|thread| Sampler::of_threads(&[thread], &cpus, sampling)) else {
        return;
    };
    // 300 at most; others may want the CPU.
    assert!((30..=400).contains(&samples.len()), "{} samples", samples.len());
    assert!(samples.iter().all(|(.., is_kernel)| !is_kernel), "the kernel was left out");
}

#[test]
fn all_that_runs_on_the_cpus_is_seen() {
    let cpus = cpu::allowed().unwrap();
    let sampling = Sampling { per_s: 997, kernel: true };
    let Some(samples) = sampled(|_| Sampler::of_cpus(&cpus, sampling)) else {
        return;
    };
    assert!((30..=400).contains(&samples.len()), "{} samples", samples.len());
}

#[test]
fn what_finds_no_room_is_told_with_its_time() {
    let cpus = cpu::allowed().unwrap();
    let most = std::fs::read_to_string("/proc/sys/kernel/perf_event_max_sample_rate");
    let most: u64 = most.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(1000);
    let sampling = Sampling { per_s: most.min(20_000), kernel: false };
    let began = clock::now();
    let open = |thread| Sampler::of_threads(&[thread], &cpus, sampling);
    let watched = beside_work(open, |sampler| {
        let mut lost: Vec<(u64, u64)> = Vec::new();
        for unread_ms in [200, 400, 800, 1600, 3200] {
            // The gap is told with the next record that finds room.
            for pause_ms in [unread_ms, 50] {
                clock::sleep_until(clock::now() + pause_ms * 1_000_000);
                sampler.read(|record| {
                    if let Record::Lost { count, time_ns } = record {
                        lost.push((count, time_ns));
                    }
                });
            }
            if !lost.is_empty() {
                break;
            }
        }
        lost
    });
    let Some((_, lost)) = watched else { return };
    let ended = clock::now();
    assert!(lost.iter().map(|(count, _)| count).sum::<u64>() > 0, "the rings never overflowed");
    assert!(lost.iter().all(|(_, at)| (began..=ended).contains(at)), "{began}, {ended}: {lost:?}");
}

#[test]
fn a_thread_that_is_gone_is_no_event() {
    let gone = std::thread::spawn(|| {
        // SAFETY: it takes nothing and cannot fail.
        unsafe { libc::gettid() as u32 }
    });
    let gone = gone.join().unwrap();
    let sampling = Sampling { per_s: 997, kernel: false };
    let opened = Sampler::of_threads(&[gone], &[0], sampling);
    assert!(opened.is_err(), "there is no such thread");
}
