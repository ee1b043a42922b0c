//! Reasons why a path cannot enter by a gateway of the cluster, with remedies.

use hopbench_model::ParentGateway;

use crate::api::access::explain;

/// What helps where a right may be missing.
pub(super) const RIGHTS: &str = "`hopbench kube manifests` prints the rights that hopbench uses; \
                                 for a `parent` in another namespace, somebody has to let this \
                                 user `get gateways` there";
const ANOTHER: &str = "name another with `parent: NAMESPACE/NAME`";
const INSTALL: &str = "install it with a controller, or take `gateway: {ingress: CLASS}` or \
                       `{address: HOST:PORT}`";

/// A reason, and its remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unmet {
    pub(crate) why: String,
    pub(crate) remedy: String,
}

impl Unmet {
    /// A Gateway that cannot be the parent of a route.
    pub(super) fn unfit(why: String) -> Self {
        Self { why, remedy: ANOTHER.to_owned() }
    }
}

/// What an error says of a Gateway that was asked for.
pub(super) fn refusal(place: &ParentGateway, error: &kube::Error, version: &str) -> Unmet {
    match error {
        kube::Error::Api(status) if status.code == 404 && status.reason == "NotFound" => {
            Unmet::unfit(format!("there is no Gateway {place}"))
        }
        _ => unknown(error, version).unwrap_or_else(|| Unmet {
            why: format!("Gateway {place}: {}", explain(error)),
            remedy: RIGHTS.to_owned(),
        }),
    }
}

/// What an error says of a whole group and version: that the cluster does not know it.
pub(super) fn unknown(error: &kube::Error, version: &str) -> Option<Unmet> {
    let is_unknown = matches!(error, kube::Error::Api(status) if status.code == 404);
    let why = format!("the cluster does not know {version}: it is not installed");
    is_unknown.then(|| Unmet { why, remedy: INSTALL.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::service::gateway::VERSION;

    #[test]
    fn each_reason_has_its_own_remedy() {
        let place = ParentGateway { namespace: "infra".into(), name: "public".into() };
        let told = |code: u16, reason: &str| {
            let status = kube::core::Status::failure("nothing", reason).with_code(code);
            refusal(&place, &kube::Error::Api(status.boxed()), VERSION)
        };
        let absent = told(404, "NotFound");
        assert_eq!(absent.why, "there is no Gateway infra/public");
        assert!(absent.remedy.starts_with("name another"), "{absent:?}");
        let unknown = told(404, "Not an answer of the API server");
        assert!(unknown.why.contains("is not installed"), "{unknown:?}");
        assert!(unknown.remedy.starts_with("install it"), "{unknown:?}");
        assert!(told(403, "Forbidden").remedy.contains("`get gateways` there"));
    }
}
