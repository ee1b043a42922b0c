//! Records of the workloads whose traffic goes one way.

use hopbench_model::{Record, Warning, WarningKind};
use serde_json::{Value, json};

use super::{base, figures, invariant, latencies, latency};

pub(crate) fn stream() -> Record {
    let mut record = base(
        "stream",
        "web.default:7474",
        &json!({
            "size": ["128KiB"], "direction": "to-server", "receive": "copy",
            "send_buffer": "256KiB",
        }),
    );
    record.job["connections"] = json!(4);
    record.job["schedule"] = Value::Null;
    record.job["client_cpus"] = json!([0]);
    record.job["server_cpus"] = json!([2, 3]);
    record.metrics = figures(&[
        ("sent_bits_per_s", 9.418e9),
        ("received_bits_per_s", 9.4123e9),
        ("acknowledged_bits_per_s", 9.415e9),
        ("retransmitted_bytes", 17_432.0),
        ("retransmitted_segments", 12.0),
        ("smoothed_rtt_ns", 312_450.0),
        ("receive_window_limited_ratio", 0.121),
        ("send_buffer_limited_ratio", 0.0),
        ("queued_bytes", 3_145_728.0),
        ("receive_queue_bytes", 131_072.0),
        ("written_minus_received_bytes", 3_276_800.0),
    ]);
    record.intervals =
        [9.38e9, 9.42e9, 9.44e9].map(|rate| figures(&[("received_bits_per_s", rate)])).to_vec();
    record.limited_by = "cpu:server".to_owned();
    record.limited_because =
        "the receiving thread used 98 % of CPU 2, of which 41 % in softirq".to_owned();
    record.explanation = vec![
        "at the end of the window 3276800 bytes were written and not yet received: 1048576 not \
         sent, 2097152 sent and not acknowledged, 131072 received and not read; 17432 bytes were \
         sent again, which no figure above counts twice"
            .to_owned(),
    ];
    record.invariants =
        vec![invariant("received_le_sent", None), invariant("received_eq_sent_at_close", None)];
    record.settings.insert("send_buffer_bytes".to_owned(), "asked 262144, got 425984".to_owned());
    record.warnings = vec![Warning::new(
        WarningKind::ReadBack,
        "send_buffer_bytes: asked 262144, got 425984",
        "net.core.wmem_max of the client's machine is 212992; raise it, or leave --send-buffer out \
         so that the kernel adapts it",
    )];
    record
}

pub(crate) fn stream_both() -> Record {
    let mut record = base("stream", "10.0.0.2", &json!({"size": ["100kB"], "direction": "both"}));
    record.settings.clear();
    for (prefix, rate) in [("to_server_", 4.4e9), ("from_server_", 4.1e9)] {
        for (name, value) in [
            ("sent_bits_per_s", rate),
            ("received_bits_per_s", rate - 1e6),
            ("queued_bytes", 65_536.0),
            ("receive_queue_bytes", 0.0),
            ("written_minus_received_bytes", 65_536.0),
        ] {
            record.metrics.insert(format!("{prefix}{name}"), value);
        }
    }
    record.metrics.insert("received_bits_per_s".to_owned(), 8.498e9);
    record.metrics.insert("sent_bits_per_s".to_owned(), 8.5e9);
    record
}

pub(crate) fn push() -> Record {
    let mut record = base("push", "fanout.prod:7474", &json!({"size": "25kB"}));
    record.job["connections"] = json!(100);
    record.job["schedule"] = json!({"rate": 2000.0});
    record.metrics = figures(&[
        ("min_messages_per_connection", 199.0),
        ("max_messages_per_connection", 200.0),
        ("sent_bits_per_s", 400.0e6),
        ("late", 5.0),
        ("retransmitted_segments", 2.0),
        ("messages_per_s", 1999.8),
        ("received_bits_per_s", 399.96e6),
        ("intended_per_s", 2000.0),
        ("unsent", 0.0),
    ]);
    record.latency = latencies(&[
        ("delay_ns", latency(2000, 310_000)),
        ("gap_ns", latency(2000, 50_000_000)),
        ("lateness_ns", latency(2000, 55_000)),
    ]);
    record.limited_by = "target_rate".to_owned();
    record.limited_because = "1999.8 of 2000 messages/s were sent on time".to_owned();
    record.warnings = vec![Warning::new(
        WarningKind::RelativeClock,
        "the ends do not share a clock: delays are relative to the fastest message, which counts \
         as 0",
        "compare delays within this trial only, or run both ends on one machine",
    )];
    record
}

pub(crate) fn udp() -> Record {
    let mut record = base("udp", "10.0.0.2", &json!({"size": ["16B"], "gso": 8, "rate": "max"}));
    record.metrics = figures(&[
        ("sent_packets_per_s", 812_345.0),
        ("received_packets_per_s", 804_222.0),
        ("sent_bits_per_s", 103.98e6),
        ("received_bits_per_s", 102.94e6),
        ("lost_packets", 81_230.0),
        ("errors", 0.0),
        ("gso_segments", 8.0),
        ("lost_ratio", 0.00999),
        ("reordered", 14.0),
        ("duplicates", 0.0),
        ("jitter_ns", 3_210.0),
    ]);
    record.intervals = [790_000.0, 806_000.0, 811_500.0]
        .map(|r| figures(&[("received_packets_per_s", r)]))
        .to_vec();
    record.limited_by = "softirq".to_owned();
    record.limited_because =
        "CPU 0 spent 97 % in softirq; softnet dropped 81216 packets".to_owned();
    let node = &mut record.cost.nodes[0];
    node.per_cpu_busy =
        (0..16).map(|cpu| if cpu == 0 { 1.0 } else { 0.14 - f64::from(cpu) / 100.0 }).collect();
    node.busy_cores = node.per_cpu_busy.iter().sum();
    node.softirq_cores = 0.98;
    node.per_cpu_softirq = vec![0.97, 0.01];
    record.warnings = vec![
        Warning::new(
            WarningKind::Offload,
            "8 packets went to the kernel at a time (UDP GSO): a packet costs less than one that \
             is sent alone",
            "leave --gso out to measure single packets",
        ),
        Warning::new(
            WarningKind::SharedCpu,
            "both ends ran on CPU 0",
            "give each a CPU of its own with --cpu",
        ),
    ];
    record
}
