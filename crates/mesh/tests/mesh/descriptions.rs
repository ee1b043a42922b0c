//! Descriptions of proxies like those of a testbed.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::LazyLock;

use hopbench_mesh::{
    ADMIN, AdminAddress, App, INBOUND, Listener, MARK, OUTBOUND, Protocol, ProxyIdentity,
    ProxyRoute, ProxySpec, READY, ReadyPort, SPIFFE, TAKEN, Upstream, exposed,
};
use hopbench_model::{HttpVersion, IpFamily, Variant};

pub(crate) const POD: Ipv4Addr = Ipv4Addr::new(10, 1, 2, 3);

/// Not a certificate: goldens hold no keys, and differ in nothing from run to run.
pub(crate) fn placeholder() -> ProxyIdentity {
    ProxyIdentity {
        certificate: "CERTIFICATE".into(),
        key: "KEY".into(),
        authority: "AUTHORITY".into(),
    }
}

/// An authority and those whom it vouches for.
pub(crate) struct Authority {
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
    certificate: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = rcgen::CertificateParams::default();
        // A certificate whose subject is its issuer's would be taken for one that nobody else
        // signed.
        params.distinguished_name.push(rcgen::DnType::CommonName, "authority");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        Self { issuer: rcgen::Issuer::new(params, key), certificate }
    }

    /// Someone whose certificate says this URI.
    pub(crate) fn identity(&self, uri: &str) -> ProxyIdentity {
        let mut params = rcgen::CertificateParams::default();
        params.subject_alt_names = vec![rcgen::SanType::URI(uri.try_into().unwrap())];
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        ProxyIdentity { certificate, key: key.serialize_pem(), authority: self.certificate.clone() }
    }
}

/// A real identity, the same for all who ask.
pub(crate) fn identity() -> ProxyIdentity {
    static ONE: LazyLock<ProxyIdentity> =
        LazyLock::new(|| Authority::new().identity(&format!("{SPIFFE}lab/one")));
    ONE.clone()
}

fn proxy(name: &str, variant: &Variant, listeners: Vec<Listener>) -> ProxySpec {
    ProxySpec {
        name: name.to_owned(),
        variant: variant.clone(),
        admin: AdminAddress::Pipe("@hopbench-admin".to_owned()),
        ready: None,
        listeners,
        mark: Some(MARK),
        identity: Some(placeholder()),
        access_log: "/tmp/access.log".to_owned(),
        policy: Some(SocketAddr::from((POD, 7481))),
    }
}

pub(crate) fn route(name: &str, port: u16, protocol: Protocol, upstream: Upstream) -> ProxyRoute {
    ProxyRoute {
        name: name.to_owned(),
        address: None,
        port,
        protocol,
        from_proxy: false,
        to_proxy: false,
        checked: false,
        telemetry: Some(SocketAddr::from((POD, 7482))),
        upstream,
    }
}

fn own_port(app: App) -> u16 {
    match app {
        App::Agent => 7474,
        App::Program => 7480,
    }
}

/// A pod's sidecar: both directions, every exposed port. Those for HTTP/2 alone are left out: they
/// differ from the others of HTTP in the version that is spoken, and have a test of their own.
pub(crate) fn sidecar(variant: &Variant) -> ProxySpec {
    let named = |way: &str, port: u16| format!("{way}-{port}");
    let exposed = || exposed().filter(|one| one.protocol != Protocol::Http2);
    let inbound = exposed().filter(|one| one.mode.has_server()).map(|one| ProxyRoute {
        from_proxy: one.mode.has_client(),
        checked: true,
        address: Some(POD.into()),
        ..route(
            &named("in", one.port()),
            one.port(),
            one.protocol,
            Upstream::Original(Some(own_port(one.app))),
        )
    });
    let outbound = exposed().filter(|one| one.mode.has_client()).map(|one| {
        let to = if one.mode.has_server() { None } else { Some(own_port(one.app)) };
        ProxyRoute {
            to_proxy: one.mode.has_server(),
            ..route(&named("out", one.port()), one.port(), one.protocol, Upstream::Original(to))
        }
    });
    let listener = |name: &str, port, routes| Listener {
        name: name.to_owned(),
        port,
        addresses: vec![Ipv4Addr::UNSPECIFIED.into()],
        redirected: true,
        edge: false,
        routes,
    };
    let listeners = vec![
        listener("inbound", INBOUND, inbound.collect()),
        listener("outbound", OUTBOUND, outbound.collect()),
    ];
    proxy("bridge@a", variant, listeners)
}

