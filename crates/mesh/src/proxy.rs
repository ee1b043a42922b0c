//! The description of a proxy: listeners, routes, variant and identity.

use std::net::{IpAddr, SocketAddr};

use hopbench_model::{IpFamily, Variant};

/// What the URIs of proxies' certificates begin with; who is behind it does not matter here.
pub const SPIFFE: &str = "spiffe://hopbench/";

/// What a proxy takes a connection for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// Bytes.
    Tcp,
    /// HTTP of the version that the client speaks; between proxies what the variant says.
    Http,
    /// HTTP/2 and nothing else, for proxies that have to know the version before a request comes.
    Http2,
}

impl Protocol {
    /// Whether proxies see requests.
    pub fn is_http(self) -> bool {
        self != Self::Tcp
    }
}

/// One proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxySpec {
    /// Its name among proxies: `bridge@a`.
    pub name: String,
    /// How it is set up.
    pub variant: Variant,
    /// Its admin endpoint.
    pub admin: AdminAddress,
    /// Where it closes every connection: whoever gets one knows that it is ready.
    pub ready: Option<ReadyPort>,
    /// Where it listens.
    pub listeners: Vec<Listener>,
    /// The mark of its own packets, where it stands in a pod whose packets are intercepted.
    pub mark: Option<u32>,
    /// Who it is; needed where a route encrypts or decrypts.
    pub identity: Option<ProxyIdentity>,
    /// The file of its access log; used where the variant logs.
    pub access_log: String,
    /// The policy service; needed where the variant checks, if any route is checked.
    pub policy: Option<SocketAddr>,
}

/// A port on all addresses of IPv4, of the families of the proxy's listeners, and of one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyPort {
    /// The port.
    pub port: u16,
    /// The family of the one more: that by which the proxy is asked whether it is ready.
    pub family: IpFamily,
}

/// Where a proxy says how it is; nobody outside of its network namespace gets there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdminAddress {
    /// A Unix socket: `@` and a name.
    Pipe(String),
    /// A TCP port on the loopback.
    Loopback(u16),
}

/// What a proxy proves to others, and whom it believes.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyIdentity {
    /// Its certificate, PEM.
    pub certificate: String,
    /// The key of that, PEM.
    pub key: String,
    /// The authority whose certificates it believes, PEM.
    pub authority: String,
}

/// The key stays out of logs.
impl std::fmt::Debug for ProxyIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProxyIdentity").finish_non_exhaustive()
    }
}

/// A port on which a proxy takes connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// `inbound`, `outbound` or `gateway`; no other listener of the proxy has it.
    pub name: String,
    /// The addresses at which it listens; an unspecified one stands for all of its family.
    pub addresses: Vec<IpAddr>,
    /// The port. Where connections are not redirected, the ports of the routes count instead.
    pub port: u16,
    /// Whether connections come here by redirection, and routes look at where they were meant to
    /// go. Where not, the proxy listens at the port of each of its routes.
    pub redirected: bool,
    /// Whether this is where a mesh begins: what requests say of the way that they came is not
    /// believed.
    pub edge: bool,
    /// What it does with them; a connection that no route is for is closed.
    pub routes: Vec<ProxyRoute>,
}

/// What a proxy does with the connections to one port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyRoute {
    /// Its name, which no other route of the proxy has: letters, digits, `-`; not `admin` or
    /// `policy`, and not beginning with `telemetry`.
    pub name: String,
    /// The address they were meant for; absent: any.
    pub address: Option<IpAddr>,
    /// The port they were meant for.
    pub port: u16,
    /// What they carry.
    pub protocol: Protocol,
    /// Whether they come from another proxy, which encrypts where the variant says so.
    pub from_proxy: bool,
    /// Whether they go on to another proxy.
    pub to_proxy: bool,
    /// Whether the policy service is asked, where the variant checks.
    pub checked: bool,
    /// The telemetry service that is told of them; needed where the variant reports.
    pub telemetry: Option<SocketAddr>,
    /// Where they go on to.
    pub upstream: Upstream,
}

/// Where connections go on to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upstream {
    /// Where they were meant to go; at this port instead of the one that they were meant for, where
    /// there is one.
    Original(Option<u16>),
    /// One of these, in turn.
    Endpoints(Vec<SocketAddr>),
}
