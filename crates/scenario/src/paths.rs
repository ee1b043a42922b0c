//! Paths as a scenario writes them: one by one, many at once, and one for each variant.

pub(crate) mod listed;
pub(crate) mod matrix;
pub(crate) mod mesh;
pub(crate) mod place;
pub(crate) mod sidecars;
pub(crate) mod variants;
