//! Questions to meters over HTTP.

use std::time::Duration;

use hopbench_sys::clock;
use http::Request;
use http::header::DATE;
use http_body_util::BodyExt;
use k8s_openapi::jiff::fmt::rfc2822;
use kube::Client;
use kube::client::Body;

use crate::access::explain;

/// What a server said, and when.
pub(super) struct Answer {
    pub(super) text: String,
    /// The second of the server's clock in which it began to answer, since 1970 UTC; absent: it did not say.
    pub(super) date: Option<i64>,
    /// When the answer began to come, by this machine's clock since 1970 UTC.
    pub(super) began: Duration,
}

/// The answer to GET `path` of a client's server.
///
/// # Errors
/// A sentence: what the server said, or why it said nothing.
pub(super) async fn get(client: &Client, path: &str) -> Result<String, String> {
    let request = Request::get(path).body(Vec::new()).map_err(|e| e.to_string())?;
    client.request_text(request).await.map_err(|e| explain(&e))
}

/// The same with its time.
///
/// # Errors
/// The same.
pub(super) async fn answer(client: &Client, path: &str) -> Result<Answer, String> {
    let request = Request::get(path).body(Body::empty()).map_err(|e| e.to_string())?;
    let answer = client.send(request).await.map_err(|e| explain(&e))?;
    let began = clock::wall();
    let status = answer.status();
    let date = answer.headers().get(DATE).and_then(|date| rfc2822::parse(date.to_str().ok()?).ok());
    let date = date.map(|date| date.timestamp().as_second());
    let body = answer.into_body().collect().await.map_err(|e| e.to_string())?.to_bytes();
    let text = String::from_utf8(body.to_vec()).map_err(|e| e.to_string())?;
    if status.is_success() {
        return Ok(Answer { text, date, began });
    }
    // The API server's own words, or those of whoever is behind it.
    let told: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let words = told.and_then(|told| told["message"].as_str().map(str::to_owned));
    Err(words.unwrap_or_else(|| format!("status {status}: {}", text.trim())))
}
