//! The limits of the machine for profiles: its CPUs, and the samples a second of each.

use std::{fs, io};

use hopbench_model::CpuSet;
use hopbench_sys::cpu;

/// Samples of a second of CPU time: a prime, so that nothing periodic is always met or missed.
pub const SAMPLES_PER_CPU_S: u64 = 997;

/// The CPUs that are online.
const ONLINE: &str = "/sys/devices/system/cpu/online";
/// The most samples a second that the kernel allows.
const MOST_PER_S: &str = "/proc/sys/kernel/perf_event_max_sample_rate";

/// The CPUs that code may run on.
pub(super) fn cpus() -> io::Result<Vec<usize>> {
    let online = fs::read_to_string(ONLINE).ok();
    let online = online.and_then(|text| text.trim().parse::<CpuSet>().ok());
    match online {
        Some(CpuSet(cpus)) if !cpus.is_empty() => Ok(cpus),
        _ => cpu::allowed(),
    }
}

/// As many samples as are wanted, or as the kernel allows.
pub(super) fn samples_per_cpu_s() -> u64 {
    let most = fs::read_to_string(MOST_PER_S).ok().and_then(|text| text.trim().parse().ok());
    most.map_or(SAMPLES_PER_CPU_S, |most: u64| SAMPLES_PER_CPU_S.min(most.max(1)))
}
