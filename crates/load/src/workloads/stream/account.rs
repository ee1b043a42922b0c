//! The account of every byte of a direction: written, sent, received, queued.

use hopbench_model::number::{bytes, percent};
use hopbench_model::{Counter, Counts, EndReport, TcpTotals};

use crate::workload::Figures;
use crate::workload::figures;

/// Adds what the sending end of one direction knows.
pub(super) fn sending(out: &mut Figures, prefix: &str, sender: &EndReport) {
    let mut metric = |name: &str, value: f64| out.metric(&format!("{prefix}{name}"), value);
    let sent = figures::per_s(sender, Counter::SentBytes);
    metric("sent_bits_per_s", sent * 8.0);
    let Some(tcp) = figures::tcp(sender) else {
        return;
    };
    let acked = figures::rate(sender, tcp.acked_bytes);
    metric("acknowledged_bits_per_s", acked * 8.0);
    metric("retransmitted_bytes", tcp.retransmitted_bytes as f64);
    metric("retransmitted_segments", tcp.retransmitted_segments as f64);
    metric("smoothed_rtt_ns", tcp.smoothed_rtt_ns as f64);
    let busy = tcp.busy_ns.max(1) as f64;
    let (window, buffer) = (tcp.receive_window_limited_ns, tcp.send_buffer_limited_ns);
    metric("receive_window_limited_ratio", window as f64 / busy);
    metric("send_buffer_limited_ratio", buffer as f64 / busy);
}

/// Adds what the receiving end of one direction knows.
pub(super) fn receiving(out: &mut Figures, prefix: &str, receiver: &EndReport) {
    let received = figures::per_s(receiver, Counter::ReceivedBytes);
    out.metric(&format!("{prefix}received_bits_per_s"), received * 8.0);
}

/// What stands between the programs of both ends and the sockets of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Between {
    /// What one writes the other reads.
    Nothing,
    /// Sockets hold records of TLS, which are longer than what is in them.
    Records,
    /// The sockets of the two ends are not of one connection: what they hold is not all that is
    /// under way.
    Proxies,
}

/// Where the bytes of one direction went.
pub(super) fn account(
    out: &mut Figures,
    prefix: &str,
    sender: &EndReport,
    receiver: &EndReport,
    between: Between,
) {
    sending(out, prefix, sender);
    receiving(out, prefix, receiver);
    let metric =
        |out: &mut Figures, name: &str, value: f64| out.metric(&format!("{prefix}{name}"), value);
    let total = |counts: &Counts, counter| counts.of(counter);
    // Totals of the connections' whole life up to the window's end: queues are what a difference of
    // totals is made of.
    let written = total(&sender.end.counts, Counter::SentBytes);
    let received = total(&receiver.end.counts, Counter::ReceivedBytes);
    let queues = |end: &EndReport| end.end.tcp.unwrap_or_default();
    let (tx, rx): (TcpTotals, TcpTotals) = (queues(sender), queues(receiver));
    let in_flight = tx.send_queue_bytes.saturating_sub(tx.not_sent_bytes);
    metric(out, "queued_bytes", tx.send_queue_bytes as f64);
    metric(out, "receive_queue_bytes", rx.receive_queue_bytes as f64);
    let difference = i128::from(written) - i128::from(received);
    metric(out, "written_minus_received_bytes", difference as f64);
    let queued = i128::from(tx.send_queue_bytes) + i128::from(rx.receive_queue_bytes);
    let direction = if prefix.is_empty() {
        String::new()
    } else {
        format!("{}: ", prefix.trim_end_matches('_').replace('_', " "))
    };
    let what = match difference {
        0.. => format!("{} were written and not received", bytes(difference as f64)),
        _ => format!(
            "{} more were received than written, as the receiver was read later",
            bytes(-difference as f64)
        ),
    };
    let queues = [
        (tx.not_sent_bytes, "not sent"),
        (in_flight, "sent and not acknowledged"),
        (rx.receive_queue_bytes, "received and not read"),
    ];
    let queues = queues.map(|(size, what)| format!("{} {what}", bytes(size as f64))).join(", ");
    let again = bytes(figures::tcp(sender).map_or(0, |t| t.retransmitted_bytes) as f64);
    let rest = difference - queued;
    let (rest, again) = if between == Between::Proxies {
        // Less than nothing: more moved between the two readings than they held.
        let held = rest.max(0) as f64;
        metric(out, "in_proxies_bytes", held);
        (
            format!(
                "{} in the buffers and sockets of the proxies between them, give or take what \
                 moved between the readings",
                bytes(held)
            ),
            format!(
                "{again} were sent again on the sender's own connection, which ends at the first \
                 proxy: what was sent again behind that is not known here"
            ),
        )
    } else {
        let rest = match between {
            Between::Records => "all of these in records of TLS".to_owned(),
            _ => format!("{} moved between the two readings", bytes(rest.abs() as f64)),
        };
        (rest, format!("{again} were sent again, which no rate counts twice"))
    };
    let rates = rates(sender, receiver);
    let note = format!("{direction}{rates}when it ended, {what}: {queues}, {rest}; {again}");
    out.explanation.push(note);
    let (all_sent, all_received) = (
        total(&sender.drained, Counter::SentBytes),
        total(&receiver.drained, Counter::ReceivedBytes),
    );
    let cut = sender.incomplete.is_some() || receiver.incomplete.is_some();
    // Where a sender is cut off, some records of its last write were sent, and it did not count
    // them.
    if !cut || between != Between::Records {
        out.invariant(&format!("{prefix}received_le_sent"), all_received <= all_sent, || {
            format!("{all_sent} bytes sent, {all_received} received")
        });
    }
    if !cut {
        out.invariant(
            &format!("{prefix}received_eq_sent_at_close"),
            all_received == all_sent,
            || format!("{all_sent} bytes sent, {all_received} received"),
        );
    }
}

