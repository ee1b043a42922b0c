use rustls::client::ResolvesClientCert;
use rustls::crypto::ring::sign::any_eddsa_type;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{
    ClientConnection, ConnectionCommon, Error, HandshakeKind, ServerConnection, SideData,
};

use super::*;
use crate::conductor::Conductor;

/// How a handshake went, at each end.
struct BothEnds {
    client: Result<(), Error>,
    server: Result<(), Error>,
}

/// What one end has to say, taken to the other.
fn carry<A: SideData, B: SideData>(
    from: &mut ConnectionCommon<A>,
    to: &mut ConnectionCommon<B>,
) -> Result<bool, Error> {
    let mut bytes = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut bytes).unwrap();
    }
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        to.read_tls(&mut rest).unwrap();
        to.process_new_packets()?;
    }
    Ok(!bytes.is_empty())
}

fn server_config(secret: &Secret) -> Result<Arc<ServerConfig>, TlsError> {
    super::server_config(&Credentials::of_token(secret))
}

fn connect(client: &mut ClientConnection, server: &mut ServerConnection) -> BothEnds {
    let mut outcome = BothEnds { client: Ok(()), server: Ok(()) };
    let mut moved = true;
    while moved {
        moved = false;
        if outcome.server.is_ok() {
            match carry(client, server) {
                Ok(some) => moved |= some,
                Err(error) => outcome.server = Err(error),
            }
        }
        if outcome.client.is_ok() {
            match carry(server, client) {
                Ok(some) => moved |= some,
                Err(error) => {
                    moved = true;
                    outcome.client = Err(error);
                }
            }
        }
    }
    outcome
}

fn ends(
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
) -> (ClientConnection, ServerConnection) {
    (ClientConnection::new(client, server_name()).unwrap(), ServerConnection::new(server).unwrap())
}

fn handshake(client: Arc<ClientConfig>, server: Arc<ServerConfig>) -> BothEnds {
    let (mut client, mut server) = ends(client, server);
    connect(&mut client, &mut server)
}

/// A client that takes the right server and shows what `resolver` gives.
fn client_showing(secret: &Secret, resolver: Arc<dyn ResolvesClientCert>) -> Arc<ClientConfig> {
    let mut config = ClientConfig::clone(&client_config(secret).unwrap());
    config.client_auth_cert_resolver = resolver;
    Arc::new(config)
}

/// The certificate of one identity with the key of another.
fn stolen(certificate: &Identity, key: &Identity) -> Arc<SingleCertAndKey> {
    let key = any_eddsa_type(&key.key).unwrap();
    Arc::new(CertifiedKey::new(vec![certificate.certificate.clone()], key).into())
}

#[derive(Debug)]
struct NoCertificate;

impl ResolvesClientCert for NoCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[rustls::SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

#[test]
fn the_same_secret_works_both_ways() {
    use std::io::{Read, Write};
    let secret = Secret::random().unwrap();
    let (client, server) = (client_config(&secret).unwrap(), server_config(&secret).unwrap());
    // Twice, because a second session must not build on the first.
    for _ in 0..2 {
        let (mut client, mut server) = ends(client.clone(), server.clone());
        let outcome = connect(&mut client, &mut server);
        assert_eq!((outcome.client, outcome.server), (Ok(()), Ok(())));
        assert_eq!(client.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_3));
        assert_eq!(client.handshake_kind(), Some(HandshakeKind::Full));
        assert_eq!(client.tls13_tickets_received(), 0);
        client.writer().write_all(b"up").unwrap();
        server.writer().write_all(b"down").unwrap();
        let outcome = connect(&mut client, &mut server);
        assert_eq!((outcome.client, outcome.server), (Ok(()), Ok(())));
        let (mut up, mut down) = ([0; 2], [0; 4]);
        server.reader().read_exact(&mut up).unwrap();
        client.reader().read_exact(&mut down).unwrap();
        assert_eq!((&up, &down), (b"up", b"down"));
    }
}

