//! A caveat on a result.

use serde::{Deserialize, Serialize};

/// Something a reader must know before using a figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// What sort of caveat.
    pub kind: WarningKind,
    /// What was seen, with the numbers.
    pub detail: String,
    /// What to do about it.
    pub next: String,
}

impl Warning {
    /// A warning of this kind: what was seen, and what to do.
    pub fn new(kind: WarningKind, detail: impl Into<String>, next: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), next: next.into() }
    }
}

/// The sorts of caveat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// The generator, not the path, set the figure.
    GeneratorLimited,
    /// The rate drifted inside the window.
    NotSteady,
    /// Open loop: arrivals were not sent before the end.
    Unsent,
    /// What was asked for is not what the system gave.
    ReadBack,
    /// Some exchanges failed.
    Errors,
    /// Local ports ran out.
    PortExhaustion,
    /// The other end limited what was asked for.
    Limited,
    /// The trial was cut short.
    Incomplete,
    /// One-way delays are relative: the two ends do not share a clock.
    RelativeClock,
    /// The window holds too few samples for a percentile that is shown.
    FewSamples,
    /// Two busy ends shared one CPU.
    SharedCpu,
    /// A CPU quota stopped an end, a proxy or a container for a part of the window.
    CpuQuota,
    /// A figure covers more than this test.
    SharedAgent,
    /// Segmentation offload was used: a packet then costs something else.
    Offload,
    /// The kernel's ticks missed work of the machine's CPUs: their figures are lower bounds.
    CpuUndercounted,
    /// The testbed changed while the trial was on: a pod came, went or restarted, a node was under
    /// pressure.
    EnvironmentChanged,
    /// A member of a role carried far more than an equal share, or a node of a role worked far
    /// harder than the others.
    #[serde(alias = "unbalanced_nodes")]
    Unbalanced,
    /// Two meters of the same thing disagree.
    MetersDisagree,
    /// The ends of a path began at different times, or read their meters at different times.
    StartSkew,
    /// Evidence shows only a part of the way.
    PartlyProved,
    /// Data that should be there could not be read.
    Unavailable,
}