/// One direction of a sidecar.
pub(crate) fn one_way(variant: &Variant, way: &str) -> ProxySpec {
    let mut proxy = sidecar(variant);
    proxy.listeners.retain(|listener| listener.name == way);
    proxy
}

/// A pod's sidecar where nothing is redirected: its application connects to it at the ports that
/// stand for servers.
pub(crate) fn connected(variant: &Variant) -> ProxySpec {
    let mut proxy = sidecar(variant);
    for listener in &mut proxy.listeners {
        listener.redirected = false;
        listener.routes.iter_mut().for_each(|route| route.address = None);
        if listener.name == "outbound" {
            listener.addresses = vec![Ipv4Addr::LOCALHOST.into()];
        }
        for (route, number) in listener.routes.iter_mut().zip(0..) {
            let Upstream::Original(port) = route.upstream else { panic!("{route:?}") };
            let (ip, port) = if listener.name == "outbound" {
                (POD, route.port)
            } else {
                (Ipv4Addr::LOCALHOST, port.unwrap())
            };
            route.upstream = Upstream::Endpoints(vec![(ip, port).into()]);
            if listener.name == "outbound" {
                route.port = TAKEN + number;
            }
        }
    }
    let ready = Some(ReadyPort { port: READY, family: IpFamily::Ipv4 });
    ProxySpec { admin: AdminAddress::Loopback(ADMIN), ready, mark: None, ..proxy }
}

/// A gateway in front of two servers, with and without sidecars behind it.
pub(crate) fn gateway(variant: &Variant) -> ProxySpec {
    let servers = |port| {
        Upstream::Endpoints(vec![(POD, port).into(), (Ipv4Addr::new(10, 1, 2, 4), port).into()])
    };
    let behind = |name, port, protocol, to, to_proxy| ProxyRoute {
        to_proxy,
        checked: true,
        ..route(name, port, protocol, servers(to))
    };
    let routes = vec![
        behind("gw-http", 8000, Protocol::Http, 7480, false),
        behind("gw-http-sidecar", 8001, Protocol::Http, 17_011, true),
        behind("gw-tcp", 8002, Protocol::Tcp, 7474, false),
        behind("gw-tcp-sidecar", 8003, Protocol::Tcp, 17_001, true),
    ];
    let listener = Listener {
        name: "gateway".to_owned(),
        port: 8000,
        addresses: vec![Ipv4Addr::UNSPECIFIED.into()],
        redirected: false,
        edge: true,
        routes,
    };
    ProxySpec { mark: None, ..proxy("gateway@b", variant, vec![listener]) }
}

/// Every known variant, and two more that differ where those do not.
pub(crate) fn variants() -> Vec<Variant> {
    let mut variants = Variant::known();
    let plain = Variant::plain();
    variants.push(Variant {
        name: "pool".into(),
        max_connections: Some(7),
        concurrency: 1,
        ..plain.clone()
    });
    variants.push(Variant {
        name: "everything".into(),
        stats: true,
        access_log: true,
        policy_check: true,
        policy_report: true,
        upstream: HttpVersion::Http2,
        ..plain
    });
    variants
}

pub(crate) type Shape = fn(&Variant) -> ProxySpec;

/// A shape of proxy for each way that one is used.
pub(crate) const SHAPES: [(&str, Shape); 5] = [
    ("sidecar", sidecar),
    ("connected", connected),
    ("client", |variant| one_way(variant, "outbound")),
    ("server", |variant| one_way(variant, "inbound")),
    ("gateway", gateway),
];
