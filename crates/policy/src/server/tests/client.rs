//! A client of gRPC, without a thread of its own in the test.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use h2::SendStream;
use h2::client::{ResponseFuture, SendRequest};
use hopbench_model::IpFamily;
use http::Request;
use tokio::net::TcpSocket;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// Longer than anything here takes.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// One connection.
pub(super) struct Client {
    runtime: Runtime,
    requests: SendRequest<Bytes>,
}

/// What a call got.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) http: u16,
    pub(super) body: Vec<u8>,
    pub(super) grpc: Option<u8>,
}

/// A call that is not over.
pub(super) struct Stream<'a> {
    runtime: &'a Runtime,
    response: ResponseFuture,
    send: SendStream<Bytes>,
}

/// A message in its frame.
pub(super) fn frame(message: &[u8]) -> Vec<u8> {
    [&[0], &(message.len() as u32).to_be_bytes()[..], message].concat()
}

/// Waits until it holds.
pub(super) fn until(mut holds: impl FnMut() -> bool) {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    runtime.block_on(async { timeout(PATIENCE, wait).await }).expect("it becomes true");
}

impl Client {
    pub(super) fn connect(address: SocketAddr) -> Self {
        Self::connect_from(IpFamily::of(address.ip()).loopback(), address)
    }

    /// The same from this address, which is of the same family.
    pub(super) fn connect_from(source: impl Into<IpAddr>, address: SocketAddr) -> Self {
        let source = SocketAddr::new(source.into(), 0);
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let requests = runtime.block_on(async {
            let socket = if source.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
            let socket = socket.unwrap();
            socket.bind(source).unwrap();
            let stream = socket.connect(address).await.unwrap();
            let (requests, connection) = h2::client::handshake(stream).await.unwrap();
            tokio::spawn(connection);
            requests
        });
        Self { runtime, requests }
    }

    /// Opens a call as gRPC does.
    pub(super) fn open(&self, method: &str) -> Stream<'_> {
        self.request(Request::post(method).header("content-type", "application/grpc"))
    }

    /// Opens a call of any kind.
    pub(super) fn request(&self, request: http::request::Builder) -> Stream<'_> {
        // HTTP/2 wants a scheme and an authority, too.
        let path = request.uri_ref().unwrap().to_string();
        let request = request.uri(format!("http://policy{path}")).body(()).unwrap();
        let (response, send) = self.runtime.block_on(async {
            let mut requests = self.requests.clone().ready().await.unwrap();
            requests.send_request(request, false).unwrap()
        });
        Stream { runtime: &self.runtime, response, send }
    }

    /// A whole call.
    pub(super) fn call(&self, method: &str, pieces: &[&[u8]]) -> Answer {
        let mut stream = self.open(method);
        for piece in pieces {
            stream.send(piece);
        }
        stream.end()
    }

    /// Whole calls at once.
    pub(super) fn many(&self, method: &str, body: &[u8], calls: usize) -> Vec<Answer> {
        self.runtime.block_on(async {
            let mut waiting = Vec::new();
            for _ in 0..calls {
                let request = Request::post(format!("http://policy{method}"))
                    .header("content-type", "application/grpc");
                let mut requests =
                    timeout(PATIENCE, self.requests.clone().ready()).await.unwrap().unwrap();
                let (response, mut send) =
                    requests.send_request(request.body(()).unwrap(), false).unwrap();
                send.send_data(Bytes::copy_from_slice(body), true).unwrap();
                waiting.push(tokio::spawn(answer(response)));
            }
            let mut answers = Vec::new();
            for one in waiting {
                answers.push(one.await.unwrap());
            }
            answers
        })
    }
}

impl Stream<'_> {
    /// Sends bytes of the body.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        // The other end may have answered already.
        let _ = self.send.send_data(Bytes::copy_from_slice(bytes), false);
    }

    /// Sends nothing more, and gives the answer.
    pub(super) fn end(mut self) -> Answer {
        let _ = self.send.send_data(Bytes::new(), true);
        self.answer()
    }

    /// The answer, which comes before the end.
    pub(super) fn answer(self) -> Answer {
        self.runtime.block_on(answer(self.response))
    }
}

async fn answer(response: ResponseFuture) -> Answer {
    let whole = async {
        let response = response.await.unwrap();
        let http = response.status().as_u16();
        let status =
            |headers: &http::HeaderMap| headers.get("grpc-status")?.to_str().ok()?.parse().ok();
        let mut grpc = status(response.headers());
        let mut body = response.into_body();
        let mut bytes = Vec::new();
        while let Some(Ok(piece)) = body.data().await {
            let _ = body.flow_control().release_capacity(piece.len());
            bytes.extend_from_slice(&piece);
        }
        if let Ok(Some(trailers)) = body.trailers().await {
            grpc = grpc.or_else(|| status(&trailers));
        }
        Answer { http, body: bytes, grpc }
    };
    timeout(PATIENCE, whole).await.expect("an answer in time")
}
