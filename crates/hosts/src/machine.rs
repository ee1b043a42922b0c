//! A machine, as its agent answers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hopbench_control::reach::{connect, greet, refused};
use hopbench_control::resolve::resolve;
use hopbench_control::secret::Secret;
use hopbench_control::{Channel, tls};
use hopbench_model::{Fault, FaultKind, Host, HostsSpec};
use hopbench_wire::{BOTH_ENDS, Build, DEFAULT_PORT, HANDSHAKE_LIMIT, Hello, ToAgent};
use rustls::ClientConfig;

/// The answers of agents, by node.
pub(crate) type Answers = BTreeMap<String, Result<Machine, Fault>>;

/// An agent that answered.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    /// The address of its port for sessions.
    pub(crate) control: SocketAddr,
    /// The address that its traffic goes to.
    pub(crate) target: SocketAddr,
    /// Its hello.
    pub(crate) hello: Hello,
}

impl Machine {
    /// Asks the agent of `host` for its identity, as `ours`.
    pub(crate) fn ask(host: &Host, tls: Arc<ClientConfig>, ours: &Hello) -> Result<Self, Fault> {
        let (control, target) = addresses(host)?;
        let who = format!("the agent of {} at {control}", host.name);
        let stream = connect(control, Duration::from_nanos(HANDSHAKE_LIMIT))?;
        let mut channel = Channel::open(stream, tls).map_err(|e| refused(&who, &e))?;
        let (_, hello) = greet(&mut channel, ours, &who)?;
        // It hears of the end from the connection, too.
        let _ = channel.send(&ToAgent::Bye);
        Ok(Self { control, target, hello })
    }

    /// Whether a session may make it a client.
    pub(crate) fn is_both_ends(&self) -> bool {
        self.hello.machine.get(BOTH_ENDS).is_some_and(|said| said == "yes")
    }

    /// Its build.
    pub(crate) fn build(&self) -> Build {
        Build::of(&self.hello)
    }
}

/// The addresses of sessions and of traffic: the same port unless the scenario says otherwise.
fn addresses(host: &Host) -> Result<(SocketAddr, SocketAddr), Fault> {
    let of = |text: &str, port: u16| {
        let found = resolve(text, port, None)
            .map_err(|fault| Fault { kind: FaultKind::Environment, ..fault })?;
        Ok(found.address)
    };
    let control = of(&host.control, DEFAULT_PORT)?;
    let target = host.address.as_deref().map_or(Ok(control), |text| of(text, control.port()))?;
    Ok((control, target))
}

/// The address behind a text that leads to a server from outside.
pub(crate) fn outside(text: &str) -> Result<SocketAddr, Fault> {
    Ok(resolve(text, DEFAULT_PORT, None)?.address)
}

/// The keys of a session with the agent of a machine: from its own token, or from that of all.
pub(crate) fn tls_of(host: &Host, spec: &HostsSpec) -> Result<Arc<ClientConfig>, Fault> {
    let secret = match host.token_file.as_ref().or(spec.token_file.as_ref()) {
        Some(file) => Secret::from_file(Path::new(file)).map_err(Fault::environment)?,
        None => Secret::insecure(),
    };
    tls::client_config(&secret).map_err(|e| Fault::environment(format!("TLS: {e}")))
}
