//! Small regular expressions: `regex-lite` under the name of `regex`.
//!
//! oci-client matches the names of images, once per push. For that it depends on a crate that is
//! made for long texts and adds a quarter of a megabyte to the binary. `regex-lite` has the same
//! authors and nearly the same interface; the workspace's `[patch.crates-io]` puts it there.

use std::ops::{Deref, DerefMut};

pub use regex_lite::*;

/// A builder that takes the limits of the large crate, too.
#[derive(Debug)]
pub struct RegexBuilder(regex_lite::RegexBuilder);

impl RegexBuilder {
    /// A builder for an expression.
    pub fn new(expression: &str) -> Self {
        Self(regex_lite::RegexBuilder::new(expression))
    }

    /// The limit of a cache in bytes. It changes nothing: there is no such cache.
    pub fn dfa_size_limit(&mut self, _limit_bytes: usize) -> &mut Self {
        self
    }
}

impl Deref for RegexBuilder {
    type Target = regex_lite::RegexBuilder;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for RegexBuilder {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
