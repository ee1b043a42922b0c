//! Links, addresses, routes, neighbours and queueing disciplines of one network namespace.
//!
//! Every call is one question to the kernel and its answer. Every error names what was asked, the
//! link, the namespace and the kernel's reason, in the kernel's own words where it gives any.

mod address;
mod exchange;
mod layout;
mod link;
mod read;
mod shape;
mod socket;

pub use layout::Layout;
pub use read::{LinkCounters, LinkInfo};
pub use shape::queue_ns;
pub use socket::Netlink;