#[test]
fn another_secret_is_refused_and_named_at_both_ends() {
    let (a, b) = (Secret::random().unwrap(), Secret::insecure());
    let outcome = handshake(client_config(&a).unwrap(), server_config(&b).unwrap());
    assert_eq!(explain(&outcome.client.unwrap_err()), Refusal::OtherToken);
    assert_eq!(explain(&outcome.server.unwrap_err()), Refusal::OtherToken);
}

#[test]
fn the_server_alone_refuses_another_secret() {
    let (right, wrong) = (Secret::random().unwrap(), Secret::random().unwrap());
    let identity = Identity::client(&wrong.client_keys()).unwrap();
    let client = client_showing(&right, stolen(&identity, &identity));
    let outcome = handshake(client, server_config(&right).unwrap());
    assert_eq!(explain(&outcome.server.unwrap_err()), Refusal::OtherToken);
    assert_eq!(explain(&outcome.client.unwrap_err()), Refusal::OtherToken);
}

#[test]
fn a_client_without_a_certificate_is_refused() {
    let secret = Secret::random().unwrap();
    let client = client_showing(&secret, Arc::new(NoCertificate));
    let outcome = handshake(client, server_config(&secret).unwrap());
    assert_eq!(outcome.server, Err(Error::NoCertificatesPresented));
    assert!(outcome.client.is_err());
}

#[test]
fn a_client_that_only_knows_the_certificate_is_refused() {
    let (right, wrong) = (Secret::random().unwrap(), Secret::random().unwrap());
    let shown = stolen(
        &Identity::client(&right.client_keys()).unwrap(),
        &Identity::client(&wrong.client_keys()).unwrap(),
    );
    let outcome = handshake(client_showing(&right, shown), server_config(&right).unwrap());
    let error = outcome.server.unwrap_err();
    assert_eq!(error, Error::InvalidCertificate(rustls::CertificateError::BadSignature));
    assert!(matches!(explain(&error), Refusal::NotHopbench { .. }));
    assert!(outcome.client.is_err());
}

#[test]
fn a_server_that_only_knows_the_certificate_is_refused() {
    let (right, wrong) = (Secret::random().unwrap(), Secret::random().unwrap());
    let shown = stolen(
        &Identity::server(&right.server_keys()).unwrap(),
        &Identity::server(&wrong.server_keys()).unwrap(),
    );
    let mut server = ServerConfig::clone(&server_config(&right).unwrap());
    server.cert_resolver = shown;
    let outcome = handshake(client_config(&right).unwrap(), Arc::new(server));
    let error = outcome.client.unwrap_err();
    assert_eq!(error, Error::InvalidCertificate(rustls::CertificateError::BadSignature));
    assert!(outcome.server.is_err());
}

#[test]
fn one_side_cannot_pass_for_the_other() {
    let secret = Secret::random().unwrap();
    let server = Identity::server(&secret.server_keys()).unwrap();
    let client = client_showing(&secret, stolen(&server, &server));
    let outcome = handshake(client, server_config(&secret).unwrap());
    assert!(matches!(explain(&outcome.server.unwrap_err()), Refusal::NotHopbench { .. }));
}

#[test]
fn a_foreign_certificate_is_not_called_another_token() {
    let secret = Secret::random().unwrap();
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["nginx.example".to_owned()])
        .unwrap()
        .self_signed(&pair)
        .unwrap();
    let server = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], pair.into())
        .unwrap();
    let outcome = handshake(client_config(&secret).unwrap(), Arc::new(server));
    let refusal = explain(&outcome.client.unwrap_err());
    assert!(matches!(refusal, Refusal::NotHopbench { .. }), "{refusal}");
}

