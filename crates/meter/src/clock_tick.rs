//! The kernel's unit of CPU time.

use std::fs;

/// The entry's key in the auxiliary vector (`AT_CLKTCK` in `linux/auxvec.h`).
const AT_CLKTCK: u64 = 17;

/// What every architecture that hopbench runs on has compiled in (`USER_HZ`).
const USUAL_PER_SECOND: u64 = 100;

/// The length of one clock tick, s.
///
/// The kernel hands the number to each process in its auxiliary vector, which is where `sysconf`
/// gets it from. The file needs no call into libc.
pub(crate) fn seconds() -> f64 {
    let per_second = fs::read("/proc/self/auxv").ok().and_then(|bytes| per_second(&bytes));
    1.0 / per_second.unwrap_or(USUAL_PER_SECOND) as f64
}

/// The vector is pairs of machine words: key, value.
fn per_second(auxv: &[u8]) -> Option<u64> {
    const WORD: usize = size_of::<usize>();
    let word = |bytes: &[u8]| bytes.try_into().ok().map(|word| usize::from_ne_bytes(word) as u64);
    auxv.chunks_exact(2 * WORD)
        .find(|pair| word(&pair[..WORD]) == Some(AT_CLKTCK))
        .and_then(|pair| word(&pair[WORD..]))
        .filter(|ticks| *ticks > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auxv(words: &[usize]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn the_entry_is_found_by_its_key() {
        assert_eq!(per_second(&auxv(&[6, 4096, 17, 250, 0, 0])), Some(250));
        assert_eq!(per_second(&auxv(&[17, 17, 0, 0])), Some(17));
        assert_eq!(per_second(&auxv(&[6, 17, 3, 100])), None, "17 as a value is no key");
        assert_eq!(per_second(&auxv(&[17, 0])), None);
        assert_eq!(per_second(&auxv(&[17])), None, "half a pair");
        assert_eq!(per_second(&[]), None);
    }

    #[test]
    fn this_machine_says_what_procfs_says() {
        assert_eq!(seconds(), 1.0 / procfs::ticks_per_second() as f64);
    }
}
