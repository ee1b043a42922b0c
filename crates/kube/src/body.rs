//! Bodies of answers, up to a size: a server that never ends its answer must not fill the memory.

use std::fmt::Display;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Bytes};

/// The longest body that is taken, bytes: the meters of a node with some hundred pods are below a
/// fifth of it.
pub(crate) const MOST_BYTES: usize = 64 << 20;

/// The whole body.
///
/// # Errors
/// A sentence: a body of more than [`MOST_BYTES`], or one that broke.
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
///
/// # Errors
/// The same, or a body that is no UTF-8.
pub(crate) async fn text<B>(body: B) -> Result<String, String>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    String::from_utf8(whole(body).await?).map_err(|error| error.to_string())
}

/// What is said of an answer that is too long.
pub(crate) fn too_long() -> String {
    format!("the answer is longer than {} MiB, which nothing that is asked for is; it was given up", MOST_BYTES >> 20)
}

/// Why an answer with another status than success is none: the API server's own words, or those of
/// whoever is behind it, in one line and cut.
pub(crate) fn refusal(status: impl Display, text: &str) -> String {
    const MOST: usize = 300;
    let told: Option<serde_json::Value> = serde_json::from_str(text).ok();
    let words = told.as_ref().and_then(|told| told["message"].as_str());
    let shown = |text: &str| hopbench_model::printable::excerpt(text.trim(), MOST);
    words.map_or_else(|| format!("status {status}: {}", shown(text)), shown)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use kube::client::Body;
    use kube::{Client, Config};

    use super::*;

    /// A server whose answer never ends, on the loopback; how many bytes it got rid of when it is
    /// joined.
    fn endless(head: &'static str) -> (Client, thread::JoinHandle<usize>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            let (piece, mut sent) = (vec![b'x'; 1 << 20], 0);
            // Not really endless: where nobody bounds it, the test fails and does not fill the
            // machine.
            while sent < 4 * MOST_BYTES && stream.write_all(&piece).is_ok() {
                sent += piece.len();
            }
            sent
        });
        (Client::try_from(Config::new(url.parse().unwrap())).unwrap(), server)
    }

    fn on_runtime<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn an_endless_answer_of_a_meter_is_given_up() {
        for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 500 No\r\ncontent-length: 999999999999\r\n\r\n"] {
            for timed in [false, true] {
                let (error, sent) = on_runtime(async {
                    let (client, server) = endless(head);
                    let error = if timed {
                        crate::meters::http::answer(&client, "/metrics").await.map(|answer| answer.text)
                    } else {
                        crate::meters::http::get(&client, "/metrics").await
                    };
                    drop(client);
                    (error.unwrap_err(), server.join().unwrap())
                });
                assert!(error.contains("longer than 64 MiB"), "{error}");
                assert!(sent < 2 * MOST_BYTES, "{sent} bytes were taken");
            }
        }
    }

    #[test]
    fn an_answer_is_whole_up_to_the_limit() {
        let body = |length: usize| Body::from(vec![b'x'; length]);
        on_runtime(async {
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
