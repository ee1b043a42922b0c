//! Manifests that grant the rights that hopbench uses, and no more: YAML for `kubectl apply`.

use std::fmt::Write;

use hopbench_model::Problem;

use crate::api::names;
use crate::api::rights::{Right, all};

/// The account that is to have the rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Name of the ServiceAccount, and of the role.
    pub name: String,
    /// The namespace that the ServiceAccount is in.
    pub namespace: String,
    /// The rights hold in that namespace only, for runs that are given it (`--namespace`). It
    /// exists already. Otherwise it is made, and the rights hold in the whole cluster.
    pub only_there: bool,
    /// Leave out what only some features need: the changes in the cluster go unseen then, and the
    /// cluster's own meters.
    pub least: bool,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            name: "hopbench".to_owned(),
            namespace: "hopbench".to_owned(),
            only_there: false,
            least: false,
        }
    }
}

impl Account {
    /// The problems that Kubernetes would have with it.
    pub fn problems(&self) -> Vec<Problem> {
        let expected = "a name as Kubernetes takes it (RFC 1123): up to 63 lower-case letters, \
                        digits and dashes, with a letter or a digit at both ends";
        let all = [("--name", &self.name), ("--namespace", &self.namespace)];
        let wrong = all.into_iter().filter(|(_, name)| !names::is_label(name));
        wrong.map(|(flag, name)| Problem::new(flag, name, expected)).collect()
    }
}

/// A ServiceAccount, and the role that it is bound to.
///
/// A `ClusterRole` holds in all namespaces: each run has one of its own, and its name is not known
/// before. A `Role` is enough for runs in one that is there.
pub fn manifests(account: &Account) -> String {
    let Account { name, namespace, only_there, least } = account;
    let kind = if *only_there { "Role" } else { "ClusterRole" };
    let place = if *only_there { format!(", namespace: {namespace}") } else { String::new() };
    let mut yaml = if *only_there {
        format!(
            "# What hopbench does in the namespace {namespace}, and nothing more: for runs with \
             `--namespace {namespace}`.\n\
             # Nodes cannot be listed with it: scenarios name them.\n"
        )
    } else {
        format!(
            "# What hopbench does in a cluster, and nothing more. Every run has a namespace of its \
             own, which is removed with it.\n\
             apiVersion: v1\n\
             kind: Namespace\n\
             metadata: {{name: {namespace}}}\n\
             ---\n"
        )
    };
    // A string takes whatever is written to it.
    let _ = write!(
        yaml,
        "apiVersion: v1\n\
         kind: ServiceAccount\n\
         metadata: {{name: {name}, namespace: {namespace}}}\n\
         ---\n\
         apiVersion: rbac.authorization.k8s.io/v1\n\
         kind: {kind}\n\
         metadata: {{name: {name}{place}}}\n\
         rules:\n"
    );
    let mut only_for = "";
    for right in all(*only_there).filter(|right| right.only_for.is_empty() || !least) {
        if right.only_for != only_for && !right.only_for.is_empty() {
            let _ = writeln!(yaml, "# only {}", purpose(right));
        }
        only_for = right.only_for;
        for line in implied(right) {
            let _ = writeln!(yaml, "# {line}");
        }
        let verbs = right.verbs.join(", ");
        let _ = writeln!(
            yaml,
            "- {{apiGroups: [\"{}\"], resources: [{}], verbs: [{verbs}]}}",
            right.group, right.resource
        );
    }
    let _ = write!(
        yaml,
        "---\n\
         apiVersion: rbac.authorization.k8s.io/v1\n\
         kind: {kind}Binding\n\
         metadata: {{name: {name}{place}}}\n\
         roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: {name}}}\n\
         subjects:\n\
         - {{kind: ServiceAccount, name: {name}, namespace: {namespace}}}\n"
    );
    yaml
}

/// The implications of a right beyond its words, a line each; empty: none.
fn implied(right: &Right) -> &'static [&'static str] {
    let has = |verb: &str| right.verbs.contains(&verb);
    match right.resource {
        "pods" if has("create") => &[
            "`create pods` implies more: a pod may run as any ServiceAccount of its namespace,",
            "and mount all Secrets and ConfigMaps there. The namespace's Pod Security says what",
            "it may do to a node.",
        ],
        "secrets" if has("patch") => &[
            "`patch secrets` implies more: it changes any Secret of a namespace, and the answer",
            "to a patch shows the Secret.",
        ],
        "pods/exec" => &[
            "`create pods/exec` implies more: it starts any program in any container of a",
            "namespace.",
        ],
        "gateways" if has("create") => &[
            "`create gateways` implies more: the controller of a GatewayClass makes pods and",
            "Services for each Gateway, perhaps a load balancer that is reached from outside of",
            "the cluster.",
        ],
        _ => &[],
    }
}

