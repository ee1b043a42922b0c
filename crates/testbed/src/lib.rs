//! The interface of every testbed. The conductor drives it and never knows which testbed it has.
//!
//! ```text
//!   missing ─► up ─► (route, control, counters, [trial: gauges], counters, prove)* ─► down
//! ```
//!
//! - [`Testbed`]: the trait; [`Need`]: a need that it does not meet;
//! - [`Route`], [`Control`]: a path that is ready for trials, and the way to its agents;
//! - [`Counters`], [`Metered`], [`Seen`]: readings and reports of a trial; [`PeerSaid`]: a trial
//!   that a tool of others made;
//! - [`proxy_proofs`]: a proof that testbeds share, and [`Sent`], what it is compared with;
//! - [`Finding`]: the result of a check; [`Commands`]: what runs around the trials of subjects;
//!   [`Interrupt`]: whether the user wants to stop;
//! - [`placement`]: the pods and proxies of a plan; [`refusals`]: reasons that testbeds share.

mod commands;
mod control;
mod counters;
mod finding;
mod need;
pub mod placement;
mod proxy_proof;
pub mod refusals;
mod route;
mod seen;
mod testbed;

pub use commands::{Commands, Interrupt};
pub use control::{AgentId, Control};
pub use counters::{Counters, Gauges, Metered, MeteredKind, of_proxy, proxy_growth};
pub use finding::{Finding, State};
pub use need::Need;
pub use proxy_proof::{Range, Sent, proxy_proofs};
pub use route::{Beside, NodeOnlooker, Proxy, Route};
pub use seen::{PeerSaid, PeerServer, Seen, held, last_words, variable};
pub use testbed::Testbed;
