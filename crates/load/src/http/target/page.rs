//! The page that a path and a query ask for.

use hopbench_model::units::{Bytes, Span, UnitError};
use hopbench_model::{Nanos, SECOND};

use crate::http::excerpt;

/// Most bytes of an answer's body.
const MOST_SIZE_BYTES: u64 = 1 << 30;
/// The longest delay and the longest stall.
const MOST_DELAY_NS: Nanos = 60 * SECOND;
/// The longest period of stalls.
const MOST_EVERY_NS: Nanos = 3600 * SECOND;

/// A page of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Page {
    /// `/healthz`.
    Health,
    /// `/` with its parameters.
    Load(LoadParams),
}

/// The parameters of `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LoadParams {
    /// Length of the body, bytes; absent: the request's own.
    pub(super) size: Option<u64>,
    /// 200 to 599.
    pub(super) status: u16,
    delay_ns: Nanos,
    /// Length and period.
    stall_ns: Option<(Nanos, Nanos)>,
}

/// A request that asks for something that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ErrorPage {
    /// The status of the answer.
    pub(super) status: u16,
    /// Its body.
    pub(super) text: String,
}

impl Page {
    /// Finds the page.
    pub(super) fn of(target: &str) -> Result<Self, ErrorPage> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match path {
            "/" => LoadParams::of(query).map(Self::Load),
            "/healthz" => Ok(Self::Health),
            other => Err(ErrorPage {
                status: 404,
                text: format!(
                    "path: found `{}`, expected `/` or `/healthz`\n",
                    excerpt(other.as_bytes())
                ),
            }),
        }
    }
}

impl LoadParams {
    fn of(query: &str) -> Result<Self, ErrorPage> {
        let (mut size, mut status, mut delay_ns, mut stall, mut every) =
            (None, None, None, None, None);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "size" => set(&mut size, name, size_of(value)?)?,
                "status" => set(&mut status, name, status_of(value)?)?,
                "delay" => set(&mut delay_ns, name, span_of(name, value, 0, MOST_DELAY_NS)?)?,
                "stall" => set(&mut stall, name, span_of(name, value, 0, MOST_DELAY_NS)?)?,
                "every" => set(&mut every, name, span_of(name, value, 1, MOST_EVERY_NS)?)?,
                other => return Err(bad("query", other, "size, delay, stall, every or status")),
            }
        }
        let status = status.unwrap_or(200);
        if matches!(status, 204 | 304) && size.is_some_and(|size| size > 0) {
            return Err(bad(
                "size",
                &size.unwrap_or(0).to_string(),
                "no size with a status that has no body",
            ));
        }
        let stall_ns = match (stall, every) {
            (None, None) => None,
            (Some(stall), Some(every)) if stall < every => Some((stall, every)),
            (Some(_), Some(_)) => return Err(bad("stall", query, "a stall shorter than every")),
            _ => {
                return Err(bad(
                    "stall",
                    query,
                    "stall and every together, like stall=100ms&every=1s",
                ));
            }
        };
        Ok(Self { size, status, delay_ns: delay_ns.unwrap_or(0), stall_ns })
    }

    /// How long the answer to a request that came at `now_ns` has to wait, ns: to the end of the
    /// stall, then the delay.
    pub(super) fn wait_ns(&self, now_ns: Nanos) -> Nanos {
        let stalled =
            self.stall_ns.map_or(0, |(stall, every)| stall.saturating_sub(now_ns % every));
        stalled + self.delay_ns
    }
}

fn set<T>(slot: &mut Option<T>, name: &str, value: T) -> Result<(), ErrorPage> {
    if slot.replace(value).is_some() {
        Err(bad("query", name, "each parameter once"))
    } else {
        Ok(())
    }
}

fn size_of(value: &str) -> Result<u64, ErrorPage> {
    let Bytes(size) = value.parse().map_err(|e: UnitError| bad("size", value, e.expected))?;
    if size <= MOST_SIZE_BYTES { Ok(size) } else { Err(bad("size", value, "at most 1GiB")) }
}

