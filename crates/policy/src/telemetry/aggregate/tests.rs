use super::*;

fn report(duration_ns: u64) -> LoggedExchange {
    LoggedExchange { received_bytes: 100, sent_bytes: 1124, duration_ns }
}

#[test]
fn reports_add_up_by_series() {
    let mut all = Aggregate::default();
    let peer = "10.10.0.1".parse().ok();
    for ns in [900, 1000, 5_000_000] {
        all.add(Label::http(200, peer, "/a?n=1".to_owned()), report(ns));
    }
    all.add(Label::http(403, peer, "/a".to_owned()), report(10));
    all.add(Label::tcp(peer), LoggedExchange { received_bytes: 1, sent_bytes: 2, duration_ns: 3 });
    let totals = all.totals();
    assert_eq!(totals["reports"], 5);
    assert_eq!((&totals["http_reports"], &totals["tcp_reports"]), (&json!(4), &json!(1)));
    assert_eq!((&totals["received_bytes"], &totals["sent_bytes"]), (&json!(401), &json!(4498)));
    assert_eq!(totals["series"]["told_apart"], 3);
    let first = &totals["series"]["busiest"][0];
    assert_eq!(
        first["label"],
        json!({"kind": "http", "code": 200, "peer": "10.10.0.1", "path": "/a"})
    );
    assert_eq!((&first["reports"], &first["sent_bytes"]), (&json!(3), &json!(3372)));
    assert_eq!((&first["p50_below_ns"], &first["p99_below_ns"]), (&json!(1024), &json!(8_388_608)));
}

/// A peer that asks for another path each time cannot make the service grow, and nothing that it
/// did is lost.
#[test]
fn series_are_bounded_and_sums_are_whole() {
    let mut all = Aggregate::default();
    for n in 0..MOST_SERIES as u64 + 500 {
        all.add(Label::http(200, None, format!("/{n}")), report(1));
    }
    all.add(Label::http(200, None, "/0".to_owned()), report(1));
    let totals = all.totals();
    assert_eq!(totals["series"]["told_apart"], MOST_SERIES);
    assert_eq!(totals["reports"], MOST_SERIES + 501);
    assert_eq!(totals["received_bytes"], (MOST_SERIES + 501) * 100);
    assert_eq!(totals["series"]["busiest"].as_array().map(Vec::len), Some(SHOWN));
    assert_eq!(totals["series"]["busiest"][0]["label"]["path"], "/0");
}

#[test]
fn absurd_numbers_do_not_overflow() {
    let mut all = Aggregate::default();
    for path in ["/a", "/b", "/b"] {
        let most = LoggedExchange {
            received_bytes: u64::MAX,
            sent_bytes: u64::MAX,
            duration_ns: u64::MAX,
        };
        all.add(Label::http(u32::MAX, None, path.to_owned()), most);
    }
    assert_eq!(all.totals()["sent_bytes"], u64::MAX);
}

#[test]
fn long_paths_are_cut_between_characters() {
    let label = Label::http(200, None, format!("{}ä", "x".repeat(MOST_PATH_BYTES - 1)));
    assert_eq!(label.path, "x".repeat(MOST_PATH_BYTES - 1));
    assert_eq!(Label::http(200, None, "?".to_owned()).path, "");
}
