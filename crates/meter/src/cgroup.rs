//! Control groups: the CPU quotas of a process, how long they stopped it, and the processes of a
//! container.

pub mod container;
mod hierarchy;
mod quota;

pub(crate) use hierarchy::cpu_limit_cores;
pub use quota::CpuQuota;
