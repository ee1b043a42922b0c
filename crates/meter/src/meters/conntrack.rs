//! The fill of the connection tracking table.

use hopbench_model::Reading;

use crate::procfile::{ProcFile, unexpected};
use crate::{Meter, ValueDef};

const COUNT_PATH: &str = "/proc/sys/net/netfilter/nf_conntrack_count";
const MAX_PATH: &str = "/proc/sys/net/netfilter/nf_conntrack_max";

const VALUES: &[ValueDef] = &[
    ValueDef::level("entries", "connections", "connections tracked in the network namespace"),
    ValueDef::level(
        "max_entries",
        "connections",
        "most that would be tracked; beyond it packets are dropped",
    ),
];

/// The connection tracking table of the opener's network namespace. It exists once the kernel's
/// module is loaded, which a NAT rule does.
pub(crate) const METER: Meter = Meter {
    name: "conntrack",
    summary: "entries of the connection tracking table and its limit",
    values: VALUES,
    open: |_| {
        let mut count = ProcFile::open(COUNT_PATH)?;
        let mut max = ProcFile::open(MAX_PATH)?;
        Ok(Box::new(move |into: &mut Reading| {
            for (key, path, file) in
                [("entries", COUNT_PATH, &mut count), ("max_entries", MAX_PATH, &mut max)]
            {
                let number = parse(&file.text()?).ok_or_else(|| unexpected(path, "number"))?;
                into.insert(key.to_owned(), number);
            }
            Ok(())
        }))
    },
};

fn parse(text: &str) -> Option<f64> {
    Some(f64::from(text.trim().parse::<u32>().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_nothing_else() {
        assert_eq!(parse("262144\n"), Some(262_144.0));
        for bad in ["", "\n", "x\n", "-1\n"] {
            assert_eq!(parse(bad), None, "{bad:?} was accepted");
        }
    }
}
