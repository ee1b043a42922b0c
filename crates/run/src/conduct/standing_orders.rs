//! The orders of a cell whose ends stay prepared between two visits.

use hopbench_model::{Job, Nanos, SECOND, Transport};
use hopbench_sys::clock;
use hopbench_wire::{FlowKey, Prepare, ToAgent};

/// How long load of exchanges and datagrams runs before the window of a visit, ns. The connections
/// stand and everything on the way is warm: only what rested meanwhile has to wake up. A stream
/// begins slowly again, for as long as its first time.
pub(super) const SETTLING: Nanos = 10_000_000;

/// The orders by which the ends of a trial were prepared, the clients first. They stay prepared as
/// long as their sessions last.
#[derive(Debug)]
pub struct StandingOrders {
    orders: Vec<Prepare>,
    /// Until when what is on the way remembers the flows: see [`REST`].
    until: Nanos,
}

/// How long flows over UDP may rest, ns. Whoever translates addresses forgets a flow that nobody
/// answers after 30 s (`nf_conntrack_udp_timeout`).
const REST: Nanos = 20 * SECOND;

impl StandingOrders {
    /// The visit by these orders has just ended.
    pub(super) fn of(orders: Vec<Prepare>) -> Self {
        let is_udp = orders.iter().any(|order| order.job.transport() == Transport::Udp);
        let until = if is_udp { clock::now() + REST } else { Nanos::MAX };
        Self { orders, until }
    }

    /// Its next trial is prepared anew; the ends may still hold what they prepared.
    pub(crate) fn spend(&mut self) {
        self.until = 0;
    }

    /// The run of all orders.
    pub(super) fn run(&self) -> u32 {
        self.orders.first().map_or(0, |order| order.run)
    }

    /// The order for another visit.
    pub(super) fn revisit(&self, warmup_ns: Nanos) -> ToAgent {
        ToAgent::Revisit { run: self.run(), warmup_ns }
    }

    /// The orders themselves.
    pub(super) fn into_orders(self) -> Vec<Prepare> {
        self.orders
    }

    /// Whether ends that are prepared by these orders are still prepared for those.
    pub(super) fn is_as(&self, orders: &[Prepare]) -> bool {
        clock::now() < self.until && self.orders.iter().map(lasting).eq(orders.iter().map(lasting))
    }
}

/// The part of an order that must not change between two visits. The clocks are compared for
/// workloads that do not stay, and every visit has arrivals of its own without another seed.
fn lasting(order: &Prepare) -> Prepare {
    Prepare {
        job: Job { seed: 0, ..order.job.clone() },
        run: 0,
        key: FlowKey::new([0; 32]),
        peer_clock_offset_ns: 0,
        replaces: None,
        ..order.clone()
    }
}
