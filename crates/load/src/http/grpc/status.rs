//! The statuses of gRPC: numbers, and the words under which failures are counted.

/// The request is not one of the method's.
pub(crate) const INVALID_ARGUMENT: u32 = 3;
/// The time that the client gave was over.
pub(crate) const DEADLINE_EXCEEDED: u32 = 4;
/// More than the server takes.
pub(crate) const RESOURCE_EXHAUSTED: u32 = 8;
/// There is no such method, or a compression that is not known.
pub(crate) const UNIMPLEMENTED: u32 = 12;
/// The call breaks the protocol.
pub(crate) const INTERNAL: u32 = 13;

/// By their numbers.
#[rustfmt::skip]
const REASONS: [&str; 17] = [
    "grpc_ok", "grpc_cancelled", "grpc_unknown", "grpc_invalid_argument", "grpc_deadline_exceeded",
    "grpc_not_found", "grpc_already_exists", "grpc_permission_denied", "grpc_resource_exhausted",
    "grpc_failed_precondition", "grpc_aborted", "grpc_out_of_range", "grpc_unimplemented",
    "grpc_internal", "grpc_unavailable", "grpc_data_loss", "grpc_unauthenticated",
];

/// The word for a status.
pub(crate) fn reason(status: u32) -> &'static str {
    REASONS.get(status as usize).copied().unwrap_or("grpc_other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_numbers() {
        assert_eq!(reason(DEADLINE_EXCEEDED), "grpc_deadline_exceeded");
        assert_eq!(reason(INVALID_ARGUMENT), "grpc_invalid_argument");
        assert_eq!(reason(UNIMPLEMENTED), "grpc_unimplemented");
        assert_eq!(reason(INTERNAL), "grpc_internal");
        assert_eq!(reason(RESOURCE_EXHAUSTED), "grpc_resource_exhausted");
        assert!(REASONS.iter().all(|reason| hopbench_model::is_refused_call(reason)));
        assert_eq!(
            (reason(14), reason(16), reason(17)),
            ("grpc_unavailable", "grpc_unauthenticated", "grpc_other")
        );
    }
}
