//! `testbed:`, one or several.

use hopbench_model::{IpFamily, MeshProvider};
use serde_json::{Map, Value, json};

use super::parts::{BIT_RATE, LABEL_KEY, NODE, QUANTITY, annotations, described};
use crate::testbed::{
    CLUSTER_KEYS, CONSTRAINT_KEYS, GATEWAY_KEYS, HOST_KEYS, HOSTS_KEYS, IMAGE, LAB_KEYS, MESH_KEYS,
    MOST_NODES, MTU, NETWORK_KEYS, NODE_KEYS, PEER_KEYS, PROMETHEUS_KEYS, PULL_POLICIES,
    SERVER_KEYS,
};

/// A label of the DNS.
pub(super) const LABEL: &str = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
/// The name of an image.
pub(super) const IMAGE_NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_./:@-]*$";
const LABEL_VALUE: &str = "^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$";
/// Name or address, and port.
pub(super) const ENDPOINT: &str = r"(\[[0-9a-fA-F:.]+\]|[a-z0-9][a-z0-9.-]*):[0-9]+";

/// A name of labels with dots between them.
pub(super) fn domain() -> String {
    format!(r"{LABEL}(\.{LABEL})*")
}

/// `testbed:`.
pub(super) fn testbed() -> Value {
    let blocks = Map::from_iter([
        ("lab".to_owned(), described(lab(), "Network namespaces on this machine")),
        ("kubernetes".to_owned(), described(kubernetes(), "Pods of a Kubernetes cluster")),
        (
            "hosts".to_owned(),
            described(hosts(), "Machines on which somebody started `hopbench serve --both-ends`"),
        ),
    ]);
    let several = json!({
        "type": "object", "additionalProperties": false, "minProperties": 1, "properties": blocks,
    });
    let any = json!({"anyOf": [{"enum": ["lab", "kubernetes"]}, several]});
    described(any, "Where it runs; of several the first, unless --testbed says another")
}

