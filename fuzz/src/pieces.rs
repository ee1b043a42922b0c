//! One input cut into pieces, as reads from a socket would cut it.

/// Pieces of an input. Its first byte says how they are cut, so that the fuzzer finds the cuts,
/// too.
pub struct Pieces<'a> {
    rest: &'a [u8],
    step: usize,
}

impl<'a> Pieces<'a> {
    /// Cuts all but the first byte.
    pub fn of(input: &'a [u8]) -> Self {
        let (how, rest) = input.split_first().map_or((0, input), |(how, rest)| (*how, rest));
        // 0: everything at once, as most reads are.
        let step = if how == 0 { usize::MAX } else { usize::from(how) };
        Self { rest, step }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let (piece, rest) = self.rest.split_at(self.step.min(self.rest.len()));
        self.rest = rest;
        Some(piece)
    }
}
