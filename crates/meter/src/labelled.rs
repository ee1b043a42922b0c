//! Texts of `Label: value` lines, as `/proc/meminfo` and `/proc/PID/status` are.

/// The value of a line like `VmRSS:      1748 kB`, in bytes. The kernel's kB is 1024 bytes.
pub(crate) fn bytes(text: &str, label: &str) -> Option<f64> {
    let mut words = value(text, label)?.split_ascii_whitespace();
    let kib: u64 = words.next()?.parse().ok()?;
    (words.next() == Some("kB")).then_some((kib * 1024) as f64)
}

/// What follows the label, trimmed.
pub(crate) fn value<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim_end() == label).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_matched_whole() {
        let text = "VmHWMx:\t  1 kB\nVmHWM:\t    1748 kB\nmodel name\t: AMD EPYC\nThreads:\t3\n\
                    Bad:\tx kB\n";
        assert_eq!(bytes(text, "VmHWM"), Some(1_789_952.0));
        assert_eq!(bytes(text, "Vm"), None);
        assert_eq!(bytes(text, "Threads"), None, "not a size");
        assert_eq!(bytes(text, "Bad"), None);
        assert_eq!(value(text, "Threads"), Some("3"));
        assert_eq!(value(text, "model name"), Some("AMD EPYC"));
    }
}
