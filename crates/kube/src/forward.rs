//! Control sessions through the API server.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use tokio::io::copy_bidirectional;
use tokio::time::timeout;

/// How long the API server may take to open a way.
const OPEN: Duration = Duration::from_secs(10);

/// Opens a way to a port of a pod. What is written to the stream comes out there, as long as both ends and the API server
/// keep it open; then the stream ends. Must be called where the runtime that carries the bytes is.
///
/// # Errors
/// What keeps the API server from it.
pub(crate) async fn open(pods: &Api<Pod>, pod: &str, port: u16) -> Result<UnixStream, String> {
    let mut forwarder = match timeout(OPEN, pods.portforward(pod, &[port])).await {
        Ok(opened) => opened.map_err(|e| crate::access::explain(&e))?,
        Err(_) => return Err(format!("the API server did not open a way to pod {pod} in {OPEN:?}")),
    };
    let Some(mut remote) = forwarder.take_stream(port) else { return Err("the API server opened no way".to_owned()) };
    let (ours, theirs) = UnixStream::pair().map_err(|e| e.to_string())?;
    theirs.set_nonblocking(true).map_err(|e| e.to_string())?;
    let mut local = tokio::net::UnixStream::from_std(theirs).map_err(|e| e.to_string())?;
    let refused = forwarder.take_error(port);
    tokio::spawn(async move {
        let broken = async {
            match refused {
                Some(refused) => {
                    // Without a word the other side goes on.
                    if refused.await.is_none() {
                        std::future::pending::<()>().await;
                    }
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // However it ends: both ends hear it when the streams go.
            _ = copy_bidirectional(&mut local, &mut remote) => {}
            () = broken => {}
        }
        drop((local, remote));
        forwarder.abort();
    });
    Ok(ours)
}
