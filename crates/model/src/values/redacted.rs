//! The parameters of a workload that are not shown: values of headers that are secret by their
//! names, and the private key of a client's certificate.

use std::borrow::Cow;

use serde_json::Value;

/// Stands for a value that is not shown.
pub const REDACTED: &str = "<redacted>";

/// The parameter of a job that holds headers, `Name: value` each.
pub(crate) const HEADERS: &str = "headers";

/// The parameter that holds the private key of a client's certificate, in PEM.
pub(crate) const PRIVATE_KEY: &str = "tls_private_key";

/// How a value begins that an environment variable holds.
const REFERENCE: &str = "env:";

/// Words that make a header's name secret.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "authorization", "authentication", "auth", "bearer", "cookie", "cookie2", "passwd",
    "passphrase", "passcode", "pwd", "pin", "credential", "credentials", "session", "signature",
    "jwt",
];

/// Ends of words that do: `X-Auth-Token`, `X-AccessToken`, `PHPSESSID`.
const ENDINGS: &[&str] =
    &["token", "secret", "password", "apikey", "authkey", "accesskey", "sessionid", "sessid"];

/// Words that make `key` secret behind them: `X-Api-Key`.
#[rustfmt::skip]
const KEYS: &[&str] = &[
    "api", "access", "private", "auth", "subscription", "functions", "customer", "master", "admin",
    "signing",
];

/// Whether the value of a header is secret, by its name alone, in any case: `Authorization`,
/// `Proxy-Authorization`, `Cookie`, `Set-Cookie`, `X-Auth-Token`, `X-Api-Key` and alike.
pub fn is_secret(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    let words: Vec<&str> = name.split(['-', '_', '.']).collect();
    let is_telling =
        |word: &&str| WORDS.contains(word) || ENDINGS.iter().any(|ending| word.ends_with(*ending));
    words.iter().any(is_telling)
        || words.windows(2).any(|pair| KEYS.contains(&pair[0]) && pair[1] == "key")
}

/// A header as it may be shown: `Authorization: <redacted>`. A reference stays.
pub fn redacted(header: &str) -> Cow<'_, str> {
    // A header without its colon is a mistake, and may hold a secret all the same.
    let (name, value) =
        header.split_once(':').or_else(|| header.split_once(' ')).unwrap_or((header, ""));
    if !is_secret(name) || matches!(value.trim(), "" | REDACTED) || reference(value).is_some() {
        return Cow::Borrowed(header);
    }
    Cow::Owned(format!("{name}: {REDACTED}"))
}

/// The variable that a value refers to, and what stands before it: `env:TOKEN`, `Bearer env:TOKEN`.
pub(crate) fn reference(value: &str) -> Option<(&str, &str)> {
    let value = value.trim();
    let (scheme, last) = value.rsplit_once(' ').unwrap_or(("", value));
    let name = last.strip_prefix(REFERENCE)?;
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_name = begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_scheme = scheme.chars().all(|c| c.is_ascii_alphabetic());
    (is_name && is_scheme).then_some((scheme, name))
}

/// The parameters of a workload as they may be shown.
pub(crate) fn redacted_params(params: &Value) -> Value {
    let mut shown = params.clone();
    let headers = shown.get_mut(HEADERS).and_then(Value::as_array_mut);
    for header in headers.into_iter().flatten() {
        if let Some(Cow::Owned(hidden)) = header.as_str().map(redacted) {
            *header = Value::String(hidden);
        }
    }
    if let Some(key) = shown.get_mut(PRIVATE_KEY).filter(|key| key.is_string()) {
        *key = Value::from(REDACTED);
    }
    shown
}
