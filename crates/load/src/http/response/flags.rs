//! Envoy's response flags: why a proxy answered in the server's place.

use std::fmt;

use hopbench_model::FLAGS_HEADER;

/// Most bytes that are kept.
const MOST: usize = 12;

/// The letters by which a proxy says why it gave an answer itself: `UF`, `UF,URX`, `RL`; empty
/// where none did.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct ResponseFlags([u8; MOST]);

impl ResponseFlags {
    /// The flags among the fields of a head. The first field that holds any counts: it is that of
    /// the proxy nearest to the cause.
    pub(super) fn among(fields: &[httparse::Header<'_>]) -> Self {
        let ours = fields.iter().filter(|field| field.name.eq_ignore_ascii_case(FLAGS_HEADER));
        ours.map(|field| Self::read(field.value))
            .find(|flags| !flags.is_empty())
            .unwrap_or_default()
    }

    /// Looks at a field: the first one with flags counts.
    pub(in crate::http) fn see(&mut self, name: &[u8], value: &[u8]) {
        if self.is_empty() && name.eq_ignore_ascii_case(FLAGS_HEADER.as_bytes()) {
            *self = Self::read(value);
        }
    }

    /// Capital letters and commas; cut at anything else, at the end of the last flag that fits.
    fn read(value: &[u8]) -> Self {
        let mut kept = [0; MOST];
        let of_flags = |byte: &u8| byte.is_ascii_uppercase() || *byte == b',';
        let end = value.iter().position(|byte| !of_flags(byte)).unwrap_or(value.len());
        let end = if end > MOST {
            value[..=MOST].iter().rposition(|byte| *byte == b',').unwrap_or(MOST)
        } else {
            end
        };
        let end = value[..end].iter().rposition(|byte| *byte != b',').map_or(0, |last| last + 1);
        kept[..end].copy_from_slice(&value[..end]);
        Self(kept)
    }

    /// Whether no proxy said anything.
    pub fn is_empty(&self) -> bool {
        self.0[0] == 0
    }

    fn text(&self) -> &str {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(MOST);
        std::str::from_utf8(&self.0[..end]).unwrap_or_default()
    }
}

impl fmt::Display for ResponseFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Debug for ResponseFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResponseFlags({})", self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_short_capitals() {
        for (value, flags) in [
            ("UF", "UF"),
            ("UF,URX", "UF,URX"),
            ("UAEX", "UAEX"),
            ("-", ""),
            ("", ""),
            ("uf", ""),
            ("UF, URX", "UF"),
            (",", ""),
            ("UF\u{e9}", "UF"),
            ("ABCDEFGHIJKL", "ABCDEFGHIJKL"),
            ("ABCDEFGHIJKLM", "ABCDEFGHIJKL"),
            ("UF,URX,UAEX,RL", "UF,URX,UAEX"),
            ("UF,URX,UAEXX,RL", "UF,URX,UAEXX"),
        ] {
            assert_eq!(ResponseFlags::read(value.as_bytes()).to_string(), flags, "{value}");
        }
    }

    #[test]
    fn the_first_field_with_flags_counts() {
        let field = |name, value: &'static str| httparse::Header { name, value: value.as_bytes() };
        let fields =
            [field("x-flags", "NO"), field("X-Hopbench-Flags", "-"), field(FLAGS_HEADER, "UF")];
        assert_eq!(ResponseFlags::among(&fields).to_string(), "UF");
        assert_eq!(
            ResponseFlags::among(&[fields[2], field("x-hopbench-flags", "URX")]).to_string(),
            "UF"
        );
        assert!(ResponseFlags::among(&fields[..2]).is_empty());
    }
}
