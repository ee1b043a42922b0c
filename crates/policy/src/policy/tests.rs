use std::collections::HashMap;

use super::*;
use crate::messages::address::{Address, SocketAddress};
use crate::messages::check::{HttpRequest, Peer, Request};

fn peer(ip: &str, port: u32) -> Option<Peer> {
    let socket_address = Some(SocketAddress { address: ip.to_owned(), port_value: port });
    Some(Peer { address: Some(Address { socket_address }), principal: String::new() })
}

fn ask(policy: &Policy, source: &str, headers: Option<&[(&str, &str)]>) -> CheckResponse {
    let headers = headers.map(|all| {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    });
    let http = headers.map(|headers: HashMap<_, _>| HttpRequest {
        method: "GET".to_owned(),
        headers,
        path: "/".to_owned(),
    });
    let request = Some(Request { http });
    let attributes =
        AttributeContext { source: peer(source, 5), destination: peer("10.0.0.2", 80), request };
    let message = CheckRequest { attributes: Some(attributes) }.encode_to_vec();
    let answer = policy.take(message.into()).unwrap();
    CheckResponse::decode(answer.slice(5..)).unwrap()
}

#[test]
fn answers_and_counts() {
    let policy = Policy::new();
    let yes = ask(&policy, "10.0.0.1", Some(&[("x-hopbench-deny", "0")]));
    assert_eq!(
        (yes.status.unwrap().code, yes.ok_response.is_some(), yes.denied_response),
        (0, true, None)
    );
    assert_eq!(ask(&policy, "10.0.0.1", None).status.unwrap().code, 0, "a connection");

    let no = ask(&policy, "10.0.0.1", Some(&[("x-hopbench-deny", "1")]));
    assert_eq!((no.status.unwrap().code, no.ok_response), (7, None));
    let denied = no.denied_response.unwrap();
    assert_eq!(denied.status.unwrap().code, 403);
    let header = denied.headers[0].header.as_ref().unwrap();
    assert_eq!((&*header.key, &*header.value), ("x-hopbench-deny", "asked-for"));
    assert_eq!(ask(&policy, "127.66.0.1", None).status.unwrap().code, 7, "a connection");

    let expected = json!({"checks": 4, "http_checks": 2, "tcp_checks": 2, "denied": 2});
    assert_eq!(Value::Object(policy.totals()), expected);
}

#[test]
fn questions_that_are_none() {
    let policy = Policy::new();
    let code = |message: &'static [u8]| policy.take(message.into()).unwrap_err().code;
    assert_eq!(code(b""), 3, "no attributes");
    assert_eq!(code(b"\xff\xff"), 3);
    assert_eq!(code(b"\x0a\x05\x0a"), 3, "cut");
    assert_eq!(policy.nothing().unwrap_err().code, 13);
    assert_eq!(policy.totals()["checks"], 0);
}
