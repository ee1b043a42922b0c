//! For tests only: a mutating admission webhook that does what Istio's injector does, with a plain
//! Envoy. Pods with Istio's label get a container `istio-proxy` that takes their connections, as
//! their annotations say. No control plane, no mTLS, no outlier detection, no retries.
//!
//! ```text
//!   server (HTTPS) ─► review (what is asked, what is answered) ─► inject (the pod's new parts)
//!     inject ─┬─► wishes: what the annotations say
//!             ├─► redirect: rules of the pod's network
//!             └─► bootstrap: what its Envoy does
//! ```

mod bootstrap;
mod inject;
mod pod;
mod redirect;
mod review;
mod server;
mod wishes;

use std::path::Path;

use anyhow::{Context as _, bail};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [port, folder] => serve(port.parse().context("the port is no number")?, Path::new(folder)),
        _ => bail!("usage: webhook PORT FOLDER, with tls.crt and tls.key in the folder"),
    }
}

/// Serves with the certificate and the key of this folder until it is ended.
fn serve(port: u16, folder: &Path) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(server::serve(port, &folder.join("tls.crt"), &folder.join("tls.key")))
}
