//! The JSON that the `nft` program reads and writes.

use std::collections::BTreeMap;

use hopbench_model::IpFamily;

use serde_json::{Value, json};

/// The name of the tables that hold the rules of the lab on a node, one for each family.
pub(crate) const TABLE: &str = "hopbench";

/// The word for a family, which is also that for its protocol.
pub(crate) fn nft_word(family: IpFamily) -> &'static str {
    match family {
        IpFamily::Ipv4 => "ip",
        IpFamily::Ipv6 => "ip6",
    }
}

/// The rules for the packets of one family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table(pub(crate) IpFamily);

impl Table {
    /// The command that makes it.
    pub(crate) fn make(self) -> Value {
        json!({"add": {"table": {"family": nft_word(self.0), "name": TABLE}}})
    }

    /// The command that adds an object to it.
    pub(crate) fn add(self, object: &str, mut properties: Value) -> Value {
        properties["family"] = nft_word(self.0).into();
        properties["table"] = TABLE.into();
        json!({"add": {object: properties}})
    }

    /// The command that adds a chain.
    pub(crate) fn chain(self, name: &str, mut properties: Value) -> Value {
        properties["name"] = name.into();
        self.add("chain", properties)
    }

    /// The command that appends a rule to a chain.
    pub(crate) fn rule(self, chain: &str, expressions: &Value) -> Value {
        self.add("rule", json!({"chain": chain, "expr": expressions}))
    }
}

/// A match on TCP or UDP, by name.
pub(crate) fn transport(protocol: &str) -> Value {
    json!({"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": protocol}})
}

/// Packets by counter, from what `nft -j list counters` printed; a connection is one packet here.
pub(crate) fn packets(listing: &[u8]) -> Result<BTreeMap<String, u64>, String> {
    let listing: Value =
        serde_json::from_slice(listing).map_err(|e| format!("nft printed no JSON: {e}"))?;
    let objects = listing["nftables"].as_array().ok_or("nft printed no list `nftables`")?;
    let counters = objects.iter().filter_map(|object| object.get("counter"));
    counters
        .map(|counter| {
            let name = counter["name"].as_str().ok_or("nft printed a counter without a name")?;
            let packets =
                counter["packets"].as_u64().ok_or("nft printed a counter without packets")?;
            Ok((name.to_owned(), packets))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_from_what_nft_prints() {
        let listing = br#"{"nftables": [{"metainfo": {"version": "1.0.6"}},
            {"counter": {"family": "ip", "name": "svc0", "table": "hopbench", "handle": 1,
                "packets": 7, "bytes": 420}}]}"#;
        assert_eq!(packets(listing), Ok(BTreeMap::from([("svc0".to_owned(), 7)])));
        assert!(packets(b"Error: No such file").is_err());
        assert!(packets(br#"{"nftables": [{"counter": {"name": "x"}}]}"#).is_err());
    }
}
