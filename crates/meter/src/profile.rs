//! Profiles: the call stacks of the processes of a path, and of the kernel that serves them.
//!
//! ```text
//!   Access: what the kernel allows ─► Profiler::open ─► read, read ... ─► finish ─► Profile
//! ```
//!
//! A stack begins with its owner: the name of a one, or [`SOFTIRQ`]. The kernel works off
//! arrived packets in softirqs, on top of whatever it interrupted. So all frames of a softirq stand
//! below that root, whoever was interrupted. Names of the kernel's functions end in
//! [`KERNEL_MARK`](hopbench_model::KERNEL_MARK).
//!
//! - [`Access`]: what the kernel allows; [`Lack`]: what it does not, and what to do about it;
//! - `profiler`: the samples of a window; `fold`: samples with names to stacks;
//! - `symbols`: names of addresses, from `kallsyms`, `maps` and `elf`; `mangled`: names for people.

mod access;
mod elf;
mod fold;
mod kallsyms;
mod machine;
mod mangled;
mod maps;
mod profiler;
mod symbols;

pub use access::{Access, Lack};
pub use fold::{Profile, SOFTIRQ, Watched};
pub use machine::SAMPLES_PER_CPU_S;
pub use profiler::Profiler;
pub use symbols::has_kernel_names;
