//! HTTPS: reviews at `/inject`, and `/ready`.

use std::convert::Infallible;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::review;

/// No review is larger: the API server takes no larger objects.
const LARGEST: usize = 8 << 20;

/// Serves until the process ends.
pub(crate) async fn serve(port: u16, certificate: &Path, key: &Path) -> anyhow::Result<()> {
    let read = || format!("{} and {} cannot be used", certificate.display(), key.display());
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .with_context(read)?
        .collect::<Result<_, _>>()
        .with_context(read)?;
    let key = PrivateKeyDer::from_pem_file(key).with_context(read)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .with_context(read)?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    // A machine without IPv6 has no wildcard for both families.
    let listener = match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
        Ok(listener) => listener,
        Err(_) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))
            .await
            .context("the port cannot be had")?,
    };
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::spawn(converse(acceptor.clone(), stream));
    }
}

/// One connection. What goes wrong on it is the other side's to see.
async fn converse(acceptor: TlsAcceptor, stream: TcpStream) {
    if let Ok(stream) = acceptor.accept(stream).await {
        let served = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service_fn(answer));
        drop(served.await);
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, body) = match (request.method(), request.uri().path()) {
        (&Method::GET, "/ready") => (StatusCode::OK, b"ready\n".to_vec()),
        (&Method::POST, "/inject") => {
            match Limited::new(request.into_body(), LARGEST).collect().await {
                Ok(body) => review::answer(&body.to_bytes()).map_or_else(
                    |why| (StatusCode::BAD_REQUEST, why.into_bytes()),
                    |said| (StatusCode::OK, said),
                ),
                Err(why) => (StatusCode::BAD_REQUEST, why.to_string().into_bytes()),
            }
        }
        _ => (StatusCode::NOT_FOUND, b"not found: POST /inject, GET /ready\n".to_vec()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert("content-type", hyper::header::HeaderValue::from_static("application/json"));
    Ok(response)
}
