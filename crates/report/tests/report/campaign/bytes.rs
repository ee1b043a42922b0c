//! The bytes of bulk traffic, as each end counted them.

use super::fixture::{self, Made};
use super::{render, summary};

const TITLE: &str = "Bytes, as each end counted them";

/// A run whose throughput has the whole account of one direction.
fn accounted(direction: &str) -> Made {
    let mut made = fixture::quickstart(2);
    for record in made.records.iter_mut().filter(|record| record.workload == "throughput") {
        record.job["params"]["direction"] = direction.into();
        for (name, value) in [
            ("sent_bits_per_s", 10e9),
            ("acknowledged_bits_per_s", 9.9e9),
            ("received_bits_per_s", 9.5e9),
            ("retransmitted_bytes", 250e3),
            ("queued_bytes", 12.5e6),
            ("receive_queue_bytes", 500e3),
        ] {
            record.metrics.insert(name.to_owned(), value);
        }
        record.explanation = vec!["the sender counted 5.26 % more than the receiver.".to_owned()];
    }
    made
}

/// The lines of the table from its title on, words apart by one blank.
fn lines(made: &Made) -> Vec<String> {
    let page = render(made, "table");
    let from = page.lines().skip_while(|line| *line != TITLE);
    from.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn each_end_has_columns_of_what_it_counted() {
    let to_server = lines(&accounted("to-server"));
    for line in [
        "path client sent client acknowledged server received",
        "Gbit/s Gbit/s Gbit/s",
        "host 10.00 9.90 9.50",
        "path client sent again client queue server unread",
        "kB MB kB",
        "host 250.0 12.50 500.0",
        "- bridge: the sender counted 5.26 % more than the receiver",
    ] {
        assert!(to_server.iter().any(|known| known == line), "{line}: {to_server:#?}");
    }
    let from_server = lines(&accounted("from-server"));
    assert!(
        from_server.contains(&"path server sent server acknowledged client received".to_owned()),
        "{from_server:#?}"
    );
}

#[test]
fn both_directions_stand_in_one_row() {
    let mut made = accounted("both");
    for record in made.records.iter_mut().filter(|record| record.workload == "throughput") {
        for (name, value) in [
            ("to_server_sent_bits_per_s", 6e9),
            ("to_server_received_bits_per_s", 5e9),
            ("from_server_sent_bits_per_s", 4e9),
            ("from_server_received_bits_per_s", 3e9),
        ] {
            record.metrics.insert(name.to_owned(), value);
        }
    }
    let shown = lines(&made);
    let row = shown.iter().position(|line| line.starts_with("path client sent")).unwrap();
    assert_eq!(shown[row], "path client sent server received server sent client received");
    assert_eq!(shown[row + 2], "host 6.000 5.000 4.000 3.000", "no sums among them");
}

#[test]
fn what_a_cell_does_not_have_is_a_dash_and_what_none_has_is_no_column() {
    let mut made = accounted("to-server");
    for record in made.records.iter_mut().filter(|record| record.workload == "throughput") {
        record.metrics.remove("queued_bytes");
        if record.path == "eni" {
            record.metrics.remove("acknowledged_bits_per_s");
        }
    }
    let shown = lines(&made);
    assert!(shown.contains(&"eni 10.00 - 9.50".to_owned()), "{shown:#?}");
    let is_head = |line: &&String| line.starts_with("path ");
    assert!(shown.iter().filter(is_head).all(|line| !line.contains("queue")), "{shown:#?}");
    for record in &mut made.records {
        record.metrics.remove("sent_bits_per_s");
    }
    let page = render(&made, "table");
    assert!(!page.contains(TITLE), "nothing to compare with");
    assert!(page.contains("What the figures hold"), "the sentences stand elsewhere then");
}

#[test]
fn what_an_end_counted_is_not_compared() {
    let summary = summary(&accounted("to-server"));
    let bridge = summary.workloads[0].cells.iter().find(|cell| cell.path == "bridge").unwrap();
    let sent = bridge.figure("client_sent_bits_per_s").unwrap();
    assert!(sent.ratio.is_none() && sent.spread.median == 10e9, "{sent:?}");
    assert!(bridge.figure("server_sent_bits_per_s").is_none());
    assert!(bridge.figure("received_bits_per_s").unwrap().ratio.is_some());
}
