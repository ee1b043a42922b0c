//! The rights that hopbench uses, and the question whether this user has them.

use futures::future::join_all;
use hopbench_model::Fault;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::PostParams;

use crate::api::access::Access;
use crate::api::client::Api;

/// A resource and what is done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Right {
    /// The API group; empty: the core.
    pub group: &'static str,
    /// The resource, with its subresource after a slash: `pods/portforward`.
    pub resource: &'static str,
    /// The verbs.
    pub verbs: &'static [&'static str],
    /// Whether it is in a namespace: in each run's own.
    pub namespaced: bool,
    /// The feature that needs it; empty: everything does.
    pub only_for: &'static str,
}

const fn right(
    group: &'static str,
    resource: &'static str,
    verbs: &'static [&'static str],
    namespaced: bool,
) -> Right {
    Right { group, resource, verbs, namespaced, only_for: "" }
}

/// All rights, in the order of their use.
pub const RIGHTS: &[Right] = &[
    right("", "nodes", &["list"], false),
    Right {
        only_for: "to know RuntimeClasses before they are asked for",
        ..right("node.k8s.io", "runtimeclasses", &["list"], false)
    },
    right("", "namespaces", &["create", "delete", "get", "list"], false),
    // The owner of all others, and the signs of life in it: also those of other runs.
    right("", "configmaps", &["create", "get", "patch"], true),
    right("", "secrets", &["create"], true),
    right("", "services", &["create", "get"], true),
    right("", "pods", &["create", "delete", "deletecollection", "get", "list", "watch"], true),
    right("", "pods/portforward", &["create", "get"], true),
    right("", "events", &["list"], true),
    right("discovery.k8s.io", "endpointslices", &["list"], true),
    Right {
        only_for: "`network-policy: true`",
        ..right("networking.k8s.io", "networkpolicies", &["create"], true)
    },
    Right { only_for: ROUTE, ..right(GATEWAY_GROUP, "gateways", &["get"], true) },
    Right { only_for: ROUTE, ..right(GATEWAY_GROUP, "httproutes", &["create", "get"], true) },
    Right { only_for: CALLS, ..right(GATEWAY_GROUP, "grpcroutes", &["create", "get"], true) },
    Right { only_for: TLS, ..right(GATEWAY_GROUP, "tlsroutes", &["create", "get"], true) },
    Right { only_for: BYTES, ..right(GATEWAY_GROUP, "tcproutes", &["create", "get"], true) },
    Right { only_for: CLASS, ..right(GATEWAY_GROUP, "gateways", &["create"], true) },
    Right { only_for: CLASS, ..right(GATEWAY_GROUP, "gatewayclasses", &["list"], false) },
    Right { only_for: INGRESS, ..right(INGRESS_GROUP, "ingresses", &["create", "get"], true) },
    Right { only_for: INGRESS, ..right(INGRESS_GROUP, "ingressclasses", &["list"], false) },
    Right {
        only_for: "`mesh: cilium`",
        ..right("cilium.io", "ciliumnetworkpolicies", &["create"], true)
    },
    Right { only_for: "sidecars of hopbench's own", ..right("", "secrets", &["patch"], true) },
    // Their ports are not in the pod's network, where a port-forward looks.
    Right {
        only_for: "agents in gVisor, Kata and the like, and for `peer` beside a workload",
        ..right("", "pods/exec", &["create", "get"], true)
    },
    Right { only_for: CHANGES, ..right("", "nodes", &["watch"], false) },
    Right { only_for: CHANGES, ..right("", "events", &["watch"], true) },
    Right { only_for: CHANGES, ..right("discovery.k8s.io", "endpointslices", &["watch"], true) },
    Right { only_for: CHANGES, ..right("apps", "deployments", &["list", "watch"], true) },
    Right {
        only_for: CHANGES,
        ..right("autoscaling", "horizontalpodautoscalers", &["list", "watch"], true)
    },
    Right { only_for: WORDS, ..right("", "pods/log", &["get"], true) },
    // This right covers all of the kubelets' API, commands in containers included.
    Right { only_for: METERS, ..right("", "nodes/proxy", &["get"], false) },
    Right { only_for: DOCTOR, ..right("", "services", &["list"], true) },
    Right { only_for: DOCTOR, ..right("apps", "daemonsets", &["list"], true) },
    Right { only_for: DOCTOR, ..right(GATEWAY_GROUP, "gateways", &["list"], true) },
    Right {
        only_for: DOCTOR,
        ..right("apiextensions.k8s.io", "customresourcedefinitions", &["list"], false)
    },
];

