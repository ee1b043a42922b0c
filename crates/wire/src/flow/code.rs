//! The fields of a flow header that are one byte.

use std::num::NonZeroU8;

/// The workload of a flow: a number that each workload chooses for itself, never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WorkloadCode(NonZeroU8);

impl WorkloadCode {
    /// The byte in the header.
    pub fn code(self) -> u8 {
        self.0.get()
    }

    /// The value with this byte; `None` for 0.
    pub fn from_code(code: u8) -> Option<Self> {
        NonZeroU8::new(code).map(Self)
    }
}

/// Defines an enum whose variants are one byte in the header.
macro_rules! codes {
    ($(#[$doc:meta])* $type:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal,)* }) => {
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

            /// The value with this byte, if there is one.
            pub fn from_code(code: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.code() == code)
            }
        }
    };
}

codes! {
    /// Which way the payload goes.
    Direction {
        /// From the client, which opened the flow.
        ToServer = 0,
        /// From the server.
        FromServer = 1,
    }
}

codes! {
    /// What carries the flow.
    FlowKind {
        /// A TCP connection.
        Tcp = 0,
        /// UDP datagrams between two addresses.
        Udp = 1,
    }
}
