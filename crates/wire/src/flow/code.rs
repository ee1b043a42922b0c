//! The fields of a flow header that are one byte of few values.

/// Defines an enum whose variants are one byte in the header and one word elsewhere.
macro_rules! codes {
    ($(#[$doc:meta])* $type:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$vdoc])* $variant,)* }

        impl $type {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The byte in the header.
            pub fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)* }
            }

            /// The word for it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The value with this byte, if there is one.
            pub fn from_code(code: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.code() == code)
            }

            /// The value with this word, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.name() == name)
            }
        }
    };
}

codes! {
    /// The workload of a flow; its words are the workloads' names.
    WorkloadCode {
        /// Bulk bytes.
        Stream = 1 "stream",
        /// Messages on a schedule, from the server.
        Push = 2 "push",
        /// Request and response.
        Rr = 3 "rr",
        /// Connect, request, response, close.
        Crr = 4 "crr",
        /// One-way packets.
        Udp = 5 "udp",
    }
}

codes! {
    /// Which way the payload goes.
    Direction {
        /// From the client, which opened the flow.
        ToServer = 0 "to-server",
        /// From the server.
        FromServer = 1 "from-server",
    }
}

codes! {
    /// What carries the flow.
    FlowKind {
        /// A TCP connection.
        Tcp = 0 "tcp",
        /// UDP datagrams between two addresses.
        Udp = 1 "udp",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_lead_back() {
        for &workload in WorkloadCode::ALL {
            assert_eq!(WorkloadCode::from_code(workload.code()), Some(workload));
            assert_eq!(WorkloadCode::from_name(workload.name()), Some(workload));
        }
        assert_eq!(WorkloadCode::from_name("http"), None);
    }
}
