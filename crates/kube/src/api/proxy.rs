//! The proxy on the way to an API server: that of the kubeconfig, or of the environment. That on
//! the way to a registry, and the words for both.

use hopbench_model::Fault;
use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use kube::config::Kubeconfig;

/// The variable with the proxy for servers with TLS.
pub(crate) const HTTPS_PROXY: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
/// The variable with the servers that need no proxy.
pub(crate) const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// The value of the first of these variables that has one.
pub(crate) fn variable(names: [&str; 2]) -> Option<String> {
    let values = names.iter().filter_map(|name| std::env::var(name).ok());
    values.into_iter().find(|value| !value.is_empty())
}

/// A proxy without the credentials that its URL may have.
pub(crate) fn named(url: &Uri) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", url.scheme_str().unwrap_or("http"), url.host().unwrap_or_default())
}

/// The words for a way that leads by a proxy; `of` says where it is named.
pub(crate) fn way(proxy: &str, of: &str) -> String {
    format!(" by the proxy {proxy} (of {of}; NO_PROXY leaves it out)")
}

/// The proxy for a registry, without credentials. The client of registries is given `HTTPS_PROXY`.
/// Without that it looks at `HTTP_PROXY` and `ALL_PROXY` itself.
pub(crate) fn of_registry(server: &Uri) -> Option<String> {
    let matcher = match variable(HTTPS_PROXY) {
        Some(proxy) => {
            Matcher::builder().https(proxy).no(variable(NO_PROXY).unwrap_or_default()).build()
        }
        None => Matcher::from_env(),
    };
    matcher.intercept(server).map(|found| named(found.uri()))
}

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
    let Some(text) = variable(HTTPS_PROXY) else { return Ok(None) };
    let proxy = parsed("HTTPS_PROXY", &text)?;
    let around = variable(NO_PROXY).unwrap_or_default();
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
