//! One call: its messages come in, one answer goes out. Whatever a peer sends ends in a status, and
//! in bounded time and memory.

use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::{Method, Request, Response, StatusCode};
use tokio::time::{Instant, timeout_at};

use crate::grpc::{self, Frames, Status};
use crate::server::budget::Budget;
use crate::server::connection_table::Call;
use crate::service::Service;

/// How a call ends without an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallFailure {
    /// With a status.
    Status(Status),
    /// The request is no gRPC at all.
    Http(StatusCode),
    /// The peer does not want an answer any more.
    Gone,
}

impl From<Status> for CallFailure {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

impl From<h2::Error> for CallFailure {
    fn from(_: h2::Error) -> Self {
        Self::Gone
    }
}

/// Serves a call. A message that began must be there within `patience`; `budget` is for bytes of
/// such messages. Whatever comes is a sign of life of the `call`'s connection. The peer was told of
/// an error.
pub(crate) async fn serve<S: Service>(
    service: &S,
    budget: &Budget,
    patience: Duration,
    call: &Call,
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) -> Result<(), CallFailure> {
    let result = match read(service, budget, patience, call, request).await {
        Ok(answer) => return Ok(reply(&mut respond, answer)?),
        Err(failure) => failure,
    };
    let mut response = Response::new(());
    match &result {
        CallFailure::Status(status) => {
            grpc::mark(response.headers_mut());
            status.write(response.headers_mut());
        }
        CallFailure::Http(code) => *response.status_mut() = *code,
        CallFailure::Gone => return Err(result),
    }
    // A peer that has gone meanwhile needs no answer.
    let _ = respond.send_response(response, true);
    Err(result)
}

fn reply(respond: &mut SendResponse<Bytes>, answer: Bytes) -> Result<(), h2::Error> {
    let mut response = Response::new(());
    grpc::mark(response.headers_mut());
    let mut stream = respond.send_response(response, false)?;
    stream.send_data(answer, false)?;
    stream.send_trailers(grpc::well_done())
}

/// Takes the messages of a call, and gives the answer.
async fn read<S: Service>(
    service: &S,
    budget: &Budget,
    patience: Duration,
    call: &Call,
    request: Request<RecvStream>,
) -> Result<Bytes, CallFailure> {
    if request.method() != Method::POST {
        return Err(CallFailure::Http(StatusCode::METHOD_NOT_ALLOWED));
    }
    if !grpc::is_marked(request.headers()) {
        return Err(CallFailure::Http(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    if request.uri().path() != S::METHOD {
        return Err(Status::unimplemented(format!("the only method here is {}", S::METHOD)).into());
    }
    let mut body = request.into_body();
    let mut frames = Frames::default();
    let mut held = budget.holder();
    let mut answer = None;
    let mut late = Instant::now() + patience;
    loop {
        let next = if S::STREAMS && frames.pending_bytes() == 0 {
            body.data().await
        } else {
            let next = timeout_at(late, body.data()).await;
            next.map_err(|_| {
                Status::late(format!("a message that is not whole after {patience:?}"))
            })?
        };
        let Some(bytes) = next.transpose()? else { break };
        call.active();
        body.flow_control().release_capacity(bytes.len())?;
        let mut begins = frames.pending_bytes() == 0;
        frames.push(&bytes);
        while let Some(message) = frames.pop()? {
            if answer.is_some() && !S::STREAMS {
                return Err(Status::internal(
                    "a call of this method has one message, and here is another",
                )
                .into());
            }
            answer = Some(service.take(message)?);
            begins = true;
        }
        if begins {
            late = Instant::now() + patience;
        }
        if !held.set(frames.pending_bytes()) {
            return Err(Status::exhausted("too many large messages are under way at once").into());
        }
    }
    if frames.pending_bytes() > 0 {
        return Err(Status::internal("the call ends in the middle of a message").into());
    }
    Ok(answer.map_or_else(|| service.nothing(), Ok)?)
}
