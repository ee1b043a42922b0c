//! Links of a given rate.

use super::{Check, Finding};
use crate::namespace::Namespace;

pub(super) const CHECK: Check = Check { name: "tbf", needed_for: "link rates", inside: true, run };

fn run() -> Finding {
    let tried = || -> std::io::Result<()> {
        let (here, there) = (Namespace::create("probe-a")?, Namespace::create("probe-b")?);
        let mut netlink = here.netlink()?;
        netlink.add_veth("v0", "v1", &there)?;
        netlink.shape("v0", 1_000_000_000, 1500)
    };
    match tried() {
        Ok(()) => Finding::works("a link was shaped to 1 Gbit/s"),
        Err(error) => Finding::missing(error.to_string(), "`modprobe sch_tbf`, or scenarios without `link:`"),
    }
}