fn status_of(value: &str) -> Result<u16, ErrorPage> {
    let expected = "a status from 200 to 599";
    let status = if value.len() == 3 { value.parse().ok() } else { None };
    status.filter(|s| (200..600).contains(s)).ok_or_else(|| bad("status", value, expected))
}

fn span_of(name: &str, value: &str, least: Nanos, most: Nanos) -> Result<Nanos, ErrorPage> {
    let Span(span) = value.parse().map_err(|e: UnitError| bad(name, value, e.expected))?;
    if (least..=most).contains(&span) {
        return Ok(span);
    }
    Err(bad(name, value, &format!("{} to {}", Span(least), Span(most))))
}

fn bad(name: &str, found: &str, expected: &str) -> ErrorPage {
    ErrorPage {
        status: 400,
        text: format!("{name}: found `{}`, expected {expected}\n", excerpt(found.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn load(query: &str) -> LoadParams {
        match Page::of(&format!("/?{query}")) {
            Ok(Page::Load(load)) => load,
            other => panic!("{query}: {other:?}"),
        }
    }

    #[test]
    fn parameters_mean_what_they_say() {
        assert_eq!(load(""), LoadParams { size: None, status: 200, delay_ns: 0, stall_ns: None });
        assert_eq!(load("size=1KiB&delay=5ms&status=503").size, Some(1024));
        assert_eq!(load("size=1GiB").size, Some(1 << 30));
        assert_eq!(load("&status=599&").status, 599);
        assert_eq!(load("delay=5ms").wait_ns(12_345), 5 * MS);
        assert_eq!(Page::of("/healthz?x"), Ok(Page::Health));
        assert_eq!(Page::of("/"), Page::of("/?"));
    }

    #[test]
    fn a_stall_holds_what_comes_in_it() {
        let stalled = load("stall=100ms&every=1s");
        for (now, wait) in
            [(0, 100 * MS), (1, 100 * MS - 1), (99 * MS, MS), (100 * MS, 0), (999 * MS, 0)]
        {
            assert_eq!(stalled.wait_ns(now), wait, "{now}");
            assert_eq!(stalled.wait_ns(now + 7 * SECOND), wait, "{now} seven seconds on");
        }
        assert_eq!(load("stall=100ms&every=1s&delay=5ms").wait_ns(90 * MS), 15 * MS);
    }

    #[test]
    fn refusals_say_what_was_found_and_expected() {
        for (query, status, part) in [
            ("/?size=10XB", 400, "size: found `10XB`, expected a size like"),
            ("/?size=", 400, "size: found ``"),
            ("/?size=2GiB", 400, "at most 1GiB"),
            ("/?size=1%4BiB", 400, "found `1%4BiB`"),
            ("/?delay=soon", 400, "a time like"),
            ("/?delay=2m", 400, "0ns to 60s"),
            ("/?every=0s&stall=0s", 400, "1ns to 3600s"),
            ("/?status=99", 400, "200 to 599"),
            ("/?status=+20", 400, "200 to 599"),
            ("/?status=600", 400, "200 to 599"),
            ("/?status=204&size=1", 400, "no size with"),
            ("/?stall=1s", 400, "together"),
            ("/?every=1s", 400, "together"),
            ("/?stall=1s&every=1s", 400, "shorter"),
            ("/?size=1&size=1", 400, "once"),
            ("/?sizes=1", 400, "query: found `sizes`, expected size, delay"),
            ("/x", 404, "path: found `/x`, expected `/` or"),
            ("*", 404, "found `*`"),
            ("", 404, "found ``"),
        ] {
            let refusal = Page::of(query).unwrap_err();
            assert_eq!(refusal.status, status, "{query}");
            assert!(
                refusal.text.contains(part) && refusal.text.contains("found"),
                "{query}: {}",
                refusal.text
            );
        }
    }
}
