//! The connection to the API server, by a kubeconfig and its context as kubectl takes them, or by
//! the pod that this runs in.

mod connector;

use std::error::Error;
use std::future::Future;
use std::path::Path;
use std::pin::{Pin, pin};
use std::time::Duration;

use hopbench_model::printable::line;
use hopbench_model::{ClusterSpec, Fault, with_causes};
use kube::client::AuthError;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use tokio::runtime::Runtime;

pub(crate) use connector::client_of;

use crate::api::proxy;

/// Time limit for a connection to the API server.
const CONNECT: Duration = Duration::from_secs(5);
/// Time limit for an answer of the API server.
const ANSWER: Duration = Duration::from_secs(30);
/// Threads that carry control sessions and wait for the API server. The measuring is done
/// elsewhere.
const THREADS: usize = 2;

/// As many letters are told of what a program says of its failure.
const MOST_SAID: usize = 300;

/// A connection to a cluster.
pub struct Access {
    /// Speaks with the API server.
    pub client: Client,
    /// The URL of the API server.
    pub server: String,
    /// The proxy on the way there, without credentials; absent: there is none.
    pub proxy: Option<String>,
    /// The runtime of all asynchronous work.
    pub runtime: Runtime,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Access {
    /// The cluster that a plan names.
    ///
    /// # Errors
    /// As [`Access::open_file`].
    pub fn of(spec: &ClusterSpec) -> Result<Self, Fault> {
        Self::open_file(spec.kubeconfig.as_deref().map(Path::new), spec.context.as_deref())
    }

    /// The cluster of a context; `None`: of the kubeconfig's current one. Without a kubeconfig it
    /// is `$KUBECONFIG` (several files are merged) or `~/.kube/config`; in a pod that has none it
    /// is the pod's own cluster. Nothing is asked of the API server yet.
    ///
    /// # Errors
    /// No kubeconfig, or one that cannot be used: what is wrong with it (input, environment).
    pub fn open_file(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Self, Fault> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("kubernetes")
            .enable_all()
            .build()
            .map_err(|e| {
                Fault::environment(format!("cannot start threads to speak with the cluster: {e}"))
            })?;
        let mut config = runtime.block_on(config(kubeconfig, context))?;
        config.connect_timeout = Some(CONNECT);
        let server = config.cluster_url.to_string();
        let proxy = config.proxy_url.as_ref().map(proxy::named);
        let client = {
            let _inside = runtime.enter();
            client_of(config).map_err(|e| {
                Fault::environment(format!("cannot reach {server}: {}", explain(&e)))
            })?
        };
        Ok(Self { client, server, proxy, runtime })
    }

    /// Waits for an answer of the API server, though not for ever.
    ///
    /// # Errors
    /// An error of the API server, with the request.
    pub fn ask<T>(
        &self,
        what: &str,
        question: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, Fault> {
        let mut answer = None;
        self.wait(pin!(async { answer = Some(question.await) }));
        let late =
            || format!("{what}: the API server {} did not answer in {ANSWER:?}", self.server);
        let answer = answer.ok_or_else(|| Fault::environment(late()))?;
        answer.map_err(|e| self.refused(what, &e))
    }

    /// Waits until a question has its answer, though not for ever. All kinds of questions share this
    /// code, which is large.
    fn wait(&self, question: Pin<&mut dyn Future<Output = ()>>) {
        let in_time = async { tokio::time::timeout(ANSWER, question).await.is_ok() };
        self.runtime.block_on(in_time);
    }

    /// A fault that says what was asked of the API server, and what to do where that is known.
    pub(crate) fn refused(&self, what: &str, error: &kube::Error) -> Fault {
        Fault::environment(format!("{what}: {}{}", explain(error), advice(error, self)))
    }
}

async fn config(file: Option<&Path>, context: Option<&str>) -> Result<Config, Fault> {
    let kubeconfig = match file.map_or_else(Kubeconfig::read, Kubeconfig::read_from) {
        Ok(kubeconfig) => kubeconfig,
        Err(error) => {
            // Without a file a pod speaks with its own cluster, as kubectl does.
            let is_usual = file.is_none() && std::env::var_os("KUBECONFIG").is_none();
            if context.is_none() && is_usual && is_absent(&error) {
                return Config::incluster().map_err(|in_cluster| {
                    Fault::environment(format!(
                        "found no cluster: {}; nor is this a pod ({in_cluster}). Set KUBECONFIG, \
                         or make ~/.kube/config as for kubectl",
                        unusable(&error)
                    ))
                });
            }
            return Err(Fault::environment(unusable(&error)));
        }
    };
    let contexts: Vec<String> =
        kubeconfig.contexts.iter().map(|context| context.name.clone()).collect();
    let known = if contexts.is_empty() {
        "no contexts".to_owned()
    } else {
        format!("contexts {}", contexts.join(", "))
    };
    match context {
        Some(context) if !contexts.iter().any(|name| name == context) => {
            return Err(Fault::input(format!(
                "context: found `{context}`; the kubeconfig has {known}"
            )));
        }
        None if kubeconfig.current_context.as_deref().unwrap_or_default().is_empty() => {
            return Err(Fault::input(format!(
                "the kubeconfig has no current context: name one under `testbed: kubernetes: \
                 context:`, or run `kubectl config use-context`; it has {known}"
            )));
        }
        _ => {}
    }
    let options =
        KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let made = Config::from_custom_kubeconfig(kubeconfig.clone(), &options).await;
    let mut made = made.map_err(|e| Fault::environment(unusable(&e)))?;
    // The library asks whether `NO_PROXY` names the proxy, and not the server.
    made.proxy_url = proxy::of(&kubeconfig, context, &made.cluster_url)?;
    Ok(made)
}

/// What is wrong with a kubeconfig. The library writes its path in two kinds of quotes.
fn unusable(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::ReadConfig(why, file) => {
            format!("the kubeconfig {} cannot be read: {why}", file.display())
        }
        other => format!("the kubeconfig cannot be used: {other}"),
    }
}

fn is_absent(error: &KubeconfigError) -> bool {
    match error {
        KubeconfigError::FindPath => true,
        KubeconfigError::ReadConfig(error, _) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

/// The text of an error with its causes, each once.
pub(crate) fn explain(error: &kube::Error) -> String {
    // The API server's words are others' words, too: it passes on what names and messages hold.
    line(&words_of(error)).into_owned()
}

fn words_of(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error {
        return match (status.message.is_empty(), status.reason.is_empty()) {
            (false, _) => status.message.clone(),
            (true, false) => format!("{} ({})", status.reason, status.code),
            (true, true) => format!("status {}", status.code),
        };
    }
    if let Some(text) = of_credentials(error) {
        return text;
    }
    with_causes(error)
}

/// The text for a program that failed to give credentials. Its arguments, its environment and its
/// output may be secrets, and errors go into files. So the text has none of them.
fn of_credentials(error: &kube::Error) -> Option<String> {
    let first: &(dyn Error + 'static) = error;
    let mut chain =
        std::iter::successors(Some(first), |error: &&(dyn Error + 'static)| (*error).source());
    match chain.find_map(|error| error.downcast_ref::<AuthError>())? {
        AuthError::AuthExecRun { out, .. } => {
            let said: String =
                String::from_utf8_lossy(&out.stderr).trim().chars().take(MOST_SAID).collect();
            let said = if said.is_empty() { said } else { format!(": {said}") };
            Some(format!(
                "the program that the kubeconfig names for credentials failed ({}){said}",
                out.status
            ))
        }
        AuthError::AuthExecParse(_) => Some(
            "the program that the kubeconfig names for credentials wrote something else than these"
                .to_owned(),
        ),
        _ => None,
    }
}

/// A remedy for an error; empty: none is known.
fn advice(error: &kube::Error, access: &Access) -> String {
    match error {
        kube::Error::Api(status) if status.code == 401 => {
            "; the API server does not know who this is: renew the kubeconfig's credentials"
                .to_owned()
        }
        kube::Error::Api(status) if status.is_forbidden() && status.message.contains("cannot ") => {
            "; `hopbench kube manifests` prints the rights that hopbench uses".to_owned()
        }
        kube::Error::Api(_) => String::new(),
        kube::Error::Service(_) | kube::Error::HyperError(_) => {
            let server = &access.server;
            let way = match &access.proxy {
                Some(proxy) => proxy::way(proxy, "`proxy-url` in the kubeconfig, HTTPS_PROXY"),
                None => String::new(),
            };
            format!(
                "; is {server} the right cluster, and does `kubectl version` reach it from \
                 here{way}?"
            )
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::thread::{self, JoinHandle};

    use super::*;

    /// A kubeconfig for a server that nobody has, behind this proxy.
    fn behind(proxy: &str) -> Access {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kubeconfig");
        let config = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
             contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: \"https://cluster.invalid:6443\", proxy-url: \
             \"{proxy}\"}}}}]\n\
             users: [{{name: u, user: {{token: t}}}}]\n"
        );
        std::fs::write(&file, config).unwrap();
        Access::open_file(Some(&file), None).unwrap()
    }

    /// Asks by this proxy, once; what the proxy was told first.
    fn told(access: &Access) -> String {
        access.ask("the version", access.client.apiserver_version()).unwrap_err().text
    }

    /// A proxy that refuses its one client in this way, and what the client said to it first.
    fn refusing<T: Send + 'static>(
        refuse: impl FnOnce(TcpStream) -> T + Send + 'static,
    ) -> (SocketAddr, JoinHandle<T>) {
        let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = proxy.local_addr().unwrap();
        (at, thread::spawn(move || refuse(proxy.accept().unwrap().0)))
    }

    #[test]
    fn an_http_proxy_is_asked_for_the_server_and_named_when_it_refuses() {
        let (at, asked) = refusing(|mut client| {
            let mut asked = String::new();
            BufReader::new(client.try_clone().unwrap()).read_line(&mut asked).unwrap();
            client.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").unwrap();
            asked
        });
        let said = told(&behind(&format!("http://someone:hush@{at}")));
        assert_eq!(asked.join().unwrap(), "CONNECT cluster.invalid:6443 HTTP/1.1\r\n");
        assert!(said.contains(&format!("by the proxy http://{at}")), "{said}");
        assert!(!said.contains("hush"), "{said}");
    }

    #[test]
    fn a_socks_proxy_is_greeted_and_named_when_it_refuses() {
        let (at, greeted) = refusing(|mut client| {
            let mut version = [0];
            client.read_exact(&mut version).unwrap();
            // No method of those that it offers.
            client.write_all(&[5, 0xff]).unwrap();
            version
        });
        let said = told(&behind(&format!("socks5://{at}")));
        assert_eq!(greeted.join().unwrap(), [5]);
        assert!(said.contains(&format!("by the proxy socks5://{at}")), "{said}");
    }

    #[test]
    fn a_program_for_credentials_that_fails_is_told_without_its_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let told = |script: &str| {
            let file = folder.path().join("kubeconfig");
            let config = format!(
                "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
                 contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
                 clusters: [{{name: c, cluster: {{server: \"https://127.0.0.1:1\"}}}}]\nusers:\n\
                 - name: u\n  user:\n    exec:\n\
                 \x20     apiVersion: client.authentication.k8s.io/v1\n      \
                 interactiveMode: Never\n      command: sh\n\
                 \x20     args: [\"-c\", \"{script}\", \"hush-argument\"]\n      \
                 env: [{{name: KEY, value: hush-environment}}]\n"
            );
            std::fs::write(&file, config).unwrap();
            Access::open_file(Some(&file), None).unwrap_err().text
        };
        let failed = told("echo hush-output; echo log in first >&2; exit 3");
        assert!(failed.contains("exit status: 3") && failed.contains("log in first"), "{failed}");
        let nonsense = told("echo hush-output");
        assert!(nonsense.contains("something else"), "{nonsense}");
        assert!(!failed.contains("hush") && !nonsense.contains("hush"), "{failed}\n{nonsense}");
    }
}
