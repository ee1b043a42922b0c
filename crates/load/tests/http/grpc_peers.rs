//! gRPC with peers that share no code with ours: HTTP/2 and protobuf of libraries.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use h2::server::SendResponse;
use hopbench_model::{Counter, EngineKind, Job};
use http::{HeaderMap, HeaderValue, Request, Response};
use prost::Message;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

use crate::ours::Ours;
use crate::rig;

/// As docs/echo.proto has it.
#[derive(Clone, PartialEq, Message)]
struct EchoRequest {
    #[prost(bytes = "vec", tag = "1")]
    payload: Vec<u8>,
    #[prost(uint32, tag = "2")]
    response_bytes: u32,
    #[prost(uint64, tag = "3")]
    delay_us: u64,
    #[prost(uint32, tag = "4")]
    status: u32,
    #[prost(uint32, tag = "5")]
    count: u32,
}

/// As docs/echo.proto has it.
#[derive(Clone, PartialEq, Message)]
struct EchoResponse {
    #[prost(bytes = "vec", tag = "1")]
    payload: Vec<u8>,
}

/// What every call has.
const CONTENT_TYPE: (&str, &str) = ("content-type", "application/grpc");

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn framed(message: &impl Message) -> Bytes {
    let mut out = BytesMut::new();
    out.put_u8(0);
    out.put_u32(message.encoded_len() as u32);
    message.encode(&mut out).unwrap();
    out.freeze()
}

/// The messages of a body.
fn messages<M: Message + Default>(mut body: &[u8]) -> Vec<M> {
    let mut out = Vec::new();
    while let Some((prefix, behind)) = body.split_first_chunk::<5>() {
        assert_eq!(prefix[0], 0, "none is compressed");
        let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
        out.push(M::decode(&behind[..length]).unwrap());
        body = &behind[length..];
    }
    assert!(body.is_empty());
    out
}

/// Begins a call of our target, over a connection of its own.
async fn begin(
    address: SocketAddr,
    path: &str,
    fields: &[(&str, &str)],
) -> (h2::client::ResponseFuture, h2::SendStream<Bytes>) {
    let tcp = TcpStream::connect(address).await.unwrap();
    let (client, connection) = h2::client::handshake(tcp).await.unwrap();
    tokio::spawn(async move { drop(connection.await) });
    let mut client = client.ready().await.unwrap();
    let mut request = Request::post(format!("http://{address}{path}")).header("te", "trailers");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    client.send_request(request.body(()).unwrap(), false).unwrap()
}

/// Calls our target; its status, and the messages of its answer.
fn call(address: SocketAddr, path: &str, requests: &[EchoRequest]) -> (String, Vec<EchoResponse>) {
    runtime().block_on(async {
        let fields = [("content-type", "application/grpc+proto")];
        let (response, mut body) = begin(address, path, &fields).await;
        for (at, request) in requests.iter().enumerate() {
            body.send_data(framed(request), at + 1 == requests.len()).unwrap();
        }
        let (head, mut body) = response.await.unwrap().into_parts();
        assert_eq!(head.status, 200);
        assert_eq!(head.headers["content-type"], "application/grpc");
        let mut all = Vec::new();
        while let Some(chunk) = body.data().await {
            let chunk = chunk.unwrap();
            body.flow_control().release_capacity(chunk.len()).unwrap();
            all.extend_from_slice(&chunk);
        }
        let trailers = body.trailers().await.unwrap().unwrap_or(head.headers);
        (trailers["grpc-status"].to_str().unwrap().to_owned(), messages(&all))
    })
}

#[test]
fn our_target_answers_the_client_of_a_library() {
    let ours = Ours::start();
    let asked = |response_bytes, count| EchoRequest {
        payload: vec![7; 300],
        response_bytes,
        count,
        ..EchoRequest::default()
    };
    for size in [0, 1, 127, 128, 16_383, 16_384, 300_000] {
        let (status, answer) = call(ours.address, "/hopbench.v1.Echo/Unary", &[asked(size, 0)]);
        assert_eq!((status.as_str(), answer.len()), ("0", 1), "{size}");
        assert_eq!(answer[0].payload.len(), size as usize);
    }
    let (status, answer) = call(ours.address, "/hopbench.v1.Echo/ServerStream", &[asked(500, 3)]);
    assert_eq!(status, "0");
    assert!(answer.len() == 3 && answer.iter().all(|it| it.payload.len() == 500));
    let two = [asked(9, 0), asked(5, 0)];
    let (status, answer) = call(ours.address, "/hopbench.v1.Echo/ClientStream", &two);
    assert_eq!((status.as_str(), answer[0].payload.len()), ("0", 9));
    for (path, requests, expected) in [
        ("/hopbench.v1.Echo/Unary", &two[..], "13"),
        ("/hopbench.v1.Echo/Nothing", &two[..1], "12"),
        ("/hopbench.v1.Echo/Unary", &[EchoRequest { status: 5, ..two[0].clone() }], "5"),
        ("/hopbench.v1.Echo/Unary", &[EchoRequest { status: 99, ..two[0].clone() }], "3"),
        (
            "/hopbench.v1.Echo/Unary",
            &[EchoRequest { payload: vec![0; 17 << 20], ..two[0].clone() }],
            "8",
        ),
    ] {
        assert_eq!(call(ours.address, path, requests), (expected.to_owned(), Vec::new()), "{path}");
    }
    ours.stop();
}

