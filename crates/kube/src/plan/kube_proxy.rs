//! The mode of kube-proxy, or of its replacement: the translation of Services on the nodes.

use std::time::Duration;

use futures::future::join3;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use tokio::time::timeout;

use crate::api::client::Api;
use crate::api::http::get;

/// Time limit for each answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// The sources for the mode of kube-proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KubeProxy {
    /// The answer of a kube-proxy, or the reason why there is none.
    pub(crate) said: Result<String, String>,
    /// Its configuration.
    pub(crate) config: Option<String>,
    /// Cilium's setting for doing its work.
    pub(crate) cilium: Option<String>,
}

impl KubeProxy {
    /// Asks that of a node, and looks at the configurations; takes little more than 3 s at worst.
    pub(crate) async fn of(client: &Client, node: &str) -> Self {
        let config = |name, key| config(client, name, key);
        let (said, config, cilium) = join3(
            said(client, node),
            config("kube-proxy", "config.conf"),
            config("cilium-config", "kube-proxy-replacement"),
        )
        .await;
        Self { said, config, cilium }
    }

    /// Its mode, and the source of that; `None`: not known.
    pub(crate) fn mode(&self) -> Option<String> {
        if let Ok(mode) = &self.said {
            return Some(format!("{mode}, as it says itself"));
        }
        if self.cilium.as_deref().is_some_and(|said| said == "true" || said == "strict") {
            return Some("none: Cilium does its work".to_owned());
        }
        let mode = self.config.as_deref().and_then(configured)?;
        Some(format!("{mode}, by the ConfigMap kube-system/kube-proxy"))
    }
}

/// A kube-proxy says its mode on its port for metrics, where that is not the node's own alone.
async fn said(client: &Client, node: &str) -> Result<String, String> {
    let path = format!("/api/v1/nodes/{node}:10249/proxy/proxyMode");
    match timeout(PATIENCE, get(client, &path)).await {
        Ok(said) => said.map(|mode| mode.trim().to_owned()),
        Err(_) => Err(format!("no answer within {PATIENCE:?}")),
    }
}

async fn config(client: &Client, name: &str, key: &str) -> Option<String> {
    let configs: Api<ConfigMap> = Api::namespaced(client.clone(), "kube-system");
    timeout(PATIENCE, configs.get_opt(name)).await.ok()?.ok().flatten()?.data?.remove(key)
}

/// The mode in kube-proxy's configuration; what it says where it says nothing.
fn configured(config: &str) -> Option<String> {
    let line = config.lines().find_map(|line| line.trim_start().strip_prefix("mode:"))?;
    let mode = line.trim().trim_matches(['"', '\'']);
    Some(if mode.is_empty() { "iptables".to_owned() } else { mode.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_what_whoever_knows_best_says() {
        let mut proxy = KubeProxy { said: Ok("iptables".to_owned()), config: None, cilium: None };
        assert_eq!(proxy.mode().unwrap(), "iptables, as it says itself");
        proxy.said = Err("refused".to_owned());
        assert_eq!(proxy.mode(), None);
        let config = "kind: KubeProxyConfiguration\nipvs:\n  strictARP: false\nmode: \"ipvs\"\n";
        proxy.config = Some(config.to_owned());
        assert!(proxy.mode().unwrap().starts_with("ipvs, by"));
        proxy.config = Some("mode: \"\"\n".to_owned());
        assert!(proxy.mode().unwrap().starts_with("iptables, by"));
        proxy.cilium = Some("true".to_owned());
        assert!(proxy.mode().unwrap().starts_with("none"));
    }
}
