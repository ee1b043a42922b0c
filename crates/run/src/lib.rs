//! The conductor: drives the agents at the ends of paths through trials and writes records.
//!
//! - [`AgentConnection`]: a conductor's end of a control session;
//! - [`conduct`]: one trial;
//! - [`record`]: the record of a trial, from the reports of all ends; [`failed_exchanges`]: whether
//!   it is one of failures;
//! - [`Campaign`]: a whole plan in rounds, on any testbed; [`Profiling`]: the cells of it that are
//!   profiled;
//! - [`secrets_known`]: whether all secrets of a plan are known;
//! - [`results`]: the folder that holds what a campaign measured.

mod assemble;
mod campaign;
mod conduct;
mod failed;
mod limited;
mod metered;
pub mod results;
mod secrets;
mod warnings;

pub use assemble::{ProxySaid, Setting, record};
pub use campaign::{
    Campaign, CellsEnded, Ended, Event, Finished, MOST_PROFILES, Observer, Profiling,
    looked_at_instead, measurable, new_run, order, same_build, trial_overhead_ns, uncompared,
};
pub use conduct::agent_connection::AgentConnection;
pub use conduct::{Edges, Ends, StandingOrders, TrialResult, Watch, Watcher, conduct};
pub use failed::failed_exchanges;
pub use hopbench_control::resolve::{Target, resolve};
pub use limited::link_rate::LinkRate;
pub use metered::{LEAST_METERED_NS, UnderLoad, is_metered};
pub use secrets::{secrets_known, variable};
