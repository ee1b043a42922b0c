//! Requests to the admin endpoints of proxies, by way of the API server: only their pods reach them
//! otherwise.

use std::time::Duration;

use hopbench_testbed::placement::PodId;
use http::header::HOST;
use http::{Request, StatusCode};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::Pod;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::api::body::{self, MOST_BYTES};
use crate::api::client::Api;
use crate::api::forward::{self, AgentRoute};
use crate::provision::built::Built;
use crate::provision::mesh_state::RequestSender;

/// Time limit for an answer.
const ANSWER: Duration = Duration::from_secs(5);

/// A port of a pod.
#[derive(Clone, Copy)]
pub(crate) struct Door<'a> {
    /// The pods of its namespace.
    pub(crate) pods: &'a Api<Pod>,
    pub(crate) namespace: &'a str,
    pub(crate) pod: &'a str,
    pub(crate) port: u16,
    pub(crate) way: AgentRoute,
}

impl<'a> Door<'a> {
    /// A port of a pod of the run.
    pub(crate) fn of(built: &'a Built, pod: &PodId, port: u16) -> Result<Self, String> {
        let name = built.names.get(pod).ok_or_else(|| format!("there is no pod {pod}"))?;
        let (pods, namespace) = (&built.api.pods, built.run.namespace.as_str());
        Ok(Self { pods, namespace, pod: name, port, way: built.way(pod) })
    }

    async fn open(&self) -> Result<UnixStream, String> {
        let stream = forward::open(self.pods, self.pod, self.port, self.way).await?;
        stream.set_nonblocking(true).map_err(|e| e.to_string())?;
        UnixStream::from_std(stream).map_err(|e| e.to_string())
    }
}

/// The body of the answer to a GET of a port of a pod. Another status than 200 is an error.
pub(crate) async fn get(built: &Built, door: &Door<'_>, path: &str) -> Result<Vec<u8>, String> {
    let key = || (door.namespace.to_owned(), door.pod.to_owned(), door.port);
    if let Some(mut sender) = built.mesh.take_connection(&key())
        && sender.ready().await.is_ok()
        && let Ok(answer) = ask(&mut sender, path).await
    {
        built.mesh.keep_connection(key(), sender);
        return Ok(answer);
    }
    // The pod was made anew, or the way was cut.
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(door.open().await?)).await.map_err(|e| e.to_string())?;
    tokio::spawn(connection);
    let answer = ask(&mut sender, path).await?;
    built.mesh.keep_connection(key(), sender);
    Ok(answer)
}

async fn ask(sender: &mut RequestSender, path: &str) -> Result<Vec<u8>, String> {
    let request =
        Request::get(path).header(HOST, "admin").body(Empty::new()).map_err(|e| e.to_string())?;
    let answer = async {
        let answer = sender.send_request(request).await.map_err(|e| e.to_string())?;
        let status = answer.status();
        let body = body::whole(answer.into_body()).await?;
        match status {
            StatusCode::OK => Ok(body),
            _ => Err(format!("{path}: {}", body::refusal(status, &String::from_utf8_lossy(&body)))),
        }
    };
    timeout(ANSWER, answer).await.map_err(|_| format!("no answer in {ANSWER:?}"))?
}

/// The line that a port of a pod sends on each connection.
pub(crate) async fn line(door: &Door<'_>) -> Result<Vec<u8>, String> {
    let mut stream = door.open().await?;
    let mut text = Vec::new();
    let read = async {
        while !text.ends_with(b"\n") {
            if text.len() >= MOST_BYTES {
                return Err(body::too_long());
            }
            if stream.read_buf(&mut text).await.map_err(|e| e.to_string())? == 0 {
                return Err("it ended in the middle of its answer".to_owned());
            }
        }
        Ok(())
    };
    timeout(ANSWER, read).await.map_err(|_| format!("no answer in {ANSWER:?}"))??;
    Ok(text)
}
