//! Random numbers that follow from a seed alone.

/// xoshiro256++ of D. Blackman and S. Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM
/// Transactions on Mathematical Software 47(4), 2021, seeded by splitmix64 as they advise.
///
/// Of its own here because what a report says must not change with the version of a library. The
/// same seed gives the same numbers for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The generator of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut at = seed;
        Self { state: std::array::from_fn(|_| split_mix(&mut at)) }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let out = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        out
    }

    /// Uniform in 0 to `n` - 1; 0 for `n` = 0. The bias is below n / 2^64.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// Uniform between 0 and 1, neither of them included.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / 2f64.powi(53)
    }
}

fn split_mix(at: &mut u64) -> u64 {
    *at = at.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *at;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_generator() {
        // The first numbers of xoshiro256++ from the state 1, 2, 3, 4, and of splitmix64 from 0.
        let mut random = Random { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| random.bits()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
        assert_eq!(split_mix(&mut 0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn a_seed_repeats_its_numbers_and_another_does_not() {
        let draw = |seed| {
            (0..8).map(move |_| seed).scan(Random::new(seed), |random, _| Some(random.bits()))
        };
        assert!(draw(7).eq(draw(7)));
        assert!(!draw(7).eq(draw(8)));
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let mut random = Random::new(3);
        let mut seen = [0u32; 10];
        for _ in 0..10_000 {
            seen[random.below(10)] += 1;
            let unit = random.unit();
            assert!(unit > 0.0 && unit < 1.0);
        }
        // 1000 are expected, with a deviation of 30.
        assert!(seen.iter().all(|n| (880..1120).contains(n)), "{seen:?}");
        assert_eq!(random.below(0), 0);
        let mean = (0..10_000).map(|_| random.unit()).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.012, "{mean}");
    }
}
