//! Links with a delay.

use super::{Check, Finding};
use crate::namespace::Namespace;

pub(super) const CHECK: Check = Check { name: "netem", needed_for: "delay between zones", inside: true, run };

fn run() -> Finding {
    let tried = || -> std::io::Result<()> {
        let (here, there) = (Namespace::create("probe-a")?, Namespace::create("probe-b")?);
        let mut netlink = here.netlink()?;
        netlink.add_veth("v0", "v1", &there)?;
        netlink.delay("v0", 1_000_000)
    };
    match tried() {
        Ok(()) => Finding::works("a link was delayed by 1 ms"),
        Err(error) => Finding::missing(error.to_string(), "`modprobe sch_netem`, or scenarios without `zone-delay:`"),
    }
}