/// A mapping in which all of `keys` are known; what there is to say of each, `of` says.
fn mapping(keys: &[&str], of: impl Fn(&str) -> (Value, &'static str)) -> Value {
    let properties: Map<String, Value> = keys
        .iter()
        .map(|key| {
            let (schema, about) = of(key);
            ((*key).to_owned(), described(schema, about))
        })
        .collect();
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}

/// The same, or nothing.
fn optional(mut mapping: Value) -> Value {
    mapping["type"] = json!(["object", "null"]);
    mapping
}

fn required(mut mapping: Value, keys: &[&str]) -> Value {
    mapping["required"] = json!(keys);
    mapping
}

fn text(pattern: &str) -> Value {
    json!({"type": "string", "pattern": format!("^{pattern}$")})
}

/// Entries by names that the user gives.
fn by_name(name: &str, entry: &Value) -> Value {
    json!({"type": "object", "minProperties": 1, "propertyNames": {"pattern": format!("^{name}$")},
           "additionalProperties": entry})
}

fn lab() -> Value {
    let node = || {
        optional(mapping(NODE_KEYS, |key| match key {
            "zone" => (text(NODE), "Nodes of one zone share a bridge"),
            "link" => (link(), "Rate of this node's link"),
            _ => (
                json!({"type": ["string", "number"], "pattern": QUANTITY}),
                "How long its servers spin before each answer of rr and http, at most 10ms",
            ),
        }))
    };
    let nodes = || {
        let mut by_name = by_name(NODE, &node());
        by_name["maxProperties"] = json!(MOST_NODES);
        json!({"anyOf": [
            {
                "type": "integer", "minimum": 1, "maximum": MOST_NODES,
                "description": "So many, called a, b, c ...",
            },
            {
                "type": "array", "minItems": 1, "maxItems": MOST_NODES, "uniqueItems": true,
                "items": text(NODE),
            },
            by_name,
        ]})
    };
    optional(mapping(LAB_KEYS, |key| match key {
        "nodes" => (nodes(), "Without it, those that the paths name"),
        "link" => (link(), "Rate of the nodes' links, each direction; not shaped without it"),
        "mtu" => (
            json!({
                "type": "integer", "minimum": MTU.start(), "maximum": MTU.end(), "default": 1500,
            }),
            "MTU of the nodes' links, bytes",
        ),
        "zone-link" => (link(), "Rate of the link between two zones"),
        _ => (
            json!({"type": ["string", "number"], "pattern": QUANTITY}),
            "One-way delay between two zones; needs netem",
        ),
    }))
}

fn kubernetes() -> Value {
    let image = |default: Option<&str>| {
        let mut schema = json!({"type": "string", "pattern": IMAGE_NAME});
        schema["default"] = default.map_or(Value::Null, Value::from);
        schema
    };
    let patch = || json!({"type": "object"});
    optional(mapping(CLUSTER_KEYS, |key| match key {
        "context" => {
            (json!({"type": "string"}), "The context of the kubeconfig; its current one without it")
        }
        "image" => (
            image(Some(IMAGE)),
            "The image of the agents' pods, as `hopbench kube image` writes it",
        ),
        "pull-policy" => {
            (json!({"enum": PULL_POLICIES, "default": PULL_POLICIES[0]}), "When it is pulled")
        }
        "pull-secret" => (
            pull_secret(),
            "The Secrets with which nodes pull images; they are in the namespace that \
             `--namespace` gives",
        ),
        "nodes" => (
            by_name(&domain(), &constraint()),
            "Which nodes of the cluster the scenario's are; all others are any",
        ),
        "networks" => {
            (by_name(LABEL, &network()), "What kinds of network are here, beside host and pod")
        }
        "runtimes" => (
            by_name(LABEL, &text(&domain())),
            "RuntimeClasses of runtimes that are called otherwise",
        ),
        "servers" => {
            (by_name(LABEL, &server()), "Programs that answer HTTP, in images of their own")
        }
        "peers" => (peers(), "What has the tools of others that measure beside a workload"),
        "patch" => (patch(), "A strategic merge patch for the template of every pod"),
        "objects" => (
            objects(),
            "Further objects that each run makes in its namespace before its pods, and removes \
             with it",
        ),
        "mesh" => (mesh(), "Who puts sidecars beside the agents; hopbench itself without it"),
        "gateway" => {
            (gateway(), "The gateway that `via: gateway` enters, in place of one of our own")
        }
        "gateways" => (
            by_name("[a-z0-9]([a-z0-9-]{0,28}[a-z0-9])?", &gateway()),
            "Gateways by the names that `via: gateway@NAME` enters them by",
        ),
        "prometheus" => (prometheus(), "Where Prometheus is, to meter containers by"),
        "network-policy" => (
            json!({"type": "boolean", "default": false}),
            "Whether a NetworkPolicy lets only the run's pods reach each other",
        ),
        "allow-commands" => (
            json!({"type": "boolean", "default": false}),
            "Whether commands of subjects may run, on the machine that runs `hopbench run`",
        ),
        _ => (
            json!({"type": ["string", "number"], "pattern": QUANTITY, "default": "120s"}),
            "How long pods may take to get ready",
        ),
    }))
}

/// The name of a Secret, or several.
fn pull_secret() -> Value {
    let name = text(&domain());
    let several = json!({"type": "array", "minItems": 1, "uniqueItems": true, "items": name});
    json!({"anyOf": [name, several]})
}

/// Objects as in a manifest, of whose metadata the run has most.
fn objects() -> Value {
    let text = || json!({"type": "string", "minLength": 1});
    let metadata = json!({
        "type": "object", "required": ["name"], "additionalProperties": false,
        "properties": {
            "name": text(), "labels": {"type": "object"}, "annotations": {"type": "object"},
        },
    });
    json!({"type": "array", "items": {
        "type": "object", "required": ["apiVersion", "kind", "metadata"],
        "properties": {"apiVersion": text(), "kind": text(), "metadata": metadata},
    }})
}

fn link() -> Value {
    json!({"type": "string", "pattern": BIT_RATE})
}

fn labels() -> Value {
    json!({
        "type": "object", "minProperties": 1, "propertyNames": {"pattern": LABEL_KEY},
        "additionalProperties": {
            "type": ["string", "number", "boolean"], "pattern": LABEL_VALUE,
        },
    })
}

fn constraint() -> Value {
    optional(mapping(CONSTRAINT_KEYS, |key| match key {
        "name" => (text(&domain()), "The name of the cluster's node"),
        "labels" => (labels(), "Labels that it must have"),
        "link" => (link(), "Rate of its link, for its share in reports"),
        _ => (
            json!({"type": ["string", "number"], "pattern": LABEL_VALUE, "minLength": 1}),
            "The same word, the same zone; the zone's name or any other word",
        ),
    }))
}

fn network() -> Value {
    optional(mapping(NETWORK_KEYS, |key| match key {
        "runtime-class" => (text(&domain()), "A RuntimeClass whose pods have it"),
        "annotations" => {
            (annotations(), "Annotations of its pods, like k8s.v1.cni.cncf.io/networks")
        }
        "labels" => (labels(), "Labels of its pods"),
        "interface" => (
            json!({"type": "string", "minLength": 1, "maxLength": 15}),
            "The interface whose address the traffic goes to; the pod's own address without it",
        ),
        _ => (json!({"type": "object"}), "A strategic merge patch for the template of its pods"),
    }))
}

fn server() -> Value {
    let known = mapping(SERVER_KEYS, |key| match key {
        "image" => (json!({"type": "string", "pattern": IMAGE_NAME}), "The image"),
        "port" => (
            json!({"type": "integer", "minimum": 1, "maximum": u16::MAX, "default": 80}),
            "The port on which it answers HTTP",
        ),
        "cpus" => (
            json!({
                "type": ["string", "number"], "pattern": r"^[0-9]+(m|\.[0-9]{1,3})?$",
                "maximum": 1024, "exclusiveMinimum": 0,
            }),
            "CPUs that it may use, like 2, 0.5 or 500m; no limit without it",
        ),
        "args" => (
            json!({"type": "array", "items": {"type": ["string", "number", "boolean"]}}),
            "Its arguments; the image's own without them",
        ),
        _ => (
            json!({"type": "string", "pattern": "^/[^#]*$", "default": "/"}),
            "Path and query to request, with {bytes} for the size of the answer",
        ),
    });
    required(known, &["image"])
}

fn peers() -> Value {
    let image = json!({"type": "string", "pattern": IMAGE_NAME});
    let known = mapping(PEER_KEYS, |_| {
        (image.clone(), "The image that has the tools, and `sh`, `sleep` and `cat`")
    });
    required(known, PEER_KEYS)
}

fn mesh() -> Value {
    let provider = json!({"enum": MeshProvider::ALL.map(MeshProvider::name)});
    let long = mapping(MESH_KEYS, |key| match key {
        "provider" => {
            (provider.clone(), "Who; envoy: plain sidecars of our own, without a control plane")
        }
        "image" => (
            json!({"type": "string", "pattern": IMAGE_NAME}),
            "The image of our own sidecars and gateways",
        ),
        "families" => (
            json!({
                "type": "array", "minItems": 1, "uniqueItems": true,
                "items": {"enum": IpFamily::ALL.map(IpFamily::word)},
            }),
            "The families of addresses that the proxies of others are set up for",
        ),
        _ => (text(LABEL), "Istio's revision (istio.io/rev), where it is not the default one"),
    });
    json!({"anyOf": [provider, long]})
}

fn gateway() -> Value {
    let known = mapping(GATEWAY_KEYS, |key| match key {
        "address" => (text(ENDPOINT), "Address and port that clients connect to"),
        "parent" => (
            text(&format!("^{LABEL}/{LABEL}$")),
            "The Gateway (NAMESPACE/NAME) that routes of the run are attached to",
        ),
        "class" => (text(&domain()), "The GatewayClass of a Gateway that the run makes"),
        "ingress" => (text(&domain()), "The IngressClass of an Ingress that the run makes"),
        "namespace" => (text(LABEL), "The namespace of its pods, whose CPU counts"),
        _ => (labels(), "Labels of its pods"),
    });
    let mut known = known;
    known["oneOf"] = json!([
        {"required": ["parent"]},
        {"required": ["class"]},
        {"required": ["ingress"]},
        {"required": ["address"], "not": {"required": ["ingress"]}},
    ]);
    known["dependentRequired"] = json!({"namespace": ["labels"], "labels": ["namespace"]});
    known
}

fn prometheus() -> Value {
    let mut known = mapping(PROMETHEUS_KEYS, |key| match key {
        "url" => (text("https?://[A-Za-z0-9\\[]\\S*"), "Its URL, reachable from here"),
        _ => (
            text(&format!("{LABEL}/{LABEL}:[0-9]+")),
            "A Service, as NAMESPACE/NAME:PORT, through the API server",
        ),
    });
    known["minProperties"] = json!(1);
    known["maxProperties"] = json!(1);
    known
}

fn hosts() -> Value {
    let agent = || text(&format!(r"({ENDPOINT}|\[?[0-9a-fA-F:.]+\]?|{})", domain()));
    let token = || json!({"type": "string", "minLength": 1});
    let machine = || {
        let known = mapping(HOST_KEYS, |key| match key {
            "control" => {
                (agent(), "Name or address of the agent, with the port where it is not 7474")
            }
            "token-file" => (token(), "The file with this agent's own token"),
            _ => (agent(), "Where the traffic goes; to the same without it"),
        });
        json!({"anyOf": [agent(), required(known, &["control"])]})
    };
    let known = mapping(HOSTS_KEYS, |key| match key {
        "nodes" => {
            let mut nodes = by_name(&domain(), &machine());
            nodes["maxProperties"] = json!(MOST_NODES);
            (nodes, "The machines, by their names in the scenario")
        }
        _ => (
            token(),
            "The file with the token of those that have none of their own; they take anybody \
             without it",
        ),
    });
    required(known, &["nodes"])
}
