//! Receive steering: what a node's links receive is worked on by the node's CPUs.

use super::{Check, Finding};
use crate::cpus;
use crate::namespace::Namespace;
use crate::stack::Stack;

pub(super) const CHECK: Check =
    Check { name: "RPS", needed_for: "nodes that receive on CPUs of their own", inside: true, run };

fn run() -> Finding {
    let tried = || {
        let (here, there) = (Namespace::create("probe-a")?, Namespace::create("probe-b")?);
        let mut netlink = here.netlink()?;
        netlink.add_veth("v0", "v1", &there)?;
        let stack = Stack { netlink, namespace: here };
        cpus::steer(&stack, &hopbench_sys::cpu::allowed()?)
    };
    match tried() {
        Ok(()) => Finding::works("a link's receive side was steered"),
        Err(error) => Finding::limited(
            format!("{error}: packets are received on the CPU of who sent them"),
            "run as root (`sudo hopbench ...`); every run says which it was",
        ),
    }
}
