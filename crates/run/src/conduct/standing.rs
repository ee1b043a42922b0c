//! What stays prepared between two visits to a cell.

use hopbench_model::Nanos;
use hopbench_wire::{FlowKey, Prepare, ToAgent};

/// How long load of exchanges and datagrams runs before the window of a visit, ns. The connections
/// stand and everything on the way is warm: only what rested meanwhile has to wake up. A stream
/// begins slowly again, for as long as its first time.
pub(super) const SETTLING: Nanos = 10_000_000;

/// The orders by which the ends of a trial were prepared, the clients first. They stay prepared as
/// long as their sessions last.
#[derive(Debug)]
pub struct Standing(Vec<Prepare>);

impl Standing {
    pub(super) fn of(orders: Vec<Prepare>) -> Self {
        Self(orders)
    }

    /// The run of all orders.
    pub(super) fn run(&self) -> u32 {
        self.0.first().map_or(0, |order| order.run)
    }

    /// The order for another visit.
    pub(super) fn revisit(&self, warmup_ns: Nanos) -> ToAgent {
        ToAgent::Revisit { run: self.run(), warmup_ns }
    }

    /// The orders themselves.
    pub(super) fn into_orders(self) -> Vec<Prepare> {
        self.0
    }

    /// Whether ends that are prepared by these orders are prepared for those.
    pub(super) fn is_as(&self, orders: &[Prepare]) -> bool {
        self.0.iter().map(lasting).eq(orders.iter().map(lasting))
    }
}

/// The part of an order that must not change between two visits. The clocks are compared for
/// workloads that do not stay.
fn lasting(order: &Prepare) -> Prepare {
    Prepare {
        run: 0,
        key: FlowKey::new([0; 32]),
        peer_clock_offset_ns: 0,
        replaces: None,
        ..order.clone()
    }
}
