//! Questions to meters over HTTP.

use std::time::Duration;

use hopbench_sys::clock;
use http::Request;
use http::header::DATE;
use k8s_openapi::jiff::fmt::rfc2822;
use kube::Client;
use kube::client::Body;

use crate::access::explain;
use crate::body;

/// What a server said, and when.
pub(crate) struct Answer {
    pub(crate) text: String,
    /// The second of the server's clock in which it began to answer, since 1970 UTC; absent: it did not say.
    pub(super) date: Option<i64>,
    /// When the answer began to come, by this machine's clock since 1970 UTC.
    pub(super) began: Duration,
}

/// The answer to GET `path` of a client's server.
///
/// # Errors
/// A sentence: what the server said, or why it said nothing.
pub(crate) async fn get(client: &Client, path: &str) -> Result<String, String> {
    answer(client, path).await.map(|answer| answer.text)
}

/// The same with its time.
///
/// # Errors
/// The same.
pub(crate) async fn answer(client: &Client, path: &str) -> Result<Answer, String> {
    let request = Request::get(path).body(Body::empty()).map_err(|e| e.to_string())?;
    let answer = client.send(request).await.map_err(|e| explain(&e))?;
    let began = clock::wall();
    let status = answer.status();
    let date = answer.headers().get(DATE).and_then(|date| rfc2822::parse(date.to_str().ok()?).ok());
    let date = date.map(|date| date.timestamp().as_second());
    let text = body::text(answer.into_body()).await?;
    if status.is_success() { Ok(Answer { text, date, began }) } else { Err(body::refusal(status, &text)) }
}
