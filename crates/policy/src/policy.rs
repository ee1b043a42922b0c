//! The policy service: one question and one answer for each request, or each connection.

mod rules;

use bytes::Bytes;
use prost::Message;
use serde_json::{Map, Value, json};

use crate::grpc::{Status, framed};
use crate::messages::check::{
    AttributeContext, CheckRequest, CheckResponse, DeniedHttpResponse, HeaderValue,
    HeaderValueOption, HttpStatus, OkHttpResponse, RpcStatus,
};
use crate::service::{Count, Service};
use rules::{Http, Question, Rule, denied};

/// `google.rpc.Code` of a request that may not pass.
const PERMISSION_DENIED: i32 = 7;
/// The HTTP status of it.
const FORBIDDEN: i32 = 403;
/// The header that names the rule, for whoever was denied.
const DENIED_BY: &str = "x-hopbench-deny";

/// Its counters, and the answer that it gives most.
#[derive(Debug)]
pub(crate) struct Policy {
    http_checks: Count,
    tcp_checks: Count,
    denied: Count,
    allowed: Bytes,
}

impl Policy {
    pub(crate) fn new() -> Self {
        Self {
            http_checks: Count::default(),
            tcp_checks: Count::default(),
            denied: Count::default(),
            allowed: framed(&allow()),
        }
    }
}

impl Service for Policy {
    const METHOD: &'static str = "/envoy.service.auth.v3.Authorization/Check";
    const STREAMS: bool = false;

    fn take(&self, message: Bytes) -> Result<Bytes, Status> {
        let request =
            CheckRequest::decode(message).map_err(|error| Status::invalid(error.to_string()))?;
        let attributes = request
            .attributes
            .ok_or_else(|| Status::invalid("a check of nothing: no attributes"))?;
        let question = question(&attributes);
        match &question.http {
            Some(_) => self.http_checks.one(),
            None => self.tcp_checks.one(),
        }
        Ok(match denied(&question) {
            Some(rule) => {
                self.denied.one();
                framed(&deny(rule))
            }
            None => self.allowed.clone(),
        })
    }

    fn nothing(&self) -> Result<Bytes, Status> {
        Err(Status::internal("a check without a message"))
    }

    fn totals(&self) -> Map<String, Value> {
        let (http, tcp) = (self.http_checks.get(), self.tcp_checks.get());
        let totals = [
            ("checks", http + tcp),
            ("http_checks", http),
            ("tcp_checks", tcp),
            ("denied", self.denied.get()),
        ];
        totals.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
    }
}

fn question(attributes: &AttributeContext) -> Question<'_> {
    let (source, destination) = (attributes.source.as_ref(), attributes.destination.as_ref());
    Question {
        source: source.and_then(|peer| peer.address.as_ref()?.ip()),
        principal: source.map_or("", |peer| &peer.principal),
        port: destination.and_then(|peer| peer.address.as_ref()?.port()),
        http: attributes
            .request
            .as_ref()
            .and_then(|request| request.http.as_ref())
            .map(|http| Http { method: &http.method, path: &http.path, headers: &http.headers }),
    }
}

fn allow() -> CheckResponse {
    CheckResponse {
        status: Some(RpcStatus::default()),
        ok_response: Some(OkHttpResponse::default()),
        denied_response: None,
    }
}

fn deny(rule: &Rule) -> CheckResponse {
    let message = format!("denied by the rule `{}`", rule.name);
    let header = HeaderValue { key: DENIED_BY.to_owned(), value: rule.name.to_owned() };
    CheckResponse {
        status: Some(RpcStatus { code: PERMISSION_DENIED, message: message.clone() }),
        denied_response: Some(DeniedHttpResponse {
            status: Some(HttpStatus { code: FORBIDDEN }),
            headers: vec![HeaderValueOption { header: Some(header) }],
            body: format!("{message}\n"),
        }),
        ok_response: None,
    }
}

#[cfg(test)]
mod tests;