fn purpose(right: &Right) -> String {
    if right.only_for.starts_with("to ") {
        right.only_for.to_owned()
    } else {
        format!("for {}", right.only_for)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
    use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::api::rights::RIGHTS;

    fn read<K: DeserializeOwned>(yaml: &str, number: usize) -> K {
        serde_saphyr::from_str(yaml.split("---\n").nth(number).unwrap()).unwrap()
    }

    /// Group, resource and verb, one of each.
    fn granted(role: &ClusterRole) -> BTreeSet<(String, String, String)> {
        let mut all = BTreeSet::new();
        for rule in role.rules.iter().flatten() {
            let (groups, resources) =
                (rule.api_groups.clone().unwrap(), rule.resources.clone().unwrap());
            assert_eq!((groups.len(), resources.len()), (1, 1), "{rule:?}");
            let of = |verb: &String| (groups[0].clone(), resources[0].clone(), verb.clone());
            for right in rule.verbs.iter().map(of) {
                assert!(all.insert(right.clone()), "twice: {right:?}");
            }
        }
        all
    }

    fn wanted(least: bool) -> BTreeSet<(String, String, String)> {
        let rights = RIGHTS.iter().filter(|right| !least || right.only_for.is_empty());
        let each = |right: &'static Right| {
            right
                .verbs
                .iter()
                .map(|verb| (right.group.to_owned(), right.resource.to_owned(), (*verb).to_owned()))
        };
        rights.flat_map(each).collect()
    }

    #[test]
    fn the_role_has_the_rights_of_the_table() {
        for least in [false, true] {
            let yaml = manifests(&Account { least, ..Account::default() });
            let role: ClusterRole = read(&yaml, 2);
            assert_eq!(granted(&role), wanted(least));
        }
        assert!(wanted(true).is_subset(&wanted(false)) && wanted(true) != wanted(false));
        assert!(
            granted(&read(&manifests(&Account::default()), 2)).iter().all(|(.., verb)| verb != "*")
        );
    }

    #[test]
    fn a_role_in_one_namespace_has_nothing_of_the_cluster() {
        let account = Account { namespace: "team".into(), only_there: true, ..Account::default() };
        let yaml = manifests(&account);
        assert!(!yaml.contains("kind: Namespace") && !yaml.contains("Cluster"), "{yaml}");
        let (role, binding): (Role, RoleBinding) = (read(&yaml, 1), read(&yaml, 2));
        let places = [&role.metadata, &binding.metadata].map(|meta| meta.namespace.as_deref());
        assert_eq!(places, [Some("team"); 2]);
        assert_eq!(
            (binding.role_ref.kind, binding.role_ref.name),
            ("Role".into(), "hopbench".into())
        );
        let granted = |resource: &str| {
            let rules = role.rules.iter().flatten();
            let of =
                rules.filter(|rule| rule.resources.as_ref().is_some_and(|all| all[0] == resource));
            of.flat_map(|rule| rule.verbs.clone()).collect::<Vec<_>>()
        };
        assert_eq!(granted("configmaps"), ["create", "get", "patch", "delete"]);
        assert!(granted("pods").contains(&"deletecollection".to_owned()));
        let cluster = [
            "nodes",
            "nodes/proxy",
            "namespaces",
            "runtimeclasses",
            "customresourcedefinitions",
            "gatewayclasses",
            "ingressclasses",
        ];
        assert!(cluster.iter().all(|resource| granted(resource).is_empty()), "{yaml}");
    }

    #[test]
    fn what_rights_imply_stands_beside_them() {
        for only_there in [false, true] {
            let of = |least| manifests(&Account { only_there, least, ..Account::default() });
            let (all, least) = (of(false), of(true));
            assert!(all.contains("# `create pods` implies") && least.contains("# `create pods`"));
            assert!(all.contains("# `patch secrets` implies") && !least.contains("patch secrets"));
            assert!(all.contains("# `create pods/exec` implies") && !least.contains("pods/exec"));
            assert!(all.contains("# `create gateways` implies") && !least.contains("gateways"));
        }
    }

    #[test]
    fn names_that_kubernetes_does_not_take_are_refused() {
        let problems = |name: &str, namespace: &str| {
            let account =
                Account { name: name.into(), namespace: namespace.into(), ..Account::default() };
            account.problems().into_iter().map(|problem| problem.at).collect::<Vec<_>>()
        };
        assert_eq!(problems("bench-1", "1-tools"), [""; 0]);
        assert_eq!(problems("Bad Name", "tools"), ["--name"]);
        assert_eq!(problems("", "-tools"), ["--name", "--namespace"]);
        assert_eq!(problems(&"x".repeat(63), &"x".repeat(64)), ["--namespace"]);
        assert_eq!(problems("a: b", "a\nb"), ["--name", "--namespace"]);
    }

    #[test]
    fn the_account_is_bound_to_the_role() {
        let account =
            Account { name: "bench".into(), namespace: "tools".into(), ..Account::default() };
        let yaml = manifests(&account);
        assert_eq!(read::<Namespace>(&yaml, 0).metadata.name.as_deref(), Some("tools"));
        let made: ServiceAccount = read(&yaml, 1);
        let names = (made.metadata.name.as_deref(), made.metadata.namespace.as_deref());
        assert_eq!(names, (Some("bench"), Some("tools")));
        let role: ClusterRole = read(&yaml, 2);
        let binding: ClusterRoleBinding = read(&yaml, 3);
        assert_eq!(Some(&binding.role_ref.name), role.metadata.name.as_ref());
        let subject = &binding.subjects.unwrap()[0];
        assert_eq!((subject.name.as_str(), subject.namespace.as_deref()), ("bench", Some("tools")));
    }
}
