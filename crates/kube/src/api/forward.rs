//! Byte streams into pods that the API server carries.

pub(crate) mod exec;

use std::os::unix::net::UnixStream;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::api::AttachParams;
use tokio::io::{copy_bidirectional, join};
use tokio::time::timeout;

use crate::api::access::explain;
use crate::api::client::Api;

/// Time limit for the API server to open a stream.
const OPEN: Duration = Duration::from_secs(10);
/// Bytes under way to a process in a container, each way.
const BUFFER_BYTES: usize = 1 << 16;

/// Opens a way to an agent's port in a pod. What is written to the stream comes out there, as long
/// as both ends and the API server keep it open; then the stream ends. Must be called where the
/// runtime that carries the bytes is.
pub(crate) async fn open(
    pods: &Api<Pod>,
    pod: &str,
    port: u16,
    way: AgentRoute,
) -> Result<UnixStream, String> {
    let opened = async {
        match way {
            AgentRoute::Forward => forward(pods, pod, port).await,
            AgentRoute::Relay { container, program } => {
                relay(pods, pod, (container, program), port).await
            }
        }
    };
    match timeout(OPEN, opened).await {
        Ok(opened) => opened,
        Err(_) => Err(format!("the API server did not open a way to pod {pod} in {OPEN:?}")),
    }
}

/// The way to an agent's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentRoute {
    /// The API server's port-forward: it enters the pod's network.
    Forward,
    /// A process in a container that has our program: where a sandbox has a network of its own
    /// inside of the pod's.
    Relay {
        /// The container's name.
        container: &'static str,
        /// The place of the program in its image.
        program: &'static str,
    },
}

/// A socket pair: one end for the conductor, the other for the runtime.
fn pair() -> Result<(UnixStream, tokio::net::UnixStream), String> {
    let (ours, theirs) = UnixStream::pair().map_err(|e| e.to_string())?;
    theirs.set_nonblocking(true).map_err(|e| e.to_string())?;
    Ok((ours, tokio::net::UnixStream::from_std(theirs).map_err(|e| e.to_string())?))
}

async fn relay(
    pods: &Api<Pod>,
    pod: &str,
    (container, program): (&str, &str),
    port: u16,
) -> Result<UnixStream, String> {
    let command = [program.to_owned(), "relay".to_owned(), "--port".to_owned(), port.to_string()];
    let streams =
        AttachParams::default().container(container).stdin(true).stdout(true).stderr(false);
    let streams = streams.max_stdin_buf_size(BUFFER_BYTES).max_stdout_buf_size(BUFFER_BYTES);
    let mut process = pods.streams().exec(pod, command, &streams).await.map_err(|e| explain(&e))?;
    let (Some(input), Some(output)) = (process.stdin(), process.stdout()) else {
        return Err("the API server opened no way into the container".to_owned());
    };
    let (ours, mut local) = pair()?;
    tokio::spawn(async move {
        // However it ends: both ends hear it when the streams go.
        let _ = copy_bidirectional(&mut local, &mut join(output, input)).await;
        drop(local);
        process.abort();
    });
    Ok(ours)
}

async fn forward(pods: &Api<Pod>, pod: &str, port: u16) -> Result<UnixStream, String> {
    let mut forwarder = pods.streams().portforward(pod, &[port]).await.map_err(|e| explain(&e))?;
    let Some(mut remote) = forwarder.take_stream(port) else {
        return Err("the API server opened no way".to_owned());
    };
    let (ours, mut local) = pair()?;
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
