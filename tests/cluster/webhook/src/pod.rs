//! A pod, as its own manifest describes it.

use std::collections::BTreeMap;

use hopbench_mesh::{Protocol, exposed};
use serde_json::Value;

/// The annotations of a pod.
pub(crate) fn annotations(pod: &Value) -> BTreeMap<&str, &str> {
    let all = pod["metadata"]["annotations"].as_object().into_iter().flatten();
    all.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect()
}

/// What a port of a pod carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    Tcp,
    Http1,
    Http2,
}

/// The TCP ports of a pod's containers, with what they carry.
///
/// Istio takes that from the Services before a pod. A pod does not know them, so that here its own
/// names of the ports say it by the same words. Failing these, hopbench's own ports do. So does the
/// name that it gives to the port of a server program. What is left is bytes.
pub(crate) fn ports(pod: &Value) -> BTreeMap<u16, Speaks> {
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    let ports =
        containers.flat_map(|container| container["ports"].as_array().into_iter().flatten());
    ports
        .filter(|port| port["protocol"].as_str().is_none_or(|protocol| protocol == "TCP"))
        .filter_map(port)
        .collect()
}

fn port(port: &Value) -> Option<(u16, Speaks)> {
    let number = u16::try_from(port["containerPort"].as_u64()?).ok()?;
    let name = port["name"].as_str().unwrap_or_default();
    let speaks = match name.split('-').next() {
        // In the Service of a program in a mesh, `appProtocol` says it.
        Some("http" | "program") => Speaks::Http1,
        Some("http2" | "grpc") => Speaks::Http2,
        Some("tcp") => Speaks::Tcp,
        _ => known(number),
    };
    Some((number, speaks))
}

/// What hopbench speaks at this port, if it is one of its own; otherwise bytes.
pub(crate) fn known(port: u16) -> Speaks {
    match exposed().find(|one| one.port() == port) {
        Some(one) => match one.protocol {
            Protocol::Http => Speaks::Http1,
            Protocol::Http2 => Speaks::Http2,
            Protocol::Tcp => Speaks::Tcp,
        },
        None => Speaks::Tcp,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_ports_say_what_they_carry() {
        let first = json!({"ports": [
            {"name": "http", "containerPort": 80},
            {"name": "tcp-http", "containerPort": 81, "protocol": "TCP"},
            {"name": "grpc-api", "containerPort": 82},
            {"name": "http-dns", "containerPort": 53, "protocol": "UDP"},
        ]});
        let second =
            json!({"ports": [{"containerPort": 83}, {"name": "httpish", "containerPort": 84}]});
        let third = json!({"ports": [{"name": "program", "containerPort": 85}]});
        let containers = [first, second, third, json!({"name": "none"})];
        let found = ports(&json!({"spec": {"containers": containers}}));
        let expected = [
            (80, Speaks::Http1),
            (81, Speaks::Tcp),
            (82, Speaks::Http2),
            (83, Speaks::Tcp),
            (84, Speaks::Tcp),
            (85, Speaks::Http1),
        ];
        assert_eq!(found, expected.into());
    }

    #[test]
    fn hopbench_s_own_ports_are_known() {
        let told = [17_000, 17_010, 17_020, 17_030, 17_040].map(known);
        let [tcp, http, program, http2, nobody] = told;
        assert_eq!((tcp, http, program), (Speaks::Tcp, Speaks::Http1, Speaks::Http1));
        assert_eq!((http2, nobody), (Speaks::Http2, Speaks::Tcp));
    }
}