/// Sends a message to our target when the one before is answered; the lengths of the payloads.
fn talk(address: SocketAddr, sizes: &[u32]) -> Vec<usize> {
    runtime().block_on(async {
        let path = "/hopbench.v1.Echo/BidiStream";
        let (response, mut to) = begin(address, path, &[CONTENT_TYPE]).await;
        let (mut response, mut from) = (Some(response), None);
        let mut answers = Vec::new();
        for size in sizes {
            let asked = EchoRequest { response_bytes: *size, ..EchoRequest::default() };
            to.send_data(framed(&asked), false).unwrap();
            if let Some(head) = response.take() {
                from = Some(head.await.unwrap().into_body());
            }
            let body = from.as_mut().unwrap();
            let mut all = Vec::new();
            let expected = framed(&EchoResponse { payload: vec![0; *size as usize] }).len();
            while all.len() < expected {
                let chunk = body.data().await.unwrap().unwrap();
                body.flow_control().release_capacity(chunk.len()).unwrap();
                all.extend_from_slice(&chunk);
            }
            answers.extend(messages::<EchoResponse>(&all).iter().map(|it| it.payload.len()));
        }
        to.send_data(Bytes::new(), true).unwrap();
        let mut body = from.unwrap();
        assert!(body.data().await.is_none());
        assert_eq!(body.trailers().await.unwrap().unwrap()["grpc-status"], "0");
        answers
    })
}

#[test]
fn our_target_answers_each_message_of_a_library() {
    let ours = Ours::start();
    assert_eq!(talk(ours.address, &[1, 300_000, 0, 17]), [1, 300_000, 0, 17]);
    ours.stop();
}

/// The status of a call that may take so long, and whose message is sent so many milliseconds after
/// its head, if at all.
fn status_of(address: SocketAddr, limit: &str, after_ms: Option<u64>) -> String {
    runtime().block_on(async {
        let fields = [CONTENT_TYPE, ("grpc-timeout", limit)];
        let (response, mut to) = begin(address, "/hopbench.v1.Echo/Unary", &fields).await;
        if let Some(after_ms) = after_ms {
            tokio::time::sleep(Duration::from_millis(after_ms)).await;
            // Where its time is over the stream is, too.
            let _ = to.send_data(framed(&EchoRequest::default()), true);
        }
        let (head, mut body) = response.await.unwrap().into_parts();
        if let Some(status) = head.headers.get("grpc-status") {
            return status.to_str().unwrap().to_owned();
        }
        while let Some(chunk) = body.data().await {
            assert_eq!(chunk.unwrap().len(), 5);
        }
        body.trailers().await.unwrap().unwrap()["grpc-status"].to_str().unwrap().to_owned()
    })
}

#[test]
fn the_time_of_a_call_begins_with_its_head() {
    let ours = Ours::start();
    for (limit, after_ms, expected) in
        [("60S", Some(20), "0"), ("50m", Some(300), "4"), ("50m", None, "4"), ("0m", Some(0), "4")]
    {
        let status = status_of(ours.address, limit, after_ms);
        assert_eq!(status, expected, "{limit}, {after_ms:?}");
    }
    ours.stop();
}

/// A server of a library for one test.
struct Peer {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Peer {
    /// Answers each request with `answer`, when all of it is there.
    fn start(answer: fn(&[EchoRequest], SendResponse<Bytes>)) -> Self {
        let (tell, told) = mpsc::channel();
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let serve = async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            loop {
                let (tcp, _) = listener.accept().await.unwrap();
                tcp.set_nodelay(true).unwrap();
                if is_over.load(Ordering::Acquire) {
                    return;
                }
                tokio::spawn(async move {
                    let Ok(mut connection) = h2::server::handshake(tcp).await else { return };
                    while let Some(Ok((request, respond))) = connection.accept().await {
                        tokio::spawn(async move {
                            let mut body = request.into_body();
                            let mut all = Vec::new();
                            while let Some(Ok(chunk)) = body.data().await {
                                let _ = body.flow_control().release_capacity(chunk.len());
                                all.extend_from_slice(&chunk);
                            }
                            answer(&messages(&all), respond);
                        });
                    }
                });
            }
        };
        let thread = std::thread::spawn(move || runtime().block_on(serve));
        Self { address: told.recv().unwrap(), over, thread }
    }

