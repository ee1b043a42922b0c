//! A program that the API server starts in a container.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kube::api::{AttachParams, AttachedProcess};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, SimplexStream, WriteHalf};
use tokio::time::timeout;

use crate::api::access::explain;
use crate::api::client::Api;

/// Time limit for the API server to start it.
const START: Duration = Duration::from_secs(10);
/// The longest wait for a program that was told to end.
const MOST_END: Duration = Duration::from_secs(3);
/// Bytes that are read at a time.
const CHUNK: usize = 1 << 14;
/// A program whose output is longer is broken.
const MOST_OUTPUT_BYTES: usize = 4 << 20;
/// Bytes that are kept of its standard error.
const MOST_ERROR_BYTES: usize = 4096;

/// A program in a container, with the streams to it.
pub(crate) struct Process {
    /// Aborts the streams when it is dropped. The program then finds its standard input closed.
    _attached: AttachedProcess,
    input: WriteHalf<SimplexStream>,
    output: ReadHalf<SimplexStream>,
    error: ReadHalf<SimplexStream>,
    /// The end of what it printed to its standard error so far.
    said: Vec<u8>,
    /// Absent: it has ended.
    status: Option<Pin<Box<dyn Future<Output = Option<Status>> + Send>>>,
}

/// What a program printed so far.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    pub(crate) output: Vec<u8>,
    /// The end of its standard error.
    pub(crate) error: Vec<u8>,
    /// How it ended, in the API server's words; absent: it goes on, or ended well.
    pub(crate) failure: Option<String>,
}

impl Process {
    /// Starts a program in a container of a pod. It must be called where the runtime that carries
    /// the bytes is.
    pub(crate) async fn start(
        pods: &Api<Pod>,
        pod: &str,
        container: &str,
        command: Vec<String>,
    ) -> Result<Self, String> {
        let streams = AttachParams::default().container(container).stdin(true).stdout(true);
        let streams = streams.stderr(true).max_stdout_buf_size(CHUNK).max_stderr_buf_size(CHUNK);
        let started = timeout(START, pods.streams().exec(pod, command, &streams)).await;
        let mut attached = started
            .map_err(|_| format!("the API server started nothing in pod {pod} in {START:?}"))?
            .map_err(|error| explain(&error))?;
        let (input, output) = (attached.stdin(), attached.stdout());
        let error = attached.stderr();
        let (Some(input), Some(output), Some(error), Some(status)) =
            (input, output, error, attached.take_status())
        else {
            return Err("the API server opened no way into the container".to_owned());
        };
        Ok(Self {
            _attached: attached,
            input,
            output,
            error,
            said: Vec::new(),
            status: Some(Box::pin(status)),
        })
    }

    /// Reads what it prints, until that is enough, or until it ends. Of the standard error it has
    /// what came in earlier calls, too, also in one that was given up.
    pub(crate) async fn printed(
        &mut self,
        is_enough: impl Fn(&[u8]) -> bool,
    ) -> Result<Printed, String> {
        let mut printed = Printed::default();
        let (mut from_output, mut from_error) = (vec![0; CHUNK], vec![0; CHUNK]);
        let (mut has_output, mut has_error) = (true, true);
        while has_output || has_error || self.status.is_some() {
            tokio::select! {
                read = self.output.read(&mut from_output), if has_output => {
                    let count = read.map_err(|error| error.to_string())?;
                    has_output = count > 0;
                    printed.output.extend_from_slice(&from_output[..count]);
                }
                read = self.error.read(&mut from_error), if has_error => {
                    let count = read.map_err(|error| error.to_string())?;
                    has_error = count > 0;
                    self.said.extend_from_slice(&from_error[..count]);
                    let surplus = self.said.len().saturating_sub(MOST_ERROR_BYTES);
                    self.said.drain(..surplus);
                }
                status = end_of(&mut self.status), if self.status.is_some() => {
                    self.status = None;
                    let status = status.ok_or("the way to it through the API server broke")?;
                    printed.failure = failure(&status);
                }
            }
            if printed.output.len() > MOST_OUTPUT_BYTES {
                return Err(format!("it printed more than {MOST_OUTPUT_BYTES} bytes"));
            }
            if is_enough(&printed.output) {
                break;
            }
        }
        printed.error.clone_from(&self.said);
        Ok(printed)
    }

    /// Sends a line to its standard input, which its script takes for the order to end, and waits
    /// a moment until it has; the end of its standard error.
    pub(crate) async fn end(mut self) -> Vec<u8> {
        // However this ends: the streams go when it does.
        let _ = self.input.write_all(b"\n").await;
        let _ = timeout(MOST_END, self.printed(|_| false)).await;
        self.said
    }
}

/// How a program ended, once it has; `None`: nobody knows.
async fn end_of(
    status: &mut Option<Pin<Box<dyn Future<Output = Option<Status>> + Send>>>,
) -> Option<Status> {
    status.as_mut()?.await
}

/// Why a program ended badly.
fn failure(status: &Status) -> Option<String> {
    if status.status.as_deref() == Some("Success") {
        return None;
    }
    Some(status.message.clone().unwrap_or_else(|| "it failed".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_in_the_words_of_the_api_server() {
        let of = |status: &str, message: Option<&str>| {
            let (status, message) = (Some(status.to_owned()), message.map(str::to_owned));
            failure(&Status { status, message, ..Status::default() })
        };
        assert_eq!(of("Success", None), None);
        assert_eq!(of("Failure", Some("exit code 3")).as_deref(), Some("exit code 3"));
        assert_eq!(of("Failure", None).as_deref(), Some("it failed"));
    }
}
