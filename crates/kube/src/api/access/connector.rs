//! The client of an API server, and the connections that it opens.
//!
//! The library's own client leaves Nagle's algorithm on (RFC 896). The second of two small messages
//! then waits until the first is acknowledged, which takes a server up to 40 ms. Control sessions
//! consist of small messages.

use http::Uri;
use http::uri::Scheme;
use hyper_rustls::MaybeHttpsStream;
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kube::client::ConfigExt;
use kube::client::retry::RetryPolicy;
use kube::{Client, Config, Error};
use tokio::net::TcpStream;
use tower::retry::RetryLayer;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceBuilder, ServiceExt};

/// Connects to a server, straight or through a proxy. The server's TLS is not its part.
type Connector = BoxCloneSyncService<Uri, MaybeHttpsStream<TokioIo<TcpStream>>, BoxError>;

/// A client for the server that `config` names. Must be called inside a runtime: it starts a
/// task. Nothing is asked of the server yet.
///
/// # Errors
/// Certificates or headers that cannot be used, a proxy of an unknown kind.
pub(crate) fn client_of(config: Config) -> kube::Result<Client> {
    let https = config.rustls_https_connector_with_connector(connector(&config)?)?;
    let mut timed = TimeoutConnector::new(https);
    timed.set_connect_timeout(config.connect_timeout);
    timed.set_read_timeout(config.read_timeout);
    timed.set_write_timeout(config.write_timeout);
    timed.set_reset_reader_on_write(config.reset_reader_on_write);
    let retry = config.default_retry.then(|| RetryLayer::new(RetryPolicy::server_retry()));
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(retry)
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(HttpClient::builder(TokioExecutor::new()).build(timed));
    Ok(Client::new(service, config.default_namespace))
}

/// The connector to the server of a configuration, by its proxy if it has one.
fn connector(config: &Config) -> kube::Result<Connector> {
    let mut tcp = HttpConnector::new();
    // `https` is the TLS layer's, above this one.
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let Some(url) = &config.proxy_url else {
        let connector = tcp.map_response(MaybeHttpsStream::Http).map_err(BoxError::from);
        return Ok(BoxCloneSyncService::new(connector));
    };
    let unknown = || Error::ProxyProtocolUnsupported { proxy_url: Box::new(url.clone()) };
    let matcher = Matcher::builder().all(url.to_string()).build();
    // Any server would do: there is one proxy for all.
    let proxy = matcher.intercept(&Uri::from_static("https://server")).ok_or_else(unknown)?;
    match proxy.uri().scheme() {
        Some(scheme) if *scheme == Scheme::HTTP => {
            let connector = tunnel(&proxy, tcp).map_response(MaybeHttpsStream::Http);
            Ok(BoxCloneSyncService::new(connector.map_err(BoxError::from)))
        }
        Some(scheme) if *scheme == Scheme::HTTPS => {
            let connector = tunnel(&proxy, config.rustls_https_connector_with_connector(tcp)?);
            Ok(BoxCloneSyncService::new(connector.map_err(BoxError::from)))
        }
        Some(scheme) if scheme.as_str() == "socks5" => {
            let mut connector = SocksV5::new(proxy.uri().clone(), tcp);
            if let Some((user, password)) = proxy.raw_auth() {
                connector = connector.with_auth(user.to_owned(), password.to_owned());
            }
            let connector = connector.map_response(MaybeHttpsStream::Http);
            Ok(BoxCloneSyncService::new(connector.map_err(BoxError::from)))
        }
        _ => Err(unknown()),
    }
}

/// A proxy that is asked to connect, with the user and password of its URL.
fn tunnel<C>(proxy: &Intercept, connector: C) -> Tunnel<C> {
    let tunnel = Tunnel::new(proxy.uri().clone(), connector);
    match proxy.basic_auth() {
        Some(header) => tunnel.with_auth(header.clone()),
        None => tunnel,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A proxy that lets its one client in: the answers, each to one message. What it was told.
    fn proxy(answers: &'static [&'static [u8]]) -> (String, thread::JoinHandle<Vec<u8>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap().to_string();
        let asked = thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut told = Vec::new();
            for answer in answers {
                let mut bytes = [0; 1024];
                let count = client.read(&mut bytes).unwrap();
                told.extend_from_slice(&bytes[..count]);
                client.write_all(answer).unwrap();
            }
            told
        });
        (at, asked)
    }

    /// Whether a connection by this proxy sends small messages at once.
    fn is_prompt(server: &str, proxy: Option<String>) -> bool {
        let mut config = Config::new(server.parse().unwrap());
        config.proxy_url = proxy.map(|url| url.parse().unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let stream =
                connector(&config).unwrap().oneshot(config.cluster_url.clone()).await.unwrap();
            let MaybeHttpsStream::Http(tcp) = stream else { panic!("TLS at a proxy without it") };
            tcp.inner().nodelay().unwrap()
        })
    }

    #[test]
    fn small_messages_are_sent_at_once_on_every_way() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(is_prompt(&format!("http://{}", server.local_addr().unwrap()), None));

        let (at, asked) = proxy(&[b"HTTP/1.1 200 OK\r\n\r\n"]);
        assert!(is_prompt("https://cluster.invalid:6443", Some(format!("http://a:p%40b@{at}"))));
        let asked = String::from_utf8(asked.join().unwrap()).unwrap().to_lowercase();
        assert!(asked.starts_with("connect cluster.invalid:6443 "), "{asked}");
        // Of `a:p@b`.
        assert!(asked.contains("\r\nproxy-authorization: basic ytpwqgi=\r\n"), "{asked}");

        // By name and password (RFC 1929), then to the server.
        let (at, asked) = proxy(&[&[5, 2], &[1, 0], &[5, 0, 0, 1, 127, 0, 0, 1, 0, 80]]);
        assert!(is_prompt("https://cluster.invalid:6443", Some(format!("socks5://u:p@{at}"))));
        let asked = asked.join().unwrap();
        assert!(asked.windows(5).any(|part| part == [1, 1, b'u', 1, b'p']), "{asked:?}");
        assert!(asked.windows(15).any(|part| part == b"cluster.invalid"), "{asked:?}");
    }

    #[test]
    fn a_proxy_of_an_unknown_kind_is_refused() {
        let mut config = Config::new("https://cluster.invalid".parse().unwrap());
        config.proxy_url = Some("ftp://127.0.0.1:1".parse().unwrap());
        let refused = connector(&config).err().unwrap().to_string();
        assert!(refused.contains("ftp://127.0.0.1:1"), "{refused}");
    }
}
