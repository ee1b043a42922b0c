//! The method that a URL names, and what is sent to it.

use hopbench_model::Problem;

use crate::http::Url;
use crate::http::grpc::{BIDI_STREAM, CLIENT_STREAM, EchoRequest, SERVER_STREAM, UNARY};

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CalledMethod<'a> {
    /// Of the target's own service.
    Echo(EchoRequest),
    /// Of any service: its path.
    Of(&'a str),
}

impl<'a> CalledMethod<'a> {
    /// The method of a URL.
    pub(super) fn of(url: &'a Url) -> Result<Self, Problem> {
        let (path, query) = url.target().split_once('?').unwrap_or_else(|| (url.target(), ""));
        if path == "/" {
            let wrong = |found: String, expected| Problem::new("URL", found, expected);
            return EchoRequest::of_query(query)
                .map(Self::Echo)
                .map_err(|error| wrong(error.found, error.expected));
        }
        let parts: Vec<&str> = url.target().split('/').collect();
        match parts[..] {
            ["", service, method]
                if !service.is_empty() && !method.is_empty() && query.is_empty() =>
            {
                Ok(Self::Of(path))
            }
            _ => Err(Problem::new(
                "URL",
                url.target(),
                "the path of a method like /package.Service/Method, or none for the service of an \
                 agent",
            )),
        }
    }

    /// Its path, where a call has so many messages, sent at once or each behind the answer to the
    /// one before.
    pub(super) fn path(self, messages: u32, ping_pong: bool) -> &'a str {
        match self {
            Self::Of(path) => path,
            Self::Echo(_) if ping_pong => BIDI_STREAM,
            Self::Echo(_) if messages > 1 => CLIENT_STREAM,
            Self::Echo(request) if request.count > 0 => SERVER_STREAM,
            Self::Echo(_) => UNARY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_method() {
        let method = |url: &str| {
            let url = Url::parse(url).unwrap();
            CalledMethod::of(&url)
                .map(|method| method.path(1, false).to_owned())
                .map_err(|it| it.found)
        };
        assert_eq!(method("h:1"), Ok(UNARY.to_owned()));
        assert_eq!(method("http://h:1/?size=1KiB"), Ok(UNARY.to_owned()));
        assert_eq!(method("h/?count=3"), Ok(SERVER_STREAM.to_owned()));
        assert_eq!(method("h/a.B/C"), Ok("/a.B/C".to_owned()));
        for wrong in ["/a", "/a/", "//b", "/a/b/c", "/a/b?c"] {
            assert_eq!(method(&format!("h{wrong}")), Err(wrong.to_owned()));
        }
        assert_eq!(method("h/?sizes=1"), Err("sizes=1".to_owned()));
        let url = Url::parse("h").unwrap();
        let method = CalledMethod::of(&url).unwrap();
        assert_eq!((method.path(2, false), method.path(2, true)), (CLIENT_STREAM, BIDI_STREAM));
    }
}
