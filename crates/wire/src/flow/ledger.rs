//! The ledger of a run's flow numbers that were used.

use std::collections::BTreeMap;

/// Flow numbers of one page.
const PAGE_FLOWS: u32 = 1 << 15;

/// Words of one page's bitmap: 4 KiB.
const PAGE_WORDS: usize = (PAGE_FLOWS / u64::BITS) as usize;

/// Pages that one ledger may have.
const MOST_PAGES: usize = 2048;

/// Lets every flow number of a run through once, so that a header that was overheard is worth
/// nothing.
///
/// Claim a number only after its token was verified: then only who holds the key can fill the
/// ledger. It is a bitmap of 4 KiB pages, made as numbers come. At most 2048 of them (8 MiB) are
/// kept; numbers given out in order reach that after [`MOST_FLOWS`](Self::MOST_FLOWS), scattered
/// ones earlier. What needs a page more is refused.
#[derive(Debug, Clone, Default)]
pub struct FlowLedger {
    pages: BTreeMap<u32, Box<[u64; PAGE_WORDS]>>,
}

impl FlowLedger {
    /// Flows that one run may have: 64 Mi.
    pub const MOST_FLOWS: u32 = PAGE_FLOWS * MOST_PAGES as u32;

    /// A ledger in which every number is free.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the number was free; from now on it is not.
    ///
    /// `false` for a number that was claimed before, and for one that the ledger has no room to
    /// remember.
    pub fn claim(&mut self, flow: u32) -> bool {
        let number = flow / PAGE_FLOWS;
        if self.is_full() && !self.pages.contains_key(&number) {
            return false;
        }
        let page = self.pages.entry(number).or_insert_with(|| Box::new([0; PAGE_WORDS]));
        let bit = flow % PAGE_FLOWS;
        let word = &mut page[(bit / u64::BITS) as usize];
        let mask = 1 << (bit % u64::BITS);
        let free = *word & mask == 0;
        *word |= mask;
        free
    }

    /// Whether numbers on new pages are refused for lack of room.
    pub fn is_full(&self) -> bool {
        self.pages.len() >= MOST_PAGES
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn neighbours_and_ends_are_apart() {
        let mut ledger = FlowLedger::new();
        let flows = [0, 1, 63, 64, PAGE_FLOWS - 1, PAGE_FLOWS, u32::MAX - 1, u32::MAX];
        for flow in flows {
            assert!(ledger.claim(flow), "{flow} is taken");
        }
        for flow in flows {
            assert!(!ledger.claim(flow), "{flow} is free again");
        }
        assert_eq!(ledger.pages.len(), 3, "a large number takes one page");
    }

    #[test]
    fn scattered_numbers_fill_the_ledger_to_its_bound() {
        let mut ledger = FlowLedger::new();
        for page in 0..MOST_PAGES as u32 {
            assert!(!ledger.is_full());
            assert!(ledger.claim(page * PAGE_FLOWS));
        }
        assert!(ledger.is_full());
        assert!(!ledger.claim(u32::MAX), "a page over the bound was made");
        assert_eq!(ledger.pages.len(), MOST_PAGES);
        assert!(ledger.claim(1), "a page that exists takes no room");
        assert!(ledger.claim(FlowLedger::MOST_FLOWS - 1));
        assert!(!ledger.claim(FlowLedger::MOST_FLOWS));
    }

    proptest! {
        #[test]
        fn agrees_with_a_set(
            flows in prop::collection::vec(prop_oneof![0u32..200, any::<u32>()], 0..400),
        ) {
            let mut ledger = FlowLedger::new();
            let mut set = BTreeSet::new();
            for flow in flows {
                prop_assert_eq!(ledger.claim(flow), set.insert(flow));
            }
        }
    }
}
