//! Mutations of valid input for the tests of both parsers.

/// Changes `bytes` once for each edit: place, way and value are taken modulo what is possible.
pub(super) fn mutate(bytes: &mut Vec<u8>, edits: &[(usize, u8, u8)]) {
    for &(place, way, value) in edits {
        let at = place % bytes.len().max(1);
        match way % 6 {
            0 if at < bytes.len() => bytes[at] = value,
            1 if at < bytes.len() => bytes[at] ^= 1 << (value % 8),
            2 => bytes.insert(at, value),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            4 => bytes.truncate(at + 1),
            _ => {
                let copied = bytes[at..bytes.len().min(at + usize::from(value))].to_vec();
                bytes.splice(at..at, copied);
            }
        }
    }
}
