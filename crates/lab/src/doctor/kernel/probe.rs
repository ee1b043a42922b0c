//! A link that checks try things on.

use std::io;

use crate::network::namespace::Namespace;
use crate::network::netlink::Netlink;

/// The link's name.
pub(super) const LINK: &str = "v0";

/// Tries `work` in a namespace with a link that leads to another; both go with it.
pub(super) fn on_a_link(work: impl FnOnce(&mut Netlink) -> io::Result<()>) -> io::Result<()> {
    let (here, there) = (Namespace::create("probe-a")?, Namespace::create("probe-b")?);
    let mut netlink = here.netlink()?;
    netlink.add_veth(LINK, "v1", &there)?;
    work(&mut netlink)
}