    fn measure(self, params: serde_json::Value) -> rig::Measured {
        let kind = hopbench_load::workload("grpc").unwrap().kind();
        let mut job = Job {
            connections: 2,
            kind: kind.carried("grpc"),
            ..rig::job("grpc", EngineKind::Epoll, params)
        };
        job.params["url"] = json!(format!("http://{}/?size=700", self.address));
        let seen = crate::run(&job, self.address);
        self.over.store(true, Ordering::Release);
        drop(std::net::TcpStream::connect(self.address));
        self.thread.join().unwrap();
        seen
    }
}

fn head() -> Response<()> {
    Response::builder().header("content-type", "application/grpc").body(()).unwrap()
}

fn status(code: &'static str) -> HeaderMap {
    HeaderMap::from_iter([("grpc-status".parse().unwrap(), HeaderValue::from_static(code))])
}

#[test]
fn our_client_calls_the_server_of_a_library() {
    let peer = Peer::start(|requests, mut respond| {
        assert_eq!((requests.len(), requests[0].payload.len()), (2, 100));
        let payload = vec![1; requests[0].response_bytes as usize];
        let Ok(mut body) = respond.send_response(head(), false) else { return };
        let _ = body.send_data(framed(&EchoResponse { payload }), false);
        let _ = body.send_trailers(status("0"));
    });
    let seen = peer.measure(json!({"size": "100B", "streams": 4, "messages": 2}));
    assert_eq!(json!(seen.client.errors), json!({}));
    assert!(seen.client(Counter::Counted) > 8, "{}", seen.client(Counter::Counted));
    assert_eq!(seen.figures().metrics["response_body_bytes"], 708.0);
}

#[test]
fn ends_that_are_no_success_are_told_apart() {
    type Answer = fn(&[EchoRequest], SendResponse<Bytes>);
    let rows: [(Answer, &str); 8] = [
        (
            |_, mut respond| {
                let mut head = head();
                head.headers_mut().extend(status("7"));
                let _ = respond.send_response(head, true);
            },
            "grpc_permission_denied",
        ),
        (
            |_, mut respond| {
                let Ok(mut body) = respond.send_response(head(), false) else { return };
                let whole = framed(&EchoResponse { payload: vec![1; 9] });
                let _ = body.send_data(whole.slice(..whole.len() - 1), false);
                let _ = body.send_trailers(status("0"));
            },
            "grpc_cut_off",
        ),
        (
            |_, mut respond| {
                let _ = respond.send_response(head(), true);
            },
            "grpc_no_status",
        ),
        // In front of the body it says nothing.
        (
            |_, mut respond| {
                let mut head = head();
                head.headers_mut().extend(status("0"));
                let Ok(mut body) = respond.send_response(head, false) else { return };
                let _ = body.send_data(framed(&EchoResponse { payload: vec![1; 9] }), true);
            },
            "grpc_no_status",
        ),
        // The service of an agent answers with one message.
        (
            |_, mut respond| {
                let Ok(mut body) = respond.send_response(head(), false) else { return };
                let _ = body.send_trailers(status("0"));
            },
            "grpc_wrong_count",
        ),
        // A status of HTTP comes first.
        (
            |_, mut respond| {
                let mut response = Response::builder().status(429).body(()).unwrap();
                response.headers_mut().extend(status("14"));
                let _ = respond.send_response(response, true);
            },
            "status_4xx",
        ),
        (
            |_, mut respond| {
                let response = Response::builder().status(503).body(()).unwrap();
                let _ = respond.send_response(response, true);
            },
            "status_5xx",
        ),
        (|_, mut respond| respond.send_reset(h2::Reason::INTERNAL_ERROR), "reset internal_error"),
    ];
    for (answer, reason) in rows {
        let seen = Peer::start(answer).measure(json!({}));
        let errors = seen.client(Counter::CountedErrors);
        assert!(errors > 2, "{reason}: {errors}");
        assert_eq!(json!(seen.client.errors), json!({reason: errors}));
        assert_eq!(seen.client(Counter::Counted), 0, "{reason}");
    }
}
