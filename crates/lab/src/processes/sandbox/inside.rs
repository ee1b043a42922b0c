//! The set-up of the new namespaces, from inside.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use hopbench_model::Fault;
use hopbench_sys::namespace::fresh_sys;
use nix::mount::{MsFlags, mount};

use crate::network::netlink::Netlink;

/// Bits of the capabilities that the lab uses where there is no new user namespace:
/// `CAP_NET_ADMIN`, `CAP_NET_RAW`, `CAP_SYS_ADMIN`.
const NEEDED: u64 = 1 << 12 | 1 << 13 | 1 << 21;

/// Whether this process may make and manage namespaces without becoming root of a user namespace
/// first.
pub(super) fn is_root_enough() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    // Capabilities without user 0 do not go on to the tools that the lab starts.
    nix::unistd::geteuid().is_root() && capabilities(&status) & NEEDED == NEEDED
}

fn capabilities(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

/// Sets the namespaces up. It is called once, inside.
pub(super) fn set_up() -> Result<(), Fault> {
    show_own_name();
    let no_programs = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let step = |what: &'static str| {
        move |error: nix::Error| {
            Fault::environment(format!(
                "the lab cannot {what} in its own mount namespace: {error}. In a container this \
                 needs one whose /proc is not masked (Docker: --security-opt \
                 systempaths=unconfined --security-opt apparmor=unconfined, or --privileged); \
                 outside of containers `sudo hopbench ...` does without a user namespace."
            ))
        }
    };
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(step("keep mounts to itself"))?;
    mount(Some("proc"), "/proc", Some("proc"), no_programs, none).map_err(step("mount /proc"))?;
    let private = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), "/run", Some("tmpfs"), private, Some("mode=0755"))
        .map_err(step("mount /run"))?;
    fresh_sys().map_err(|e| {
        Fault::environment(format!("the lab cannot mount /sys in its own mount namespace: {e}"))
    })?;
    let up = Netlink::open("lab").and_then(|mut netlink| netlink.set_up("lo"));
    up.map_err(|e| {
        Fault::environment(format!("the lab's own network namespace cannot be used: {e}"))
    })
}

/// The kernel calls this process `exe`, after `/proc/self/exe`.
fn show_own_name() {
    let Some(first) = std::env::args_os().next() else {
        return;
    };
    let name = Path::new(&first).file_name().unwrap_or(&first);
    if let Ok(name) = CString::new(name.as_bytes()) {
        let _ = nix::sys::prctl::set_name(&name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_read_from_status() {
        assert_eq!(
            capabilities("Name:\tx\nCapPrm:\t0\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n"),
            0x1ff_ffff_ffff
        );
        assert_eq!(capabilities("Name:\tx\n"), 0);
        // What Docker gives root: no CAP_NET_ADMIN, no CAP_SYS_ADMIN.
        assert_ne!(capabilities("CapEff:\t00000000a80425fb\n") & NEEDED, NEEDED);
    }
}
