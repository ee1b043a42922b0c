//! The check of receive steering, which keeps the work for a node's links on the node's CPUs.

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::network::namespace::Namespace;
use crate::network::receive_steering;
use crate::network::stack::Stack;

pub(crate) const CHECK: Check =
    Check { name: "RPS", needed_for: "nodes that receive on CPUs of their own", inside: true, run };

fn run() -> Finding {
    let tried = || {
        let (here, there) = (Namespace::create("probe-a")?, Namespace::create("probe-b")?);
        let mut netlink = here.netlink()?;
        netlink.add_veth("v0", "v1", &there)?;
        let stack = Stack::of(here, netlink);
        receive_steering::steer(&stack, &hopbench_sys::cpu::allowed()?)
    };
    match tried() {
        Ok(()) => Finding::works("a link's receive side was steered"),
        Err(error) => Finding::limited(
            format!("{error}: packets are received on the CPU of who sent them"),
            "run as root (`sudo hopbench ...`); every run says which it was",
        ),
    }
}