#[test]
fn what_is_not_tls_is_not_hopbench() {
    let mut client =
        ClientConnection::new(client_config(&Secret::insecure()).unwrap(), server_name()).unwrap();
    client.read_tls(&mut &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..]).unwrap();
    let refusal = explain(&client.process_new_packets().unwrap_err());
    assert!(matches!(refusal, Refusal::NotHopbench { .. }), "{refusal}");
}

/// What an agent of a run has opens neither its own port nor another agent's, and lets it pass for
/// no other agent.
#[test]
fn an_agents_own_credentials_open_nothing() {
    let (outsider, run) = (KeyPair::random().unwrap(), Conductor::new().unwrap());
    let [taken, other] = [(); 2].map(|()| KeyPair::random().unwrap());
    let agent = |keys: &KeyPair| {
        super::server_config(&Credentials::of_run(keys.clone(), run.run_key())).unwrap()
    };
    let to = |keys: &KeyPair| conductor_config(run.keys(), &keys.public()).unwrap();
    for keys in [&taken, &other] {
        let outcome = handshake(to(keys), agent(keys));
        assert_eq!((outcome.client, outcome.server), (Ok(()), Ok(())));
        // Neither the stolen key nor one of the thief's own opens a session.
        for thief in [&taken, &outsider] {
            let outcome = handshake(conductor_config(thief, &keys.public()).unwrap(), agent(keys));
            assert_eq!(explain(&outcome.server.unwrap_err()), Refusal::OtherToken);
        }
        // The certificate that the conductor shows is known to all, its key is not.
        let shown =
            stolen(&Identity::client(run.keys()).unwrap(), &Identity::client(&taken).unwrap());
        let mut config = ClientConfig::clone(&to(keys));
        config.client_auth_cert_resolver = shown;
        let outcome = handshake(Arc::new(config), agent(keys));
        let error = outcome.server.unwrap_err();
        assert_eq!(error, Error::InvalidCertificate(rustls::CertificateError::BadSignature));
    }
    let outcome = handshake(to(&other), agent(&taken));
    assert_eq!(explain(&outcome.client.unwrap_err()), Refusal::OtherToken);
}

/// A ClientHello as TLS 1.2 clients write it, with ECDHE and Ed25519 on offer.
fn tls12_client_hello() -> Vec<u8> {
    let extensions: &[&[u8]] = &[
        &[0x00, 0x0a, 0, 4, 0, 2, 0x00, 0x1d], // groups: x25519
        &[0x00, 0x0b, 0, 2, 1, 0],             // point formats
        &[0x00, 0x0d, 0, 4, 0, 2, 0x08, 0x07], // signatures: ed25519
        &[0x00, 0x17, 0, 0],                   // extended master secret
    ];
    let extensions = extensions.concat();
    let mut body = vec![3, 3];
    body.extend([7; 32]); // random
    body.push(0); // no session
    body.extend([0, 2, 0xc0, 0x2b]); // ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
    body.extend([1, 0]); // no compression
    body.extend((extensions.len() as u16).to_be_bytes());
    body.extend(extensions);
    let mut record = vec![0x16, 3, 1];
    record.extend((body.len() as u16 + 4).to_be_bytes());
    record.extend([1, 0]);
    record.extend((body.len() as u16).to_be_bytes());
    record.extend(body);
    record
}

#[test]
fn tls_1_2_is_refused() {
    let hello = tls12_client_hello();
    assert_eq!(hopbench_wire::classify(&hello), hopbench_wire::First::Tls);
    let mut server = ServerConnection::new(server_config(&Secret::insecure()).unwrap()).unwrap();
    server.read_tls(&mut &hello[..]).unwrap();
    let error = server.process_new_packets().unwrap_err();
    assert_eq!(
        error,
        Error::PeerIncompatible(rustls::PeerIncompatible::SupportedVersionsExtensionRequired)
    );
    let mut answer = Vec::new();
    server.write_tls(&mut answer).unwrap();
    assert_eq!(answer, [0x15, 3, 3, 0, 2, 2, 70], "a fatal alert protocol_version and no more");
}
