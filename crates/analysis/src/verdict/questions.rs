//! The driver of comparisons: all that a reader sees together is judged together.

use hopbench_stats::{Comparison, Question, judge};

/// Questions that wait for all others, each with the place where its answer goes.
#[derive(Debug)]
pub(crate) struct Questions<P> {
    places: Vec<P>,
    asked: Vec<Question>,
}

impl<P> Default for Questions<P> {
    fn default() -> Self {
        Self { places: Vec::new(), asked: Vec::new() }
    }
}

impl<P> Questions<P> {
    /// Takes a question.
    pub(crate) fn ask(&mut self, place: P, question: Question) {
        self.places.push(place);
        self.asked.push(question);
    }

    /// The answers in the order of the questions.
    pub(crate) fn answers(self) -> impl Iterator<Item = (P, Comparison)> {
        let answers = judge(&self.asked);
        self.places.into_iter().zip(answers)
    }
}
