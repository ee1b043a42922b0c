//! HTTP requests to the API server, and to whatever it is a proxy for.

use std::time::Duration;

use hopbench_sys::clock;
use http::Request;
use http::header::DATE;
use k8s_openapi::jiff::fmt::rfc2822;
use kube::Client;
use kube::client::Body;

use crate::api::access::explain;
use crate::api::body;

/// An answer of a server, and its time.
pub(crate) struct TimedAnswer {
    pub(crate) text: String,
    /// The second of the server's clock in which it began to answer, since 1970 UTC; absent: it did
    /// not say.
    pub(crate) date: Option<i64>,
    /// When the answer began to come, by this machine's clock since 1970 UTC.
    pub(crate) began: Duration,
}

/// The answer to GET `path` of a client's server.
pub(crate) async fn get(client: &Client, path: &str) -> Result<String, String> {
    answer(client, path).await.map(|answer| answer.text)
}

/// The same with its time.
pub(crate) async fn answer(client: &Client, path: &str) -> Result<TimedAnswer, String> {
    let request = Request::get(path).body(Body::empty()).map_err(|e| e.to_string())?;
    let answer = client.send(request).await.map_err(|e| explain(&e))?;
    let began = clock::wall();
    let status = answer.status();
    let date = answer.headers().get(DATE).and_then(|date| rfc2822::parse(date.to_str().ok()?).ok());
    let date = date.map(|date| date.timestamp().as_second());
    let text = body::text(answer.into_body()).await?;
    if status.is_success() {
        Ok(TimedAnswer { text, date, began })
    } else {
        Err(body::refusal(status, &text))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use kube::Config;

    use super::*;
    use crate::api::access::client_of;
    use crate::api::body::MOST_BYTES;

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
            // The answer ends at some point: without a limit the test fails and does not fill the
            // machine.
            while sent < 4 * MOST_BYTES && stream.write_all(&piece).is_ok() {
                sent += piece.len();
            }
            sent
        });
        (client_of(Config::new(url.parse().unwrap())).unwrap(), server)
    }

    fn on_runtime<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn an_endless_answer_of_a_meter_is_given_up() {
        for head in
            ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 500 No\r\ncontent-length: 999999999999\r\n\r\n"]
        {
            for timed in [false, true] {
                let (error, sent) = on_runtime(async {
                    let (client, server) = endless(head);
                    let error = if timed {
                        answer(&client, "/metrics").await.map(|answer| answer.text)
                    } else {
                        get(&client, "/metrics").await
                    };
                    drop(client);
                    (error.unwrap_err(), server.join().unwrap())
                });
                assert!(error.contains("longer than 64 MiB"), "{error}");
                assert!(sent < 2 * MOST_BYTES, "{sent} bytes were taken");
            }
        }
    }
}
