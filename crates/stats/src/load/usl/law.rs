//! The Universal Scalability Law: throughput as a function of concurrency.

/// The Universal Scalability Law: X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1)).
///
/// N. J. Gunther, "Guerrilla Capacity Planning", 2007, chapter 4.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usl {
    /// λ: throughput at N = 1, in the throughput's unit.
    pub lambda: f64,
    /// σ: the share that is done one after the other (contention), from 0.
    pub sigma: f64,
    /// κ: what each pair costs to agree (coherence), from 0.
    pub kappa: f64,
}

impl Usl {
    /// The throughput at a concurrency.
    #[must_use]
    pub fn at(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    /// The concurrency with the highest throughput: sqrt((1 - σ) / κ); infinite where throughput
    /// never falls, at least 1.
    #[must_use]
    pub fn peak(&self) -> f64 {
        if self.kappa > 0.0 { ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt().max(1.0) } else { f64::INFINITY }
    }
}
