//! The forms of names and addresses in the blocks of testbeds.

/// The form that [`is_label`] accepts.
pub(crate) const LABEL: &str = "a name of at most 63 lower-case letters, digits and -";
/// The form that [`is_domain`] accepts.
pub(crate) const DOMAIN: &str =
    "a name of lower-case letters, digits, - and . that starts with a letter or digit";
/// The form that [`endpoint`] accepts.
pub(crate) const ENDPOINT: &str = "an address with a port, like 203.0.113.7:80";
/// The form that [`is_image`] accepts.
pub(crate) const IMAGE: &str = "an image like name:tag, without spaces";

/// Whether a text is a label of the DNS: what Kubernetes takes as the name of a namespace or a
/// Service.
pub(crate) fn is_label(text: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.len() <= 63
        && edge(text.chars().next())
        && edge(text.chars().last())
        && text.chars().all(inner)
}

/// Whether a text is labels with dots between them: what Kubernetes takes as the name of a node or
/// a RuntimeClass.
pub(crate) fn is_domain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

/// Whether a text can be the value of a label; nothing can, too.
pub(crate) fn is_label_value(text: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.len() <= 63
        && edge(text.chars().next())
        && edge(text.chars().last())
        && text.chars().all(inner)
}

/// Whether a text can be the key of a label or an annotation: `app`, `example.org/app`.
pub(crate) fn is_label_key(text: &str) -> bool {
    let (prefix, name) =
        text.rsplit_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    !name.is_empty() && is_label_value(name) && prefix.is_none_or(is_domain)
}

/// Whether a text can be the name of an image.
pub(crate) fn is_image(text: &str) -> bool {
    let fine =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | '@');
    text.len() <= 512
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(fine)
}

/// Whether a text is the name or address of a machine: `worker-1`, `10.0.0.7`, `::1`.
pub(crate) fn is_host(text: &str) -> bool {
    text.parse::<std::net::IpAddr>().is_ok() || is_domain(text) && !looks_like_ipv4(text)
}

/// Name or address, and port; an IPv6 address stands in brackets.
pub(crate) fn endpoint(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let inside = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let fine = match inside {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => is_host(host) && !host.contains(':'),
    };
    let digits = port.bytes().all(|digit| digit.is_ascii_digit());
    let port = port.parse().ok().filter(|port| digits && *port > 0)?;
    fine.then_some((inside.unwrap_or(host), port))
}

/// `10.0.0.300` would otherwise be the name of a machine.
fn looks_like_ipv4(text: &str) -> bool {
    text.split('.').count() == 4 && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_kubernetes_takes() {
        for (text, label, domain) in [
            ("worker-1", true, true),
            ("ip-10-0-0-1.eu-west-1.compute.internal", false, true),
            ("a", true, true),
            ("7", true, true),
            ("-a", false, false),
            ("a-", false, false),
            ("a..b", false, false),
            ("A", false, false),
            ("a_b", false, false),
            ("", false, false),
        ] {
            assert_eq!((is_label(text), is_domain(text)), (label, domain), "{text}");
        }
        assert!(is_label(&"a".repeat(63)) && !is_label(&"a".repeat(64)));
        let long = [&"a".repeat(63); 4].map(String::as_str).join(".");
        assert!(!is_domain(&long) && is_domain(&long[3..]), "{} characters", long.len());
    }

    #[test]
    fn keys_of_labels_have_a_domain_before_the_slash() {
        for (text, right) in [
            ("app", true),
            ("k8s.v1.cni.cncf.io/networks", true),
            ("App_2.x", true),
            ("/app", false),
            ("example.org/", false),
            ("Example.org/app", false),
            ("a/b/c", false),
            ("", false),
        ] {
            assert_eq!(is_label_key(text), right, "{text}");
        }
    }

    #[test]
    fn an_endpoint_is_a_host_and_a_port() {
        for (text, expected) in [
            ("10.0.0.7:80", Some(("10.0.0.7", 80))),
            ("[::1]:7474", Some(("::1", 7474))),
            ("gateway.example:443", Some(("gateway.example", 443))),
            ("::1:7474", None),
            ("10.0.0.300:80", None),
            ("10.0.0.7", None),
            ("10.0.0.7:0", None),
            ("10.0.0.7:+8", None),
            ("10.0.0.7:65536", None),
            ("[10.0.0.7]:80", None),
            (":80", None),
            ("a b:80", None),
        ] {
            assert_eq!(endpoint(text), expected, "{text}");
        }
    }
}
