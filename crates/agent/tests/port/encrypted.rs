//! HTTP over TLS on the port of an agent, which also takes control sessions over TLS.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use hopbench_agent::{Limits, Options, Server};
use hopbench_load::http::Credential;
use hopbench_model::Counter;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};

use crate::flows::connect;
use crate::session::{self, Conductor, key, server};
use crate::strangers::{finish, request, serving};

/// Takes any certificate: an agent's is its own.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let provider = rustls::crypto::ring::default_provider();
        provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The answer to a request over TLS, up to so many bytes; empty: the agent ended the connection.
fn told(agent: SocketAddr, protocols: &[Vec<u8>], names: bool, request: &str) -> String {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody))
        .with_no_client_auth();
    config.alpn_protocols = protocols.to_vec();
    config.enable_sni = names;
    let name = ServerName::try_from("agent.test").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, connect(agent));
    let mut said = vec![0; 400];
    let asked = stream.write_all(request.as_bytes());
    let got = asked.and_then(|()| stream.read(&mut said)).unwrap_or(0);
    String::from_utf8_lossy(&said[..got]).into_owned()
}

const HTTP: &[u8] = b"http/1.1";

#[test]
fn the_target_for_everybody_answers_whoever_names_somebody() {
    let server =
        Server::start(&Options { http: true, ..session::options(Limits::default()) }).unwrap();
    let agent = server.address();
    let of =
        |protocols: &[Vec<u8>], names| told(agent, protocols, names, &request("/healthz", None));
    for said in [of(&[HTTP.to_vec()], false), of(&[], true), of(&[HTTP.to_vec()], true)] {
        assert!(said.starts_with("HTTP/1.1 200 OK\r\n"), "{said:?}");
    }
    // Who agrees on HTTP/2 and speaks something else is told so in HTTP/2: an error of protocol.
    let said = of(&[b"h2".to_vec(), HTTP.to_vec()], true);
    assert!(said.starts_with("\0\0\u{c}\u{4}"), "{said:?}");
    assert!(said.ends_with("\0\0\u{8}\u{7}\0\0\0\0\0\0\0\0\0\0\0\0\u{1}"), "{said:?}");
    assert_eq!(of(&[], false), "", "who names nobody is a conductor, and has to prove it");
    assert!(Conductor::of(&server).lives(), "a session is one all the same");
}

#[test]
fn without_a_target_nobody_is_answered_and_sessions_are_taken() {
    let server = server(Limits::default());
    let said = told(server.address(), &[HTTP.to_vec()], true, &request("/", None));
    assert_eq!(said, "");
    assert!(Conductor::of(&server).lives());
}

#[test]
fn a_trial_is_known_by_the_protocol_that_is_offered_and_its_requests_by_their_field() {
    let server = server(Limits::default());
    let agent = server.address();
    let serving = serving(&server, 7, 4);
    let shown = key().credential(7);
    let own = || vec![HTTP.to_vec(), Credential::new(&shown).protocol()];
    let answered = told(agent, &own(), true, &request("/?size=10", Some(&shown)));
    assert!(answered.starts_with("HTTP/1.1 200 OK\r\n"), "{answered:?}");
    let without = told(agent, &own(), true, &request("/?size=10", None));
    assert!(without.starts_with("HTTP/1.1 401 "), "{without:?}");
    let other = Credential::new(&key().credential(8)).protocol();
    for protocols in [vec![HTTP.to_vec()], vec![HTTP.to_vec(), other]] {
        assert_eq!(told(agent, &protocols, true, &request("/", Some(&shown))), "");
    }
    let report = finish(serving);
    assert_eq!(report.drained.of(Counter::Completed), 1);
}
