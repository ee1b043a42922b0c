//! Mutual TLS between proxies.

use hopbench_model::{HttpVersion, Variant};
use serde_json::{Value, json};

use super::parts::extension;
use crate::{ProxyIdentity, ProxyRoute, SPIFFE};

/// The server's side of connections from other proxies.
pub(super) fn downstream(
    route: &ProxyRoute,
    variant: &Variant,
    identity: Option<&ProxyIdentity>,
) -> Value {
    let mut common = common(identity);
    if route.protocol.is_http() {
        // What the proxy ahead offers; it has made up its mind.
        common["alpn_protocols"] = match variant.upstream {
            HttpVersion::Http1 => json!(["h2", "http/1.1"]),
            HttpVersion::Http2 => json!(["h2"]),
        };
    }
    socket("Downstream", json!({"require_client_certificate": true}), common)
}

/// The client's side of connections to other proxies. Who is there is told by the certificate's
/// URI, not by a host name, so none is asked for.
pub(super) fn upstream(
    route: &ProxyRoute,
    variant: &Variant,
    identity: Option<&ProxyIdentity>,
) -> Value {
    let mut common = common(identity);
    // Without a list Envoy offers the version that it is about to speak.
    if route.protocol.is_http() && variant.upstream == HttpVersion::Http2 {
        common["alpn_protocols"] = json!(["h2"]);
    }
    socket("Upstream", json!({}), common)
}

fn socket(side: &str, mut config: Value, common: Value) -> Value {
    config["common_tls_context"] = common;
    let message = format!("envoy.extensions.transport_sockets.tls.v3.{side}TlsContext");
    extension("envoy.transport_sockets.tls", &message, config)
}

fn common(identity: Option<&ProxyIdentity>) -> Value {
    let pem =
        |part: fn(&ProxyIdentity) -> &str| json!({"inline_string": identity.map_or("", part)});
    json!({
        "tls_params": {
            "tls_minimum_protocol_version": "TLSv1_3", "tls_maximum_protocol_version": "TLSv1_3",
        },
        "tls_certificates": [{
            "certificate_chain": pem(|identity| &identity.certificate),
            "private_key": pem(|identity| &identity.key),
        }],
        "validation_context": {
            "trusted_ca": pem(|identity| &identity.authority),
            "match_typed_subject_alt_names": [{"san_type": "URI", "matcher": {"prefix": SPIFFE}}],
        },
    })
}
