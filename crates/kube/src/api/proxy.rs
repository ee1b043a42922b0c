//! The proxy on the way to an API server: that of the kubeconfig, or of the environment.

use hopbench_model::Fault;
use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use kube::config::Kubeconfig;

/// The proxy for a server. As kubectl takes it: `proxy-url` of the context's cluster; else
/// `HTTPS_PROXY`, unless `NO_PROXY` names the server.
pub(super) fn of(
    kubeconfig: &Kubeconfig,
    context: Option<&str>,
    server: &Uri,
) -> Result<Option<Uri>, Fault> {
    if let Some(text) = of_file(kubeconfig, context) {
        return parsed("proxy-url of the kubeconfig", &text).map(Some);
    }
    let of_environment = |names: [&str; 2]| {
        let values = names.iter().filter_map(|name| std::env::var(name).ok());
        values.into_iter().find(|value| !value.is_empty())
    };
    let Some(text) = of_environment(["HTTPS_PROXY", "https_proxy"]) else { return Ok(None) };
    let proxy = parsed("HTTPS_PROXY", &text)?;
    let around = of_environment(["NO_PROXY", "no_proxy"]).unwrap_or_default();
    // Which proxy it is has no part in it: the question is which servers have none.
    let matcher = Matcher::builder().all("http://127.0.0.1:1").no(around).build();
    Ok(matcher.intercept(server).map(|_| proxy))
}

fn of_file(kubeconfig: &Kubeconfig, context: Option<&str>) -> Option<String> {
    let name = context.or(kubeconfig.current_context.as_deref())?;
    let context = kubeconfig.contexts.iter().find(|known| known.name == name)?;
    let cluster = &context.context.as_ref()?.cluster;
    let cluster = kubeconfig.clusters.iter().find(|known| known.name == *cluster)?;
    cluster.cluster.as_ref()?.proxy_url.clone().filter(|url| !url.is_empty())
}

fn parsed(what: &str, text: &str) -> Result<Uri, Fault> {
    let is_proxy = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https" | "socks5"));
    // It may have a password.
    text.parse().ok().filter(is_proxy).ok_or_else(|| {
        Fault::input(format!("{what}: expected a URL like http://HOST:PORT or socks5://HOST:PORT"))
    })
}
