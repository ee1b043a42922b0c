//! Parts that recur in a bootstrap: extensions, typed configurations and addresses.

use serde_json::{Value, json};

/// No limit, where Envoy wants a number.
pub(super) const UNLIMITED: u32 = u32::MAX;

/// An extension of Envoy by its name, with its configuration, which is a message of this type.
pub(super) fn extension(name: &str, message: &str, config: Value) -> Value {
    json!({"name": name, "typed_config": typed(message, config)})
}

/// A configuration that says which message it is.
pub(super) fn typed(message: &str, mut config: Value) -> Value {
    config["@type"] = format!("type.googleapis.com/{message}").into();
    config
}

/// An address as Envoy writes it.
pub(super) fn address(ip: &str, port: u16) -> Value {
    json!({"socket_address": {"address": ip, "port_value": port}})
}
