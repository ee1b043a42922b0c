//! The messages of Envoy's services, as far as these services look at them. The numbers are those
//! of Envoy's API, version 3, as Envoy 1.40 has them in its own descriptors. A field that is not
//! named here is skipped.

pub(crate) mod access_log;
pub(crate) mod address;
pub(crate) mod check;

#[cfg(test)]
mod tests;
