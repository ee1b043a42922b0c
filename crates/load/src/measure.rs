//! The measured window of a trial, what workers record in it, and the sockets that are watched.

pub(crate) mod recorder;
pub(crate) mod socket_set;
pub(crate) mod window;
