//! This program as the one that goes inside.

use std::io::Write;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use hopbench_lab::namespace::Namespace;
use hopbench_lab::sandbox::{Entered, enter, is_inside};
use hopbench_model::FaultKind;

/// Holds the script that is to run inside; `build` stands for building a lab and staying.
pub(crate) const SCRIPT: &str = "HOPBENCH_LAB_TEST_SCRIPT";

/// Does what the environment says; `None`: nothing.
pub(crate) fn play() -> Option<ExitCode> {
    let script = std::env::var(SCRIPT).ok()?;
    Some(match enter() {
        Ok(Entered::Outside(code)) => code,
        Ok(Entered::Inside) if !is_inside() => ExitCode::from(98),
        Ok(Entered::Inside) if script == "build" => build(),
        Ok(Entered::Inside) => {
            let mut command = Command::new("sh");
            command.args(["-c", &script]).env("PATH", super::inside::path());
            let error = command.exec();
            let _ = writeln!(std::io::stderr(), "sh: {error}");
            ExitCode::from(99)
        }
        Err(fault) => {
            let _ = writeln!(std::io::stderr(), "{fault}");
            ExitCode::from(if fault.kind == FaultKind::Environment { 3 } else { 4 })
        }
    })
}

/// Namespaces, links and a process in each, told as they come to be.
fn build() -> ExitCode {
    let tell = |line: &str| {
        let mut out = std::io::stdout();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    };
    tell("inside");
    let fabric = Namespace::create("fabric").expect("a namespace");
    let mut netlink = fabric.netlink().expect("a socket");
    netlink.add_bridge("br0").expect("a bridge");
    tell(&format!("net:[{}]", fabric.inode()));
    let mut hosts = vec![];
    for n in 0..8_u8 {
        let host = Namespace::create(&format!("host{n}")).expect("a namespace");
        tell(&format!("net:[{}]", host.inode()));
        let port = format!("port{n}");
        netlink.add_veth(&port, "eth0", &host).expect("a pair");
        netlink.set_master(&port, "br0").expect("a port");
        let mut own = host.netlink().expect("a socket");
        own.add_address("eth0", Ipv4Addr::new(10, 0, 0, n + 1).into(), 24).expect("an address");
        let child = host.command("sleep").expect("a command").arg("1000").spawn().expect("sleep");
        hosts.push((host, own, child));
    }
    tell("built");
    super::pause(60_000);
    ExitCode::SUCCESS
}
