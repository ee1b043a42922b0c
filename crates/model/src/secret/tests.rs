use serde_json::json;

use super::*;
use crate::fixture;

fn job(headers: &[&str]) -> Job {
    fixture::job("http", json!({"headers": headers}))
}

fn nothing(_: &str) -> Option<String> {
    None
}

#[test]
fn names_say_what_is_secret() {
    #[rustfmt::skip]
    let secrets = [
        "Authorization", "proxy-authorization", "COOKIE", "Set-Cookie", "X-Auth-Token", "X-Api-Key",
        "x-csrf-token", "X-Amz-Security-Token", "X-AccessToken", "apikey", "X-Vault-Token",
        "Client_Secret", "Authentication", "X-Authentication", "X-SessionId", "PHPSESSID",
        "Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Amz-Server-Side-Encryption-Customer-Key",
        "X-Amz-Signature", "X-Master-Key", "X-Admin-Key", "X-Signing-Key", "X-AuthKey",
        "X-MyApiKey", "X-Bearer", "X-Pwd", "X-Passcode", "X-Pin",
    ];
    for secret in secrets {
        assert!(is_secret(secret), "{secret}");
    }
    #[rustfmt::skip]
    let open_names = [
        "Accept", "Host", "X-Request-Id", "Content-Type", "Authority", "Key", "X-Tokens-Left",
        "Origin", "Idempotency-Key", "Surrogate-Key", "X-Spinning",
    ];
    for open in open_names {
        assert!(!is_secret(open), "{open}");
    }
}

#[test]
fn headers_are_shown_without_their_values() {
    for (header, shown) in [
        ("Authorization: Bearer x", "Authorization: <redacted>"),
        ("Authorization Bearer x", "Authorization: <redacted>"),
        ("Cookie:a=b", "Cookie: <redacted>"),
        ("Accept: x", "Accept: x"),
        ("Authorization: Bearer env:TOKEN", "Authorization: Bearer env:TOKEN"),
        ("Authorization: secret env:TOKEN1 x", "Authorization: <redacted>"),
        ("Authorization: s3cret env:TOKEN", "Authorization: <redacted>"),
        ("Authorization: env:1", "Authorization: <redacted>"),
    ] {
        assert_eq!(redacted(header), shown);
    }
}

#[test]
fn what_was_taken_is_sent_and_not_shown() {
    let original = job(&["Accept: a", "Authorization: Bearer topsecret", "X-Api-Key: k"]);
    let mut shown = original.clone();
    let mut secrets = Secrets::default();
    secrets.take("w", &mut shown);
    let expected = job(&["Accept: a", "Authorization: <redacted>", "X-Api-Key: <redacted>"]);
    assert_eq!(shown, expected);
    assert_eq!(secrets.restored("w", &shown, nothing), Ok(original));
    assert!(!format!("{secrets:?}").contains("topsecret"));
    // Once more: nothing is lost.
    secrets.take("w", &mut shown);
    assert_eq!(shown, expected);
    assert!(secrets.restored("w", &shown, nothing).is_ok());
    let fault = secrets.restored("other", &shown, nothing).unwrap_err();
    assert!(
        fault.text.contains("`Authorization` was not kept") && fault.text.contains("--resume"),
        "{fault}"
    );
}

#[test]
fn references_are_taken_from_the_environment() {
    let mut plain = job(&["Authorization: Bearer env:TOKEN", "X-Any: env:OTHER"]);
    let mut secrets = Secrets::default();
    secrets.take("w", &mut plain);
    assert!(secrets.is_empty());
    assert_eq!(references(&plain), [("Authorization", "TOKEN"), ("X-Any", "OTHER")]);
    let variable = |name: &str| Some(format!("value of {name}"));
    let sent = secrets.restored("w", &plain, variable).unwrap();
    assert_eq!(sent, job(&["Authorization: Bearer value of TOKEN", "X-Any: value of OTHER"]));
    let fault = secrets.restored("w", &plain, nothing).unwrap_err();
    assert!(fault.text.contains("variable TOKEN, which is not set"), "{fault}");
}

#[test]
fn a_private_key_is_sent_to_the_owner_of_its_certificate() {
    let with = |certificates: &str, key: &str| {
        fixture::job("http", json!({"tls_certificates": certificates, "tls_private_key": key}))
    };
    let (originals, mut secrets) = ([with("one", "k1"), with("two", "k2")], Secrets::default());
    // Points of one workload can have different ones.
    let shown = originals.clone().map(|mut job| {
        secrets.take("w", &mut job);
        job
    });
    assert_eq!(shown, [with("one", REDACTED), with("two", REDACTED)]);
    for (shown, original) in shown.iter().zip(originals) {
        assert_eq!(secrets.restored("w", shown, nothing), Ok(original));
    }
    assert!(!format!("{secrets:?}").contains("k1") && !secrets.is_empty());
    // Once more: nothing is lost.
    secrets.take("w", &mut shown[0].clone());
    assert!(secrets.restored("w", &shown[0], nothing).is_ok());
    let fault = Secrets::default().restored("w", &shown[0], nothing).unwrap_err();
    assert!(fault.text.contains("`tls-cert` was not kept"), "{fault}");
    // The text of a scenario has the name of a file.
    assert_eq!(secrets.redact("tls-key: k.pem"), "tls-key: k.pem");
}

#[test]
fn a_job_is_printed_without_its_secrets() {
    let headers = ["Authorization: Bearer topsecret", "X-Any: shown"];
    let params = json!({"headers": headers, "tls_private_key": "a key", "size": 7});
    let original = fixture::job("http", params);
    let printed = format!("{original:?}");
    assert!(!printed.contains("topsecret") && !printed.contains("a key"), "{printed}");
    assert!(printed.contains("X-Any: shown") && printed.contains("<redacted>"), "{printed}");
    assert_eq!(original.params["tls_private_key"], "a key", "it is sent all the same");
}

#[test]
fn a_scenario_is_kept_without_the_values() {
    let mut secrets = Secrets::default();
    secrets.take("w", &mut job(&["Authorization: Bearer topsecret", "X-Token: 1"]));
    for (text, kept) in [
        (
            "h: ['Authorization: Bearer topsecret', \"X-Token: 1\"] # 1",
            "h: ['Authorization: <redacted>', \"X-Token: <redacted>\"] # 1",
        ),
        (
            "- authorization:  Bearer topsecret\n- x-token: 1\nother: Bearer topsecret",
            "- authorization:  <redacted>\n- x-token: <redacted>\nother: <redacted>",
        ),
        (
            "# - 'Cookie: old'\nX-Token: 1\nAuthorization: Bearer topsecret",
            "# - 'Cookie: <redacted>\nX-Token: <redacted>\nAuthorization: <redacted>",
        ),
    ] {
        assert_eq!(secrets.redact(text), kept);
    }
    // Folded over two lines, or with escapes of YAML.
    let withheld = secrets.redact("X-Token: 1\nh: \"Authorization: Bearer top\\\n  secret\"");
    assert!(
        !withheld.contains("secret\"") && withheld.contains("cannot be redacted"),
        "{withheld}"
    );
    assert_eq!(Secrets::default().redact("a: 1 # b"), "a: 1 # b");
}
