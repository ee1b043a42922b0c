//! Questions to meters over HTTP.

use http::Request;
use kube::Client;

use crate::access::explain;

/// The answer to GET `path` of a client's server.
///
/// # Errors
/// A sentence: what the server said, or why it said nothing.
pub(super) async fn get(client: &Client, path: &str) -> Result<String, String> {
    let request = Request::get(path).body(Vec::new()).map_err(|e| e.to_string())?;
    client.request_text(request).await.map_err(|e| explain(&e))
}
