//! Levels of the Pod Security Standards, and the parts of a pod that are beyond `restricted`.

use std::fmt;

use serde_json::{Value, json};

/// A level of the Pod Security Standards. Pods that this crate makes have the first or the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Any user may have it.
    Restricted,
    /// Others may make pods in the namespace, without any way to its node.
    Baseline,
    /// It takes more.
    Privileged,
}

impl Level {
    /// Its word in the labels of namespaces.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Restricted => "restricted",
            Self::Baseline => "baseline",
            Self::Privileged => "privileged",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Sysctls that a pod may set for itself under `restricted`, as far as they are of use here.
#[rustfmt::skip]
const SAFE_SYSCTLS: [&str; 7] = [
    "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_syncookies",
];
/// Volumes that a pod may have under `restricted`.
#[rustfmt::skip]
const SAFE_VOLUMES: [&str; 8] = [
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim",
    "projected", "secret",
];

/// The `securityContext` of a container of ours that needs nothing.
pub(crate) fn unprivileged() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": {"drop": ["ALL"]},
    })
}

/// The needs of a pod beyond `restricted`, in words; empty: there are none.
pub(crate) fn beyond_restricted(pod: &Value) -> Vec<String> {
    let spec = &pod["spec"];
    let mut beyond = Vec::new();
    for (field, what) in [
        ("hostNetwork", "its node's own network"),
        ("hostPID", "its node's processes"),
        ("hostIPC", "its node's IPC"),
    ] {
        if spec[field] == true {
            beyond.push(what.to_owned());
        }
    }
    for volume in items(&spec["volumes"]) {
        let kinds = volume.as_object().into_iter().flatten().map(|(kind, _)| kind.as_str());
        for kind in kinds.filter(|kind| *kind != "name" && !SAFE_VOLUMES.contains(kind)) {
            beyond.push(format!("a volume of type {kind}"));
        }
    }
    for sysctl in items(&spec["securityContext"]["sysctls"]) {
        let name = sysctl["name"].as_str().unwrap_or_default();
        if !SAFE_SYSCTLS.contains(&name) {
            beyond.push(format!("sysctl {name}"));
        }
    }
    for container in items(&spec["containers"]).chain(items(&spec["initContainers"])) {
        of_container(spec, container, &mut beyond);
    }
    beyond
}

/// Fields of a container come before those of its pod.
fn of_container(spec: &Value, container: &Value, beyond: &mut Vec<String>) {
    let name = container["name"].as_str().unwrap_or_default();
    let (own, of_pod) = (&container["securityContext"], &spec["securityContext"]);
    let field = |field: &str| if own[field].is_null() { &of_pod[field] } else { &own[field] };
    let mut add = |what: &str| beyond.push(format!("{what} in container {name}"));
    if own["privileged"] == true {
        add("privilege");
    }
    if own["allowPrivilegeEscalation"] != false {
        add("more privilege for what it starts");
    }
    if field("runAsNonRoot") != true || field("runAsUser") == 0 {
        add("the user root");
    }
    if !items(&own["capabilities"]["drop"]).any(|dropped| dropped == "ALL") {
        add("the usual capabilities");
    }
    for added in items(&own["capabilities"]["add"]).filter(|added| *added != "NET_BIND_SERVICE") {
        add(&format!("capability {}", added.as_str().unwrap_or_default()));
    }
    if !["RuntimeDefault", "Localhost"].iter().any(|kind| field("seccompProfile")["type"] == *kind)
    {
        add("no seccomp profile");
    }
    for port in items(&container["ports"])
        .filter(|port| port["hostPort"].as_u64().is_some_and(|port| port > 0))
    {
        // A pod in the node's network has that in the list already.
        if spec["hostNetwork"] != true {
            add(&format!("port {} of its node", port["hostPort"]));
        }
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
