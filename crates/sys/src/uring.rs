//! io_uring
