//! The JSON that the `nft` program reads and writes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The table that holds all rules of the lab on a node.
pub(crate) const TABLE: &str = "hopbench";

/// A match on TCP or UDP, by name.
pub(crate) fn transport(protocol: &str) -> Value {
    json!({"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": protocol}})
}

/// The command that adds an object to the table.
pub(crate) fn add(object: &str, mut properties: Value) -> Value {
    properties["family"] = "ip".into();
    properties["table"] = TABLE.into();
    json!({"add": {object: properties}})
}

/// The command that adds a chain.
pub(crate) fn chain(name: &str, mut properties: Value) -> Value {
    properties["name"] = name.into();
    add("chain", properties)
}

/// The command that appends a rule to a chain.
pub(crate) fn rule(chain: &str, expressions: &Value) -> Value {
    add("rule", json!({"chain": chain, "expr": expressions}))
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
            {"counter": {"family": "ip", "name": "svc0", "table": "hopbench", "handle": 1, "packets": 7, "bytes": 420}}]}"#;
        assert_eq!(packets(listing), Ok(BTreeMap::from([("svc0".to_owned(), 7)])));
        assert!(packets(b"Error: No such file").is_err());
        assert!(packets(br#"{"nftables": [{"counter": {"name": "x"}}]}"#).is_err());
    }
}
