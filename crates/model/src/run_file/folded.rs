//! Folded stacks: how often each stack of frames was seen.
//!
//! The text has a line for each stack: its frames from the root on, with `;` between them, a blank,
//! and the count. Flame graph programs read it.

use std::collections::BTreeMap;

/// What stands behind the names of the kernel's functions.
pub const KERNEL_MARK: &str = "_[k]";
/// What a frame with no name is called.
const NAMELESS: &str = "?";

/// Stacks with their counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folded {
    stacks: BTreeMap<String, u64>,
}

impl Folded {
    /// Adds a stack that was seen `count` times; its frames come from the root on. A stack without
    /// frames is not counted.
    pub fn add<'a>(&mut self, frames: impl IntoIterator<Item = &'a str>, count: u64) {
        let frames: Vec<String> = frames.into_iter().map(plain).collect();
        if !frames.is_empty() && count > 0 {
            let known = self.stacks.entry(frames.join(";")).or_default();
            *known = known.saturating_add(count);
        }
    }

    /// Every stack with its count, in the order of their names.
    pub fn stacks(&self) -> impl Iterator<Item = (&str, u64)> {
        self.stacks.iter().map(|(stack, count)| (stack.as_str(), *count))
    }

    /// The counts of all stacks together.
    pub fn total(&self) -> u64 {
        self.stacks.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The counts below each root, in the order of their names.
    pub fn roots(&self) -> BTreeMap<&str, u64> {
        let mut roots: BTreeMap<&str, u64> = BTreeMap::new();
        for (stack, count) in self.stacks() {
            let root = roots.entry(stack.split(';').next().unwrap_or_default()).or_default();
            *root = root.saturating_add(count);
        }
        roots
    }

    /// The text, a line a stack.
    pub fn text(&self) -> String {
        self.stacks().map(|(stack, count)| format!("{stack} {count}\n")).collect()
    }

    /// Reads such a text.
    ///
    /// # Errors
    /// A line without a count, with its number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut out = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            let read = line.rsplit_once(' ').and_then(|(stack, count)| {
                Some((stack, count.parse::<u64>().ok()?)).filter(|_| !stack.is_empty())
            });
            let Some((stack, count)) = read else {
                return Err(format!("line {number}: expected frames, a blank and a count"));
            };
            out.add(stack.split(';'), count);
        }
        Ok(out)
    }
}

/// A frame as it can stand in a line.
fn plain(frame: &str) -> String {
    let frame: String = frame
        .chars()
        .map(|c| match c {
            ';' => ':',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    let frame = frame.trim();
    if frame.is_empty() { NAMELESS.to_owned() } else { frame.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_summed_and_read_back() {
        let mut folded = Folded::default();
        folded.add(["client", "main", "send"], 3);
        folded.add(["client", "main", "send"], 4);
        folded.add(["client", "main"], 1);
        folded.add(["softirq", "net_rx_action"], 2);
        folded.add([], 9);
        folded.add(["nothing"], 0);
        let text = "client;main 1\nclient;main;send 7\nsoftirq;net_rx_action 2\n";
        assert_eq!(folded.text(), text);
        assert_eq!(Folded::parse(text).unwrap(), folded);
        assert_eq!(folded.total(), 10);
        assert_eq!(folded.roots(), BTreeMap::from([("client", 8), ("softirq", 2)]));
    }

    #[test]
    fn no_name_of_a_frame_breaks_a_line() {
        let mut folded = Folded::default();
        folded.add(["a;b", "c\nd 5", " ", "operator new(unsigned long)"], 2);
        assert_eq!(folded.text(), "a:b;c d 5;?;operator new(unsigned long) 2\n");
        assert_eq!(Folded::parse(&folded.text()).unwrap(), folded);
    }

    #[test]
    fn what_is_no_line_is_named_with_its_number() {
        for bad in ["a;b", "a;b x", "a 1\n\n", " 1", "a -1"] {
            assert!(Folded::parse(bad).unwrap_err().starts_with("line "), "{bad:?}");
        }
        assert_eq!(Folded::parse("").unwrap(), Folded::default());
    }
}
