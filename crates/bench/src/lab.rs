//! The lab: two ends on a wire. It is namespace, veth, bridge, veth, namespace.
//!
//! The bridge has a namespace of its own, so nothing is ever added to the machine's. `ip` is used:
//! this is a developer's tool, the product speaks netlink.

mod ip;
pub(crate) mod machine;
mod rootless;
mod sweep;

use anyhow::Result;

use ip::{PREFIX, ip};

pub(crate) use rootless::enter as become_root_somewhere;

/// The client's address in the lab.
pub(crate) const CLIENT_ADDRESS: &str = "10.71.0.1";
/// Another one of the client's: each address has its own local ports.
pub(crate) const OTHER_CLIENT_ADDRESS: &str = "10.71.0.3";
/// The server's address in the lab.
pub(crate) const SERVER_ADDRESS: &str = "10.71.0.2";

/// One end of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The end that opens connections.
    Client,
    /// The end that accepts them.
    Server,
}

impl End {
    fn letter(self) -> char {
        match self {
            Self::Client => 'c',
            Self::Server => 's',
        }
    }
}

/// The lab; its namespaces go when it is dropped.
#[derive(Debug)]
pub(crate) struct Lab {
    names: Vec<String>,
}

impl Lab {
    /// Builds the lab, after sweeping away what dead owners left behind.
    ///
    /// # Errors
    /// When `ip` is missing or refuses; what was made until then is removed.
    pub(crate) fn build() -> Result<Self> {
        sweep::stale()?;
        // The guard exists before the first namespace, so a failure on the way removes what is
        // there.
        let mut lab = Self { names: Vec::new() };
        for letter in ['f', 'c', 's'] {
            let name = format!("{PREFIX}{}-{letter}", std::process::id());
            ip(&["netns", "add", &name])?;
            lab.names.push(name.clone());
            ip(&["-n", &name, "link", "set", "lo", "up"])?;
        }
        let fabric = lab.names[0].clone();
        ip(&["-n", &fabric, "link", "add", "br0", "type", "bridge"])?;
        ip(&["-n", &fabric, "link", "set", "br0", "up"])?;
        let of_client = [CLIENT_ADDRESS, OTHER_CLIENT_ADDRESS];
        for (end, addresses) in [(End::Client, &of_client[..]), (End::Server, &[SERVER_ADDRESS])] {
            let (port, name) = (format!("port-{}", end.letter()), lab.name(end));
            ip(&[
                "-n", &fabric, "link", "add", &port, "type", "veth", "peer", "name", "eth0",
                "netns", &name,
            ])?;
            ip(&["-n", &fabric, "link", "set", &port, "master", "br0", "up"])?;
            for address in addresses {
                ip(&["-n", &name, "addr", "add", &format!("{address}/24"), "dev", "eth0"])?;
            }
            ip(&["-n", &name, "link", "set", "eth0", "up"])?;
            // Pairs of 10 000 connections follow each other faster than closed ones are forgotten
            // (60 s), and come faster than they are accepted. Once half of the local ports rest,
            // the kernel searches 4 ms for each next one, unless it may use them again.
            for (file, value) in [
                ("ipv4/ip_local_port_range", "1024 65535"),
                ("ipv4/tcp_tw_reuse", "1"),
                ("core/somaxconn", "16384"),
            ] {
                let command = format!("echo {value} > /proc/sys/net/{file}");
                ip(&["netns", "exec", &name, "sh", "-c", &command])?;
            }
        }
        Ok(lab)
    }

    /// The file that stands for the namespace of one end.
    pub(crate) fn file(&self, end: End) -> String {
        format!("/run/netns/{}", self.name(end))
    }

    fn name(&self, end: End) -> String {
        format!("{PREFIX}{}-{}", std::process::id(), end.letter())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for name in &self.names {
            // Nothing to be done about a failure here; the next sweep takes what is left.
            let _ = ip(&["netns", "del", name]);
        }
    }
}
