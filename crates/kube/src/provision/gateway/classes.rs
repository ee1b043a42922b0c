//! The classes of Gateways and Ingresses that a cluster has.

use kube::api::ListParams;
use serde_json::Value;

use super::unmet::{RIGHTS, Unmet, unknown};
use crate::api::access::{Access, explain};
use crate::api::client::Api;

/// A kind of class.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassKind {
    /// `GatewayClass`.
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) resource: &'static str,
    /// The key of a scenario that names one.
    pub(super) key: &'static str,
    /// What a class that is there says against itself.
    pub(super) denied: fn(&str, &Value) -> Option<String>,
}

impl ClassKind {
    /// Why nothing can be made of a class. If this user may not list the classes, that is not known
    /// before.
    pub(super) fn lacking(&self, access: &Access, class: &str) -> Option<Unmet> {
        let classes: Api<Value> =
            Api::everywhere(access.client.clone(), self.version, self.resource);
        let asked = async { Ok(classes.list(ListParams::default()).await) };
        match access.ask("the classes of gateways", asked) {
            Err(fault) => Some(Unmet { why: fault.text, remedy: RIGHTS.to_owned() }),
            Ok(Err(kube::Error::Api(status))) if status.is_forbidden() => None,
            Ok(Err(error)) => Some(
                unknown(&error, self.version)
                    .unwrap_or_else(|| Unmet { why: explain(&error), remedy: RIGHTS.to_owned() }),
            ),
            Ok(Ok(all)) => self.among(&all, class),
        }
    }

    fn among(&self, all: &[Value], class: &str) -> Option<Unmet> {
        let remedy = format!("name another with `{}: NAME`", self.key);
        let name = |one: &Value| one["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let kind = self.name;
        if let Some(found) = all.iter().find(|one| name(one) == class) {
            let why = (self.denied)(&format!("{kind} {class}"), found)?;
            return Some(Unmet { why, remedy });
        }
        let known: Vec<String> = all.iter().map(name).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Some(Unmet { why: format!("there is no {kind} {class}; the cluster has {known}"), remedy })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::GATEWAY_CLASS;
    use super::*;

    #[test]
    fn a_class_that_is_not_there_is_told_with_those_that_are() {
        let class = |name: &str, status: &str| {
            json!({"metadata": {"name": name, "generation": 1}, "status": {"conditions": [
                {
                    "type": "Accepted", "status": status, "reason": "Waiting",
                    "message": "for a controller",
                },
            ]}})
        };
        let all = [class("contour", "True"), class("idle", "Unknown")];
        assert_eq!(GATEWAY_CLASS.among(&all, "contour"), None);
        let idle = GATEWAY_CLASS.among(&all, "idle").unwrap();
        assert_eq!(idle.why, "GatewayClass idle is not Accepted: Waiting (for a controller)");
        let told = |all: &[Value]| GATEWAY_CLASS.among(all, "nginx").unwrap().why;
        assert_eq!(told(&all), "there is no GatewayClass nginx; the cluster has contour, idle");
        assert_eq!(told(&[]), "there is no GatewayClass nginx; the cluster has none");
        assert_eq!(idle.remedy, "name another with `class: NAME`");
    }
}
