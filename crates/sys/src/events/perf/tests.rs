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
    let lost = [1u64.to_ne_bytes(), 12u64.to_ne_bytes()].concat();
    let bytes = [record(9, &sample), record(2, &lost), record(5, &[0; 24])].concat();
    let all: Vec<Record<'_>> = Records::of(&bytes).collect();
    let [Record::Sample(first), Record::Lost(12), Record::Other] = &all[..] else {
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
    let good = [record(9, &body(&[IN_KERNEL, 1, IN_USER, 2], 4)), record(2, &[1; 16])].concat();
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

/// Samples of a thread of this process that spins for a moment; `None` where the kernel forbids it.
fn sampled(open: impl FnOnce(u32) -> io::Result<Sampler>) -> Option<Vec<(u32, u64, bool)>> {
    let (thread, over) = (AtomicU32::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: it takes nothing and cannot fail.
            thread.store(unsafe { libc::gettid() } as u32, Ordering::SeqCst);
            black_box(spin(&over));
        });
        while thread.load(Ordering::SeqCst) == 0 {
            std::hint::spin_loop();
        }
        let id = thread.load(Ordering::SeqCst);
        let opened = open(id);
        let samples = opened.map(|mut sampler| {
            let (mut samples, until) = (Vec::new(), clock::now() + 300_000_000);
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
            while clock::now() < until {
                clock::sleep_until(clock::now() + 20_000_000);
                take(&mut sampler);
            }
            take(&mut sampler);
            let ended = clock::now();
            let of_thread: Vec<_> = samples.into_iter().filter(|(tid, ..)| *tid == id).collect();
            let late =
                of_thread.iter().filter(|(_, at, _)| *at > ended || *at + 100_000_000 < began);
            assert_eq!(late.count(), 0, "times are those of the clock");
            of_thread
        });
        over.store(true, Ordering::Relaxed);
        match samples {
            Ok(samples) => Some(samples),
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
    })
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
