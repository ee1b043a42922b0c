//! The time that a scenario promises.

/// How many minutes a scenario takes, as its first comment says: `About 3 minutes` or `4 to 6
/// minutes`.
pub(crate) fn promised(text: &str) -> [f64; 2] {
    let comment: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix('#'))
        .flat_map(str::split_whitespace)
        .collect();
    let at =
        comment.iter().position(|word| word.starts_with("minutes")).expect("how long it takes");
    let number = |at: usize| {
        comment[at].parse::<f64>().unwrap_or_else(|_| panic!("{} minutes", comment[at]))
    };
    let first = if comment[at - 2] == "to" { at - 3 } else { at - 1 };
    [number(first), number(at - 1)]
}
