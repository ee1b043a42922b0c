//! The counters of a worker.

use serde::{Deserialize, Serialize};

macro_rules! counters {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// One thing that a worker counts; each is a total since the trial began, warm-up included.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Counter { $($(#[$doc])* $variant,)* }

        impl Counter {
            /// Every counter, in the order of [`Counts`].
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in messages and records.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

counters! {
    /// Payload bytes that the kernel took from this end.
    SentBytes => "sent_bytes",
    /// Payload bytes that this end took from the kernel, without datagrams that came again.
    ReceivedBytes => "received_bytes",
    /// Exchanges, messages or packets that were sent.
    Sent => "sent",
    /// Exchanges, messages or packets that were completed.
    Completed => "completed",
    /// Exchanges that failed, timeouts included.
    Errors => "errors",
    /// Exchanges that were given up after their timeout (datagrams: lost).
    Timeouts => "timeouts",
    /// Connections that were opened.
    Connects => "connects",
    /// Flows that a server took in: connections, or flows of datagrams.
    Accepted => "accepted",
    /// Of these, flows that have ended.
    Ended => "ended",
    /// Open loop: arrivals that came due while every connection was busy, and had to wait. Of
    /// messages: those that waited for others before them, or for room.
    Queued => "queued",
    /// Open loop: arrivals that found a connection free, and the worker late: it took in the
    /// answers that a stall had held back.
    BehindStall => "behind_stall",
    /// Open loop: arrivals that were still unsent when the trial ended.
    Unsent => "unsent",
    /// Arrivals the schedule asked for inside the window.
    Intended => "intended",
    /// Completed exchanges that belong to the window: the histogram's count.
    Counted => "counted",
    /// Exchanges that belong to the window and failed.
    CountedErrors => "counted_errors",
    /// Datagrams that never arrived, as far as sequence numbers tell.
    Lost => "lost",
    /// Datagrams that arrived after one that was sent later.
    Reordered => "reordered",
    /// Datagrams that arrived again, each time.
    Duplicates => "duplicates",
    /// Answers that came after their exchange had been given up.
    Stale => "stale",
}

/// A value for every [`Counter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts([u64; Counter::ALL.len()]);

impl Default for Counts {
    fn default() -> Self {
        Self([0; Counter::ALL.len()])
    }
}

impl Counts {
    /// The value of one counter.
    pub fn of(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    /// Sets one counter.
    pub fn set(&mut self, counter: Counter, value: u64) {
        self.0[counter as usize] = value;
    }

    /// Adds another set of counts to this one.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    /// The counts since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut delta = *self;
        for (mine, theirs) in delta.0.iter_mut().zip(earlier.0) {
            *mine = mine.saturating_sub(theirs);
        }
        delta
    }
}

/// Written as an object of the counters that are not zero.
impl Serialize for Counts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            Counter::ALL.iter().filter(|c| self.of(**c) > 0).map(|c| (c.name(), self.of(*c))),
        )
    }
}

/// A counter that this build does not know is an error: the hello refuses other versions.
impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = std::collections::BTreeMap::<String, u64>::deserialize(deserializer)?;
        let mut counts = Self::default();
        for (name, value) in map {
            let counter = Counter::ALL
                .iter()
                .find(|c| c.name() == name)
                .ok_or_else(|| serde::de::Error::custom(format!("unknown counter `{name}`")))?;
            counts.set(*counter, value);
        }
        Ok(counts)
    }
}
