//! The pod of an agent, a gateway or the services of a mesh.

use std::collections::BTreeSet;

use hopbench_mesh::Protocol;
use hopbench_model::{ClusterSpec, PodSettings, ServerImage};
use serde_json::{Value, json};

use crate::api::labels::{POD, RunIdentity, behind};
use crate::image::layout::USER;
use crate::objects::containers::{AGENT, DATAGRAMS, PEER, PROGRAM};
use crate::objects::secret::{self, CREDENTIALS, FOLDER};
use crate::objects::security::unprivileged;
use crate::objects::sidecar::Sidecar;
use crate::plan::attachment::{Attachment, SHARED};

/// The memory limit of an agent, which protects its node; a scenario's patch may say another.
/// Strangers are bounded by the agent itself. 10 000 connections of `rr` took 22 MB at the client
/// with epoll and io_uring. With a thread each they took 2.9 GB in a closed loop, 290 kB a
/// connection. It was three times that in an open one, which needs a patch.
const MOST_MEMORY: &str = "4Gi";
/// Seconds that a pod has to end: nothing in it has anything to keep.
const GRACE_S: u32 = 1;
/// Seconds that a container may take until it listens.
const START_S: u32 = 120;
/// Seconds that the container of the tools rests, which is longer than any run. Not every `sleep`
/// knows `infinity`.
const REST_S: &str = "2147483647";
/// The agent's user, which no container beside it has. To send echoes from a node's own network,
/// agents and tools have to be root. There is nothing else in such a pod, so that its containers
/// share no processes.
///
/// In a pod whose containers share a PID namespace, a process reads the files of another through
/// `/proc/PID/root` if both have the same user. Then a server program or a proxy could read the
/// agent's key, and could end the agent. With another user the kernel lets it do neither, from the
/// first instruction of the agent on. `PR_SET_DUMPABLE` in the agent would leave a moment at each
/// start, and the signals. The agent reads `stat`, `status` and `cgroup` of its neighbours, which
/// any user may.
const AGENT_USER: u32 = 65531;
/// The volume for what programs of others write.
const SCRATCH: &str = "tmp";

/// All that a pod is made from.
#[derive(Debug)]
pub(crate) struct Recipe<'a> {
    pub(crate) run: &'a RunIdentity,
    pub(crate) spec: &'a ClusterSpec,
    pub(crate) name: &'a str,
    /// The node of the cluster that it has to be on.
    pub(crate) node: &'a str,
    pub(crate) attachment: &'a Attachment,
    /// The agent's port.
    pub(crate) port: u16,
    /// Whether there is an agent.
    pub(crate) has_agent: bool,
    /// Whether it is an end of paths. Otherwise the agent only looks at what is beside it.
    pub(crate) is_end: bool,
    /// The server program beside the agent.
    pub(crate) program: Option<&'a ServerImage>,
    /// What its subject changes in it.
    pub(crate) settings: Option<&'a PodSettings>,
    /// The image of the tools of others beside the agent.
    pub(crate) tools: Option<&'a str>,
    /// Whether such tools send HTTP requests to the agent.
    pub(crate) answers_tools: bool,
    /// Whether it sends ICMP echoes.
    pub(crate) echoes: bool,
    /// The Services that it is behind.
    pub(crate) services: &'a BTreeSet<String>,
    pub(crate) sidecar: Option<&'a Sidecar>,
}

/// The pod, before the scenario's patches.
pub(crate) fn pod(recipe: &Recipe<'_>) -> Value {
    let Recipe { run, node, attachment, sidecar, .. } = recipe;
    let mut metadata = run.metadata(recipe.name);
    let no_more = Sidecar::default();
    let sidecar = sidecar.unwrap_or(&no_more);
    let network = &attachment.network;
    metadata["labels"][POD] = recipe.name.into();
    for service in recipe.services {
        metadata["labels"][behind(service)] = "".into();
    }
    for (key, value) in network.labels.iter().chain(&sidecar.labels) {
        metadata["labels"][key] = value.as_str().into();
    }
    for (key, value) in network.annotations.iter().chain(&sidecar.annotations) {
        metadata["annotations"][key] = value.as_str().into();
    }
    let (mut containers, mut volumes) = (Vec::new(), Vec::new());
    if recipe.has_agent {
        // An `fsGroup` would be a group of all containers. None but the agent's mounts it.
        let own = json!({"secretName": secret::name(recipe.name), "defaultMode": 0o444});
        volumes.push(json!({"name": CREDENTIALS, "secret": own}));
        containers.push(agent(recipe));
    }
    containers.extend(recipe.program.map(|program| server_program(recipe, program)));
    containers.extend(recipe.tools.map(|image| tools(recipe, image)));
    containers.extend(sidecar.containers.iter().cloned());
    if recipe.program.is_some() || recipe.tools.is_some() {
        volumes.push(json!({"name": SCRATCH, "emptyDir": {}}));
    }
    volumes.extend(sidecar.volumes.iter().cloned());
    let at = json!([{"key": "metadata.name", "operator": "In", "values": [node]}]);
    let mut spec = json!({
        // The scheduler puts it there, so that what keeps it away is told; it tolerates nothing
        // that others must not.
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": at}]
        }}},
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": GRACE_S,
        "securityContext": security(recipe),
        "containers": containers,
        "volumes": volumes,
    });
    if !sidecar.init_containers.is_empty() {
        spec["initContainers"] = sidecar.init_containers.clone().into();
    }
    if !recipe.spec.pull_secrets.is_empty() {
        spec["imagePullSecrets"] = named(&recipe.spec.pull_secrets);
    }
    if attachment.host_network {
        spec["hostNetwork"] = true.into();
        spec["dnsPolicy"] = "Default".into();
    }
    // The agent reads what the containers beside it spend.
    let is_beside = recipe.has_agent && (recipe.program.is_some() || sidecar.has_proxy());
    if is_beside && attachment.shares_processes() {
        spec[SHARED] = true.into();
    }
    if let Some(class) = &attachment.runtime_class {
        spec["runtimeClassName"] = class.as_str().into();
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
}