/// The feature for which a run makes routes.
pub(crate) const ROUTE: &str = "`gateway: {parent: ...}` and `gateway: {class: ...}`";
/// The feature for which a run makes Gateways.
pub(crate) const CLASS: &str = "`gateway: {class: ...}`";
const CALLS: &str = "calls of gRPC through a Gateway";
const TLS: &str = "HTTP and gRPC over TLS through a Gateway";
const BYTES: &str = "bytes through a Gateway";
/// The feature for which a run makes Ingresses.
const INGRESS: &str = "`gateway: {ingress: ...}`";
const INGRESS_GROUP: &str = "networking.k8s.io";
/// The group of the Gateway API.
pub(crate) const GATEWAY_GROUP: &str = "gateway.networking.k8s.io";
const CHANGES: &str = "to see what changes in the cluster during a trial";
const WORDS: &str = "the last lines of agents that ended, in `agents.log`";
const METERS: &str = "what the kubelets and cAdvisor meter";
const DOCTOR: &str = "`hopbench doctor`";

/// The rights that only runs in a given namespace need: elsewhere the namespace goes with them.
const GIVEN: &[Right] = &[right("", "configmaps", &["delete"], true)];

/// The rights in their order. With a namespace that is `given`, those in it, and no others: a
/// `Role` can grant them.
pub(crate) fn all(given: bool) -> impl Iterator<Item = &'static Right> {
    let more = if given { GIVEN } else { &[] };
    RIGHTS.iter().chain(more).filter(move |right| right.namespaced || !given)
}

/// Those of the rights `asked` for that are missing, with what cannot be done: in the given
/// namespace, or in all.
pub(crate) fn lacking(
    access: &Access,
    namespace: Option<&str>,
    asked: impl Fn(&Right) -> bool,
) -> Result<Vec<(&'static Right, &'static str)>, Fault> {
    let reviews: Api<SelfSubjectAccessReview> = Api::all(access.client.clone());
    let all = all(namespace.is_some()).filter(|right| asked(right));
    let questions = all.flat_map(|right| right.verbs.iter().map(move |verb| (right, *verb))).map(
        |(right, verb)| {
            let reviews = reviews.clone();
            async move {
                let asked = review(right.group, right.resource, verb, namespace);
                let answer = reviews.create(&PostParams::default(), &asked).await?;
                Ok(if is_allowed(&answer) { None } else { Some((right, verb)) })
            }
        },
    );
    let questions: Vec<_> = questions.collect();
    let answers =
        access.ask("this user's rights", async { join_all(questions).await.into_iter().collect() });
    answers.map(|answers: Vec<Option<_>>| answers.into_iter().flatten().collect())
}

/// Whether this user may do something with a resource of any group, in the namespace that is given
/// or in all.
pub(crate) async fn may(
    client: &Client,
    (group, resource): (&str, &str),
    verb: &str,
    namespace: Option<&str>,
) -> kube::Result<bool> {
    let reviews: Api<SelfSubjectAccessReview> = Api::all(client.clone());
    let asked = review(group, resource, verb, namespace);
    Ok(is_allowed(&reviews.create(&PostParams::default(), &asked).await?))
}

fn is_allowed(answer: &SelfSubjectAccessReview) -> bool {
    answer.status.as_ref().is_some_and(|status| status.allowed)
}

fn review(
    group: &str,
    resource: &str,
    verb: &str,
    namespace: Option<&str>,
) -> SelfSubjectAccessReview {
    let (resource, subresource) =
        resource.split_once('/').map_or((resource, None), |(r, s)| (r, Some(s)));
    let attributes = ResourceAttributes {
        group: Some(group.to_owned()),
        resource: Some(resource.to_owned()),
        subresource: subresource.map(str::to_owned),
        verb: Some(verb.to_owned()),
        // A run has a namespace of its own where none is given, so the right has to hold in all.
        namespace: Some(namespace.unwrap_or_default().to_owned()),
        ..ResourceAttributes::default()
    };
    SelfSubjectAccessReview {
        metadata: ObjectMeta::default(),
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(attributes),
            non_resource_attributes: None,
        },
        status: None,
    }
}
