//! `struct perf_event_attr` of linux/perf_event.h, as far as samples of a software clock need it.

/// `PERF_TYPE_SOFTWARE`.
const SOFTWARE: u32 = 1;
/// `PERF_COUNT_SW_CPU_CLOCK` and `PERF_COUNT_SW_TASK_CLOCK`.
const CPU_CLOCK: u64 = 0;
const TASK_CLOCK: u64 = 1;
/// `PERF_SAMPLE_TID`, `_TIME`, `_CALLCHAIN` and `_CPU`: what stands in a sample, in this order but
/// for the chain, which comes last.
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const CALLCHAIN: u64 = 1 << 5;
const CPU: u64 = 1 << 7;
/// Bits of the flags.
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const FREQUENCY: u64 = 1 << 10;
/// Records that are no samples end with the thread, the time and the CPU, too.
const SAMPLE_ID_ALL: u64 = 1 << 18;
const EXCLUDE_CALLCHAIN_KERNEL: u64 = 1 << 21;
const USE_CLOCK: u64 = 1 << 25;

/// What is sampled, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// Samples of a second of CPU time.
    pub per_s: u64,
    /// Whether the kernel's part of a stack is wanted; without it, code in the kernel is not seen.
    pub kernel: bool,
}

/// The structure in its fifth version, which every kernel since 4.1 takes.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    /// Samples a second, as the flags say.
    frequency: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_registers_user: u64,
    sample_stack_user: u32,
    clock: i32,
    sample_registers_interrupt: u64,
    aux_watermark: u32,
    /// 0: as many frames as the kernel allows.
    most_frames: u16,
    reserved: u16,
}

impl Attributes {
    /// Of all that runs on a CPU.
    pub(super) fn of_cpus(sampling: Sampling) -> Self {
        Self::of(CPU_CLOCK, 0, sampling)
    }

    /// Of a thread and those that it starts.
    pub(super) fn of_threads(sampling: Sampling) -> Self {
        Self::of(TASK_CLOCK, INHERIT, sampling)
    }

    fn of(config: u64, flags: u64, sampling: Sampling) -> Self {
        let kernel = if sampling.kernel { 0 } else { EXCLUDE_KERNEL | EXCLUDE_CALLCHAIN_KERNEL };
        Self {
            kind: SOFTWARE,
            size: size_of::<Self>() as u32,
            config,
            frequency: sampling.per_s,
            sample_type: TID | TIME | CALLCHAIN | CPU,
            flags: flags | kernel | EXCLUDE_HYPERVISOR | FREQUENCY | SAMPLE_ID_ALL | USE_CLOCK,
            clock: libc::CLOCK_MONOTONIC,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn the_fields_stand_where_the_kernel_looks() {
        assert_eq!(size_of::<Attributes>(), 112, "PERF_ATTR_SIZE_VER5");
        let offsets = [
            offset_of!(Attributes, frequency),
            offset_of!(Attributes, sample_type),
            offset_of!(Attributes, flags),
            offset_of!(Attributes, clock),
            offset_of!(Attributes, most_frames),
        ];
        assert_eq!(offsets, [16, 24, 40, 92, 108]);
    }
}
