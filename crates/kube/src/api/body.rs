//! Bounded reading of the bodies of answers.
//!
//! A server that never ends its answer must not fill the memory.

use std::fmt::Display;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Bytes};

/// The longest body that is taken, bytes: the meters of a node with some hundred pods are below a
/// fifth of it.
pub(crate) const MOST_BYTES: usize = 64 << 20;

/// The whole body. At most [`MOST_BYTES`].
pub(crate) async fn whole<B>(body: B) -> Result<Vec<u8>, String>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match Limited::new(body, MOST_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes().to_vec()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_long()),
        Err(error) => Err(error.to_string()),
    }
}

/// The same as text.
pub(crate) async fn text<B>(body: B) -> Result<String, String>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    String::from_utf8(whole(body).await?).map_err(|error| error.to_string())
}

/// The error for an answer that is too long.
pub(crate) fn too_long() -> String {
    format!(
        "the answer is longer than {} MiB, which nothing that is asked for is; it was given up",
        MOST_BYTES >> 20
    )
}

/// The reason behind an answer with another status than success, in one line and cut. It is the
/// words of the API server, or of the server behind it.
pub(crate) fn refusal(status: impl Display, text: &str) -> String {
    const MOST: usize = 300;
    let told: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let words = told.as_ref().and_then(|told| told["message"].as_str());
    let shown = |text: &str| hopbench_model::printable::excerpt(text.trim(), MOST);
    words.map_or_else(|| format!("status {status}: {}", shown(text)), shown)
}

#[cfg(test)]
mod tests {
    use kube::client::Body;

    use super::*;

    #[test]
    fn an_answer_is_whole_up_to_the_limit() {
        let body = |length: usize| Body::from(vec![b'x'; length]);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            assert_eq!(whole(body(MOST_BYTES)).await.unwrap().len(), MOST_BYTES);
            assert!(whole(body(MOST_BYTES + 1)).await.unwrap_err().contains("longer than"));
        });
    }

    #[test]
    fn a_refusal_is_one_short_line() {
        assert_eq!(refusal(403, "{\"message\": \"nodes is\\nforbidden\"}"), "nodes is\\nforbidden");
        assert_eq!(refusal(500, " \u{1b}[2J\n"), "status 500: \\u001b[2J");
        assert!(refusal(500, &"x".repeat(10_000)).len() < 400);
    }
}
