//! Lists of names that may be long.

/// More names, cells or facts than this are counted, not named.
const MOST_NAMED: usize = 5;

/// The first few of some names, and how many more there are.
pub(crate) fn listing<T: AsRef<str>>(names: &[T]) -> String {
    let first: Vec<&str> = names.iter().take(MOST_NAMED).map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", first.join(", "))
}
