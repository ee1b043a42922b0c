//! The engines: one file each.

use hopbench_model::EngineKind;

mod epoll;
mod spin;
#[cfg(test)]
mod tests;
mod threads;
mod uring;

pub use epoll::EpollEngine;
pub use spin::SpinEngine;
pub use threads::ThreadsEngine;
pub use uring::UringEngine;

/// Every engine with one line about it, in the order of the documentation.
pub const ENGINES: &[(EngineKind, &str)] = &[
    (EngineKind::Epoll, "non-blocking sockets and edge-triggered epoll; the default"),
    (EngineKind::Uring, "io_uring completions"),
    (
        EngineKind::Spin,
        "non-blocking sockets, polled without sleeping: latency without the wake-up, a CPU per \
         thread",
    ),
    (EngineKind::Threads, "blocking sockets, a thread a connection"),
];

/// Calls `$body` with `$engine` standing for the engine type that `$kind` names.
macro_rules! with_engine {
    ($kind:expr, $engine:ident => $body:expr) => {
        match $kind {
            hopbench_model::EngineKind::Epoll => {
                type $engine = $crate::engines::EpollEngine;
                $body
            }
            hopbench_model::EngineKind::Uring => {
                type $engine = $crate::engines::UringEngine;
                $body
            }
            hopbench_model::EngineKind::Spin => {
                type $engine = $crate::engines::SpinEngine;
                $body
            }
            hopbench_model::EngineKind::Threads => {
                type $engine = $crate::engines::ThreadsEngine;
                $body
            }
        }
    };
}
pub(crate) use with_engine;
