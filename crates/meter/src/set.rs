//! The set of all meters, opened once and read together.

use std::collections::BTreeMap;
use std::fmt;

use hopbench_model::{Nanos, Reading};

use crate::{METERS, Meter, MeteredProcess, OpenMeter};

/// Every meter that could be opened, to be read together at the edges of a window.
pub struct MeterSet {
    open: Vec<TimedMeter>,
    unavailable: Vec<(&'static str, String)>,
    now: fn() -> Nanos,
}

struct TimedMeter {
    read: OpenMeter,
    cost: ReadCost,
}

/// What reading one meter has cost so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadCost {
    /// The meter's name.
    pub name: &'static str,
    /// Readings, failed ones included, the one at the opening not.
    pub reads: u64,
    /// Time they took together, ns.
    pub total_ns: Nanos,
    /// Time the slowest one took, ns.
    pub max_ns: Nanos,
    /// Readings that failed and so gave no row.
    pub failures: u64,
    /// Why the last one that failed did.
    pub last_failure: Option<String>,
}

impl ReadCost {
    /// Mean time of a reading, ns; 0 before the first.
    pub fn mean_ns(&self) -> Nanos {
        self.total_ns.checked_div(self.reads).unwrap_or(0)
    }
}

impl MeterSet {
    /// Opens every registered meter. `now` is the monotonic clock, ns, that the costs are taken
    /// with.
    ///
    /// Each meter is read once and the reading dropped. One that opens but cannot be read is
    /// unavailable too, like pressure information that was switched off at boot. And the first
    /// reading that counts finds its buffers in place. Namespaces are those of the calling thread.
    pub fn open_all(target: &MeteredProcess, now: fn() -> Nanos) -> Self {
        Self::open(METERS, target, now)
    }

    fn open(meters: &[Meter], target: &MeteredProcess, now: fn() -> Nanos) -> Self {
        let mut set = Self { open: Vec::new(), unavailable: Vec::new(), now };
        for meter in meters {
            let opened = (meter.open)(target).map_err(|absent| absent.why).and_then(|mut read| {
                read(&mut Reading::new()).map_err(|error| error.to_string())?;
                Ok(read)
            });
            match opened {
                Ok(read) => set.open.push(TimedMeter { read, cost: ReadCost::new(meter.name) }),
                Err(why) => set.unavailable.push((meter.name, why)),
            }
        }
        set
    }

    /// Reads every open meter. One that fails gives no row, and is tried again the next time.
    ///
    /// The caller stamps the moment, after the call.
    pub fn read(&mut self) -> BTreeMap<String, Reading> {
        let mut rows = BTreeMap::new();
        for meter in &mut self.open {
            let mut row = Reading::new();
            let began = (self.now)();
            let outcome = (meter.read)(&mut row);
            meter.cost.add((self.now)().saturating_sub(began));
            match outcome {
                Ok(()) => {
                    rows.insert(meter.cost.name.to_owned(), row);
                }
                Err(error) => {
                    meter.cost.failures += 1;
                    meter.cost.last_failure = Some(error.to_string());
                }
            }
        }
        rows
    }

    /// The meters that could not be opened, and why.
    pub fn unavailable(&self) -> &[(&'static str, String)] {
        &self.unavailable
    }

    /// What each open meter has cost so far, in the registry's order.
    pub fn costs(&self) -> impl Iterator<Item = &ReadCost> {
        self.open.iter().map(|meter| &meter.cost)
    }
}

impl fmt::Debug for MeterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MeterSet")
            .field("open", &self.costs().collect::<Vec<_>>())
            .field("unavailable", &self.unavailable)
            .finish_non_exhaustive()
    }
}

impl ReadCost {
    fn new(name: &'static str) -> Self {
        Self { name, reads: 0, total_ns: 0, max_ns: 0, failures: 0, last_failure: None }
    }

    fn add(&mut self, took_ns: Nanos) {
        self.reads += 1;
        self.total_ns += took_ns;
        self.max_ns = self.max_ns.max(took_ns);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;

    use super::*;
    use crate::Unavailable;

    thread_local! {
        static CLOCK: Cell<Nanos> = const { Cell::new(0) };
    }

    /// A clock that moves only when a fake source says so.
    fn now() -> Nanos {
        CLOCK.get()
    }

    /// Each reading takes 10 ns longer than the one before; those whose number is in `fails` fail.
    fn fake(fails: &'static [u64]) -> OpenMeter {
        let mut reads = 0;
        Box::new(move |into| {
            reads += 1;
            CLOCK.set(CLOCK.get() + 10 * reads);
            into.insert("n_total".to_owned(), reads as f64);
            if fails.contains(&reads) {
                return Err(io::Error::other(format!("reading {reads} failed")));
            }
            Ok(())
        })
    }

    const GOOD: Meter = Meter { name: "good", summary: "", values: &[], open: |_| Ok(fake(&[])) };

    #[test]
    fn failures_leave_no_row_and_costs_are_counted() {
        let mut set = MeterSet::open(
            &[
                GOOD,
                Meter { name: "flaky", open: |_| Ok(fake(&[3])), ..GOOD },
                Meter {
                    name: "absent",
                    open: |_| Err(Unavailable { why: "not here".to_owned() }),
                    ..GOOD
                },
                Meter { name: "dead", open: |_| Ok(fake(&[1])), ..GOOD },
            ],
            &MeteredProcess::itself(),
            now,
        );
        let unavailable =
            [("absent", "not here".to_owned()), ("dead", "reading 1 failed".to_owned())];
        assert_eq!(set.unavailable(), unavailable);

        let row = |n: f64| Reading::from([("n_total".to_owned(), n)]);
        // Reading 1 was the one at the opening.
        assert_eq!(
            set.read(),
            [("good".to_owned(), row(2.0)), ("flaky".to_owned(), row(2.0))].into()
        );
        assert_eq!(set.read(), [("good".to_owned(), row(3.0))].into());
        assert_eq!(
            set.read(),
            [("good".to_owned(), row(4.0)), ("flaky".to_owned(), row(4.0))].into()
        );

        let costs: Vec<&ReadCost> = set.costs().collect();
        let good = ReadCost { reads: 3, total_ns: 90, max_ns: 40, ..ReadCost::new("good") };
        assert_eq!(costs[0], &good);
        assert_eq!(costs[0].mean_ns(), 30);
        let failure = Some("reading 3 failed".to_owned());
        assert_eq!(
            costs[1],
            &ReadCost { name: "flaky", failures: 1, last_failure: failure, ..good }
        );
        assert_eq!(ReadCost::new("new").mean_ns(), 0);
    }
}
