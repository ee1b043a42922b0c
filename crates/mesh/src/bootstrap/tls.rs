//! Mutual TLS between proxies.

use hopbench_model::{HttpVersion, Variant};
use serde_json::{Value, json};

use super::parts::extension;
use crate::{Protocol, ProxyIdentity, ProxyRoute, SPIFFE};

/// The server's side of connections from other proxies.
pub(super) fn downstream(
    route: &ProxyRoute,
    variant: &Variant,
    identity: Option<&ProxyIdentity>,
) -> Value {
    socket(
        "Downstream",
        json!({"require_client_certificate": true}),
        common(route, variant, identity),
    )
}

/// The client's side of connections to other proxies. Who is there is told by the certificate's
/// URI, not by a host name, so none is asked for.
pub(super) fn upstream(
    route: &ProxyRoute,
    variant: &Variant,
    identity: Option<&ProxyIdentity>,
) -> Value {
    socket("Upstream", json!({}), common(route, variant, identity))
}

fn socket(side: &str, mut config: Value, common: Value) -> Value {
    config["common_tls_context"] = common;
    let message = format!("envoy.extensions.transport_sockets.tls.v3.{side}TlsContext");
    extension("envoy.transport_sockets.tls", &message, config)
}

fn common(route: &ProxyRoute, variant: &Variant, identity: Option<&ProxyIdentity>) -> Value {
    let pem =
        |part: fn(&ProxyIdentity) -> &str| json!({"inline_string": identity.map_or("", part)});
    let mut common = json!({
        "tls_params": {"tls_minimum_protocol_version": "TLSv1_3", "tls_maximum_protocol_version": "TLSv1_3"},
        "tls_certificates": [{
            "certificate_chain": pem(|identity| &identity.certificate),
            "private_key": pem(|identity| &identity.key),
        }],
        "validation_context": {
            "trusted_ca": pem(|identity| &identity.authority),
            "match_typed_subject_alt_names": [{"san_type": "URI", "matcher": {"prefix": SPIFFE}}],
        },
    });
    if route.protocol == Protocol::Http {
        let alpn = match variant.upstream {
            HttpVersion::Http1 => "http/1.1",
            HttpVersion::Http2 => "h2",
        };
        common["alpn_protocols"] = json!([alpn]);
    }
    common
}
