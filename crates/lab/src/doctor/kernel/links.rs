//! The check of the kinds of link that network kinds are made of.

use std::net::Ipv4Addr;

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::network::namespace::Namespace;

pub(crate) const CHECK: Check =
    Check { name: "links", needed_for: "network kinds", inside: true, run };

fn run() -> Finding {
    let failed = match tried() {
        Ok(failed) => failed,
        Err(error) => {
            return Finding::missing(error.to_string(), "look at the kernel's log (`dmesg`)");
        }
    };
    if failed.is_empty() {
        return Finding::works("veth, bridge, vxlan, macvlan");
    }
    Finding::missing(
        failed.join("; "),
        "load the modules (`modprobe -a veth bridge vxlan macvlan`) or leave out these kinds",
    )
}

/// Makes one of each; the kernel's reason for each that could not be made.
fn tried() -> std::io::Result<Vec<String>> {
    let (here, there) = (Namespace::create("probe-a")?, Namespace::create("probe-b")?);
    let mut netlink = here.netlink()?;
    let made = [
        ("veth", netlink.add_veth("v0", "v1", &there)),
        ("bridge", netlink.add_bridge("br0")),
        ("vxlan", netlink.add_vxlan("x0", 1, Ipv4Addr::new(10, 255, 255, 1), "v0", 4789)),
        ("macvlan", netlink.add_macvlan("m0", "v0", &there)),
    ];
    Ok(made
        .into_iter()
        .filter_map(|(kind, made)| made.err().map(|e| format!("{kind}: {e}")))
        .collect())
}