/// By how much the rates of the two ends differ, with what follows it.
fn rates(sender: &EndReport, receiver: &EndReport) -> String {
    let sent = figures::per_s(sender, Counter::SentBytes);
    let more = sent / figures::per_s(receiver, Counter::ReceivedBytes) - 1.0;
    let than = if more < 0.0 { "less" } else { "more" };
    if !more.is_finite() {
        return "nothing was received in the window; ".to_owned();
    }
    format!("in the window the sender counted {} {than} than the receiver; ", percent(more.abs()))
}

#[cfg(test)]
mod tests {
    use hopbench_model::Tick;

    use super::*;

    /// An end of a trial that sent or received so much, with these queues at the window's end.
    fn end(counter: Counter, bytes: u64, tcp: TcpTotals) -> EndReport {
        let mut counts = Counts::default();
        counts.set(counter, bytes);
        let end = Tick { t_ns: 1_000_000_000, counts, tcp: Some(tcp), ..Tick::default() };
        EndReport { end, drained: counts, window_ns: 1_000_000_000, ..EndReport::default() }
    }

    fn accounted(received: u64, between: Between) -> Figures {
        let queue = TcpTotals {
            send_queue_bytes: 300,
            not_sent_bytes: 100,
            retransmitted_bytes: 7,
            ..TcpTotals::default()
        };
        let sender = end(Counter::SentBytes, 10_000, queue);
        let receiver = end(
            Counter::ReceivedBytes,
            received,
            TcpTotals { receive_queue_bytes: 50, ..TcpTotals::default() },
        );
        let mut out = Figures::default();
        account(&mut out, "", &sender, &receiver, between);
        out
    }

    #[test]
    fn what_neither_end_holds_is_in_the_proxies() {
        let out = accounted(4_000, Between::Proxies);
        assert_eq!(out.metrics["written_minus_received_bytes"], 6_000.0);
        assert_eq!(
            out.metrics["in_proxies_bytes"], 5_650.0,
            "6000 less 300 and 50 of the ends' own"
        );
        assert!(
            out.explanation[0].contains("5.65 kB in the buffers and sockets of the proxies"),
            "{}",
            out.explanation[0]
        );
        assert!(
            out.explanation[0].contains("7 B were sent again on the sender's own connection"),
            "{}",
            out.explanation[0]
        );
        assert_eq!(accounted(9_900, Between::Proxies).metrics["in_proxies_bytes"], 0.0);
    }

    #[test]
    fn without_proxies_the_rest_moved_between_the_readings() {
        let out = accounted(9_600, Between::Nothing);
        assert!(!out.metrics.contains_key("in_proxies_bytes"));
        assert_eq!(
            out.explanation[0],
            "in the window the sender counted 4.17 % more than the receiver; when it ended, 400 B \
             were written and not received: 100 B not sent, 200 B sent and not acknowledged, 50 B \
             received and not read, 50 B moved between the two readings; 7 B were sent again, \
             which no rate counts twice"
        );
        let encrypted = &accounted(9_600, Between::Records).explanation[0];
        assert!(encrypted.contains("all of these in records of TLS; 7 B"), "{encrypted}");
    }
}
