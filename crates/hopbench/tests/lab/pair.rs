//! Two hosts and a bridge between them.
//!
//! ```text
//!   a: eth0 10.71.0.1 ── port-a ─ br0 ─ port-b ── eth0 10.71.0.2 :b
//!            fd71::1                              fd71::2
//! ```

use std::process::Command;

use super::agent::Agent;
use super::namespace::{path, shell};
use super::program::{Finished, binary, run};

/// The lab; it goes with the namespaces that the test runs in.
#[derive(Debug)]
pub(crate) struct Pair;

/// Host b's address.
pub(crate) const B: &str = "10.71.0.2";

impl Pair {
    /// Builds it, MTU 1500.
    pub(crate) fn build() -> Self {
        shell(
            "for n in a b fabric; do ip netns add $n; ip -n $n link set lo up; done
             ip -n fabric link add br0 type bridge
             ip -n fabric link set br0 up
             i=1
             for n in a b; do
               ip -n fabric link add port-$n mtu 1500 type veth peer name eth0 netns $n
               ip -n fabric link set port-$n master br0 up
               ip -n $n addr add 10.71.0.$i/24 dev eth0
               ip -n $n addr add fd71::$i/64 dev eth0 nodad
               ip -n $n link set eth0 mtu 1500 up
               i=2
             done",
        );
        Self
    }

    /// A command inside a host: the program itself, not a shell around it, so that its pid is the
    /// program's.
    pub(crate) fn command(&self, host: &str, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{host}")).arg(program);
        command.env("PATH", path()).env_remove("HOPBENCH_TOKEN");
        command
    }

    /// The binary under test inside a host.
    pub(crate) fn program(&self, host: &str, arguments: &[&str]) -> Command {
        let mut command = self.command(host, &binary().to_string_lossy());
        command.args(arguments);
        command
    }

    /// An agent on the usual port of host b, open to everybody.
    pub(crate) fn agent(&self, flags: &[&str]) -> Agent {
        Agent::start(&mut self.program("b", &[&["serve", "--insecure"], flags].concat()))
    }

    /// A measurement from host a.
    pub(crate) fn measure(&self, arguments: &[&str]) -> Finished {
        run(self.program("a", arguments).args(["--insecure", "--json"]))
    }

    /// A line of shell inside a host; its output.
    pub(crate) fn shell(&self, host: &str, line: &str) -> String {
        let done = run(self.command(host, "sh").args(["-ec", line]));
        assert_eq!(done.code, Some(0), "`{line}` in {host}: {}", done.story());
        done.stdout
    }
}
