//! The way of an image into a registry.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use docker_credential::{CredentialRetrievalError, DockerCredential};
use hopbench_model::{Fault, with_causes};
use http::{HeaderValue, Uri};
use oci_client::client::{Client, ClientConfig, ClientProtocol};
use oci_client::errors::{OciDistributionError, OciErrorCode};
use oci_client::secrets::RegistryAuth;
use oci_client::{Reference as Target, RegistryOperation};

use super::blob::Blob;
use super::program_image::ProgramImage;
use super::reference::Reference;
use crate::api::proxy;

/// Pushes the blobs of each image, then what points to them under the name.
pub(super) async fn push(
    images: &[ProgramImage],
    of_all: Option<&Blob>,
    reference: &Reference,
    plain_http: bool,
) -> Result<(), Fault> {
    let target: Target = reference
        .full()
        .parse()
        .map_err(|e| Fault::input(format!("{} is no name in a registry: {e}", reference.full())))?;
    let is_plain = plain_http || is_of_this_machine(target.registry());
    let client = client(is_plain).map_err(|e| refused(&target, None, &e))?;
    let proxy = proxy_to(&target, is_plain);
    let failed = |e: OciDistributionError| refused(&target, proxy.as_deref(), &e);
    let auth = credentials(&target)?;
    client.auth(&target, &auth, RegistryOperation::Push).await.map_err(failed)?;
    for image in images {
        for blob in [&image.layer, &image.config] {
            let digest = blob.digest();
            // Most of what is pushed again is there.
            if !client.blob_exists(&target, &digest).await.unwrap_or(false) {
                client.push_blob(&target, blob.bytes.clone(), &digest).await.map_err(failed)?;
            }
        }
    }
    let put = async |at: &Target, blob: &Blob| {
        let media_type = HeaderValue::from_static(blob.media_type());
        client.push_manifest_raw(at, blob.bytes.clone(), media_type).await.map_err(failed)
    };
    match of_all {
        Some(of_all) => {
            for image in images {
                put(&target.clone_with_digest(image.manifest.digest()), &image.manifest).await?;
            }
            put(&target, of_all).await?;
        }
        None => {
            put(&target, &images[0].manifest).await?;
        }
    }
    Ok(())
}

fn client(is_plain: bool) -> Result<Client, OciDistributionError> {
    // Another part of the program may have said so before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::try_from(ClientConfig {
        protocol: if is_plain { ClientProtocol::Http } else { ClientProtocol::Https },
        // Some registries do not take a blob in pieces.
        use_monolithic_push: true,
        https_proxy: proxy::variable(proxy::HTTPS_PROXY),
        no_proxy: proxy::variable(proxy::NO_PROXY),
        user_agent: concat!("hopbench/", env!("CARGO_PKG_VERSION")),
        ..ClientConfig::default()
    })
}

/// The proxy on the way to a registry, without credentials.
fn proxy_to(target: &Target, is_plain: bool) -> Option<String> {
    let scheme = if is_plain { "http" } else { "https" };
    let server: Uri = format!("{scheme}://{}/", target.resolve_registry()).parse().ok()?;
    proxy::of_registry(&server)
}

/// Registries of the same machine have no certificates, as container tools take it, too.
fn is_of_this_machine(registry: &str) -> bool {
    let host = registry.rsplit_once(':').map_or(registry, |(host, _)| host);
    host == "localhost" || host.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
}

/// The credentials that `docker login` left for a registry in `DOCKER_CONFIG`, or in `~/.docker`.
fn credentials(target: &Target) -> Result<RegistryAuth, Fault> {
    let registry = target.registry();
    // Docker keeps those of its own registry under the address of an older version.
    let key = match target.resolve_registry() {
        same if same == registry => registry.to_owned(),
        other => format!("https://{other}/v1/"),
    };
    let of_home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".docker"));
    let folder = std::env::var_os("DOCKER_CONFIG").map(PathBuf::from).or_else(of_home);
    let Some(file) = folder.map(|folder| folder.join("config.json")) else {
        return Ok(RegistryAuth::Anonymous);
    };
    let unusable = |why: &dyn std::fmt::Display| {
        let file = file.display();
        Fault::environment(format!(
            "the credentials for {registry} in {file} cannot be used: {why}"
        ))
    };
    let opened = match File::open(&file) {
        Ok(opened) => opened,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(RegistryAuth::Anonymous),
        Err(e) => return Err(unusable(&e)),
    };
    match docker_credential::get_credential_from_reader(BufReader::new(opened), &key) {
        Ok(DockerCredential::UsernamePassword(user, password)) => {
            Ok(RegistryAuth::Basic(user, password))
        }
        Ok(DockerCredential::IdentityToken(_)) => Err(unusable(
            &"they are an identity token; log in with a user name and a password or access token",
        )),
        Err(CredentialRetrievalError::NoCredentialConfigured) => Ok(RegistryAuth::Anonymous),
        Err(e) => Err(unusable(&e)),
    }
}

/// The fault of a registry, or of the way to it.
fn refused(target: &Target, proxy: Option<&str>, error: &OciDistributionError) -> Fault {
    let registry = target.registry();
    let is_forbidden = match error {
        OciDistributionError::UnauthorizedError { .. }
        | OciDistributionError::AuthenticationFailure(_)
        | OciDistributionError::ServerError { code: 401 | 403, .. } => true,
        OciDistributionError::RegistryError { envelope, .. } => envelope
            .errors
            .iter()
            .any(|one| matches!(one.code, OciErrorCode::Unauthorized | OciErrorCode::Denied)),
        _ => false,
    };
    let advice = match (error, proxy) {
        (OciDistributionError::RequestError(_), Some(proxy)) => {
            let way = proxy::way(proxy, "HTTPS_PROXY, HTTP_PROXY or ALL_PROXY");
            format!("; is {registry} reached from here{way}?")
        }
        _ => String::new(),
    };
    Fault::environment(if is_forbidden {
        let image = target.repository();
        format!("{registry} does not let this user push {image}: try `docker login {registry}`")
    } else {
        format!("cannot push to {registry}: {}{advice}", with_causes(error))
    })
}
