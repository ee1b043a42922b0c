//! The samples of a window.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::ops::Range;

use hopbench_model::Nanos;
use hopbench_sys::limits;
use hopbench_sys::perf::{Record, Sampler, Sampling};

use super::access::Access;
use super::fold::{Profile, Taken, Watched, fold};
use super::machine::{cpus, samples_per_cpu_s};
use super::symbols::Symbols;

/// Frames that are kept, at most: about 64 MiB. Samples beyond them are lost.
const MOST_FRAMES: usize = 4 << 20;
/// Open files that this process needs beside the events.
const OTHER_FILES: u64 = 4096;
/// A millisecond, ns.
const MILLISECOND: Nanos = 1_000_000;

/// Takes samples of some processes, from when it is opened until it is finished.
#[derive(Debug)]
pub struct Profiler {
    sampler: Sampler,
    watched: Vec<Watched>,
    samples_per_cpu_s: u64,
    samples: Vec<Taken>,
    frames: usize,
    lost: Tally,
    throttled: Tally,
}

impl Profiler {
    /// Begins with samples, as far as the kernel allows it. Threads that they start later
    /// are seen, too.
    ///
    /// # Errors
    /// What the kernel refuses, in words.
    pub fn open(watched: Vec<Watched>, access: Access) -> Result<Self, String> {
        let samples_per_cpu_s = samples_per_cpu_s();
        let sampling = Sampling { per_s: samples_per_cpu_s, kernel: access.has_kernel() };
        let cpus = cpus().map_err(|error| format!("the CPUs are not known: {error}"))?;
        let opened = if access == Access::Machine {
            Sampler::of_cpus(&cpus, sampling)
        } else {
            let threads: Vec<u32> =
                watched.iter().flat_map(|one| &one.pids).flat_map(|pid| threads(*pid)).collect();
            let events = (threads.len() * cpus.len()) as u64;
            // Where the limit cannot be had, opening says so.
            let _ = limits::raise_open_files(events + OTHER_FILES);
            Sampler::of_threads(&threads, &cpus, sampling)
        };
        let sampler = opened.map_err(|error| format!("perf_event_open fails: {error}"))?;
        Ok(Self {
            sampler,
            watched,
            samples_per_cpu_s,
            samples: Vec::new(),
            frames: 0,
            lost: Tally::default(),
            throttled: Tally::default(),
        })
    }

    /// Samples of a second of CPU time.
    pub fn samples_per_cpu_s(&self) -> u64 {
        self.samples_per_cpu_s
    }

    /// Takes what was noted so far. It has to be called some times a second, before the kernel's
    /// memory for it is full.
    pub fn read(&mut self) {
        let Self { sampler, samples, frames, lost, throttled, .. } = self;
        sampler.read(|record| match record {
            Record::Sample(sample) if *frames < MOST_FRAMES => {
                let chain: Box<[_]> = sample.chain.frames().collect();
                *frames += chain.len();
                samples.push(Taken { pid: sample.pid, time_ns: sample.time_ns, frames: chain });
            }
            Record::Sample(sample) => lost.add(sample.time_ns, 1),
            Record::Lost { count, time_ns } => lost.add(time_ns, count),
            Record::Throttled { time_ns } => throttled.add(time_ns, 1),
            Record::Other => {}
        });
    }

    /// Ends it. The stacks of a window, times of the monotonic clock in ns. Their processes
    /// should still be there: they are asked for their programs.
    pub fn finish(mut self, window: Range<Nanos>) -> Profile {
        self.read();
        let Self { sampler, watched, samples, lost, throttled, .. } = self;
        drop(sampler);
        let within = || samples.iter().filter(|sample| window.contains(&sample.time_ns));
        let known = |pid: u32| watched.iter().any(|one| one.pids.contains(&pid));
        let has_kernel = |sample: &&Taken| sample.frames.iter().any(|frame| frame.is_kernel);
        // Nobody asks for names of programs that are left out.
        let named = within().filter(|one| known(one.pid) || has_kernel(one));
        let symbols = Symbols::of(named, &programs(&watched));
        let folded =
            fold(within(), &watched, |pid, frame, is_first| symbols.name(pid, frame, is_first));
        let is_seen = within().any(|sample| has_kernel(&sample));
        let has_kernel_names = symbols.has_kernel() || !is_seen;
        let innermost: BTreeSet<&str> =
            folded.folded.stacks().filter_map(|(stack, _)| stack.rsplit(';').next()).collect();
        let mut libraries = symbols.into_libraries();
        libraries.retain(|function, _| innermost.contains(function.as_str()));
        Profile {
            libraries,
            lost_samples: lost.within(&window),
            throttled: throttled.within(&window),
            has_kernel_names,
            ..folded
        }
    }
}

/// Counts by the millisecond: so they need little memory, however many there are.
#[derive(Debug, Default)]
struct Tally(BTreeMap<Nanos, u64>);

impl Tally {
    fn add(&mut self, time_ns: Nanos, count: u64) {
        let known = self.0.entry(time_ns / MILLISECOND).or_default();
        *known = known.saturating_add(count);
    }

    /// All of a window.
    fn within(&self, window: &Range<Nanos>) -> u64 {
        let counts = self.0.iter().filter(|(at, _)| window.contains(&(**at * MILLISECOND)));
        counts.fold(0u64, |sum, (_, count)| sum.saturating_add(*count))
    }
}

/// What the own programs of processes are called, where that is not the name of the file.
fn programs(watched: &[Watched]) -> HashMap<u32, &str> {
    let mut programs = HashMap::new();
    for one in watched {
        if let Some(program) = one.program.as_deref() {
            programs.extend(one.pids.iter().map(|pid| (*pid, program)));
        }
    }
    programs
}

/// The threads that a process has now.
fn threads(pid: u32) -> Vec<u32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_missed_counts_in_the_window_only() {
        let mut tally = Tally::default();
        for (at_ms, count) in [(9, 1), (10, 2), (10, 3), (19, 4), (20, 5)] {
            tally.add(at_ms * MILLISECOND, count);
        }
        let within = |from: Nanos, to: Nanos| tally.within(&(from * MILLISECOND..to * MILLISECOND));
        assert_eq!((within(10, 20), within(0, 30), within(30, 40)), (9, 15, 0));
        // A count that makes no sense is no panic.
        tally.add(u64::MAX, u64::MAX);
        tally.add(u64::MAX, 1);
        assert_eq!(tally.within(&(0..u64::MAX)), u64::MAX);
    }

    #[test]
    fn every_process_of_a_named_program_is_called_so_and_no_other() {
        let one = |pids: &[u32], program: Option<&str>| {
            let (name, program) = ("x".to_owned(), program.map(str::to_owned));
            Watched { name, program, pids: pids.to_vec() }
        };
        let watched = [one(&[1], None), one(&[2, 3], Some("envoy")), one(&[4], Some("nginx"))];
        let expected = HashMap::from([(2, "envoy"), (3, "envoy"), (4, "nginx")]);
        assert_eq!(programs(&watched), expected);
    }
}