/// Secrets by their names, as a pod refers to those of its images.
pub(crate) fn named(secrets: &[String]) -> Value {
    secrets.iter().map(|name| json!({"name": name})).collect()
}

fn agent(recipe: &Recipe<'_>) -> Value {
    let Recipe { spec, port, settings, .. } = recipe;
    let image = settings.and_then(|own| own.agent.as_ref()).unwrap_or(&spec.image);
    let mut arguments = vec!["serve".to_owned()];
    if recipe.is_end {
        arguments.push("--both-ends".to_owned());
    }
    let file = secret::file();
    arguments.extend(["--credentials-file", &file, "--port", &port.to_string()].map(str::to_owned));
    if recipe.answers_tools {
        arguments.push("--http".to_owned());
    }
    let also: Vec<(u16, Protocol)> =
        recipe.sidecar.iter().flat_map(|sidecar| sidecar.also.clone()).collect();
    if !also.is_empty() {
        let numbers: Vec<String> = also.iter().map(|(number, _)| number.to_string()).collect();
        arguments.extend(["--also".to_owned(), numbers.join(",")]);
    }
    let mut ports = vec![
        json!({"name": AGENT, "containerPort": port, "protocol": "TCP"}),
        json!({"name": DATAGRAMS, "containerPort": port, "protocol": "UDP"}),
    ];
    ports.extend(also.into_iter().map(|(number, protocol)| {
        // Meshes take a port for what its name begins with.
        let word = match protocol {
            Protocol::Http => "http",
            Protocol::Http2 => "http2",
            Protocol::Tcp => "tcp",
        };
        json!({"name": format!("{word}-{number}"), "containerPort": number, "protocol": "TCP"})
    }));
    let mut security = sending(recipe);
    // It may have to be root.
    if security["runAsUser"].is_null() {
        security["runAsUser"] = AGENT_USER.into();
    }
    json!({
        "name": AGENT,
        "image": image,
        "imagePullPolicy": spec.pull_policy,
        "args": arguments,
        "ports": ports,
        "startupProbe": until_it_listens(AGENT),
        // Its last words stand in its status: they need no right to read logs.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": {
            "requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": MOST_MEMORY},
        },
        "securityContext": security,
        "volumeMounts": [{"name": CREDENTIALS, "mountPath": FOLDER, "readOnly": true}],
    })
}

/// The container in which tools of others are started. Until then it rests.
fn tools(recipe: &Recipe<'_>, image: &str) -> Value {
    json!({
        "name": PEER,
        "image": image,
        "imagePullPolicy": recipe.spec.pull_policy,
        "command": ["sleep", REST_S],
        // Numbers with a point, and the words that `import` knows.
        "env": [{"name": "LC_ALL", "value": "C"}, {"name": "HOME", "value": "/tmp"}],
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": {
            "requests": {"cpu": "10m", "memory": "32Mi"},
            "limits": {"memory": MOST_MEMORY},
        },
        "securityContext": sending(recipe),
        "volumeMounts": [{"name": SCRATCH, "mountPath": "/tmp"}],
    })
}

/// The `securityContext` of a container that sends what the pod sends.
fn sending(recipe: &Recipe<'_>) -> Value {
    let mut security = unprivileged();
    // A pod may set this for itself; its node's own network is not its to set up.
    if recipe.echoes && recipe.attachment.host_network {
        security["capabilities"]["add"] = json!(["NET_RAW"]);
        security["runAsUser"] = 0.into();
        security["runAsNonRoot"] = false.into();
    }
    security
}

fn server_program(recipe: &Recipe<'_>, program: &ServerImage) -> Value {
    let mut container = json!({
        "name": PROGRAM,
        "image": program.image,
        "imagePullPolicy": recipe.spec.pull_policy,
        "ports": [{"name": PROGRAM, "containerPort": program.port, "protocol": "TCP"}],
        "startupProbe": until_it_listens(PROGRAM),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
        // Programs write what they like, and where: their root stays theirs.
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": SCRATCH, "mountPath": "/tmp"}],
    });
    if !program.args.is_empty() {
        container["args"] = program.args.clone().into();
    }
    let env = recipe.settings.iter().flat_map(|own| &own.env);
    let env: Vec<Value> = env.map(|(name, value)| json!({"name": name, "value": value})).collect();
    if !env.is_empty() {
        container["env"] = env.into();
    }
    if let Some(millis) = program.cpu_millis {
        container["resources"]["limits"] = json!({"cpu": format!("{millis}m")});
    }
    container
}

/// Asked until it answers once, and never again: no probe disturbs a measurement.
fn until_it_listens(port: &str) -> Value {
    json!({"tcpSocket": {"port": port}, "periodSeconds": 1, "failureThreshold": START_S})
}

fn security(recipe: &Recipe<'_>) -> Value {
    let mut security = json!({
        "runAsNonRoot": true,
        "runAsUser": USER,
        "runAsGroup": USER,
        "seccompProfile": {"type": "RuntimeDefault"},
    });
    let mut sysctls = Vec::new();
    if recipe.echoes {
        sysctls.push(json!({"name": "net.ipv4.ping_group_range", "value": "0 2147483647"}));
    }
    if recipe.program.is_some_and(|program| program.port < 1024) {
        sysctls.push(json!({"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}));
    }
    // They are the node's there.
    if !sysctls.is_empty() && !recipe.attachment.host_network {
        security["sysctls"] = sysctls.into();
    }
    security
}
