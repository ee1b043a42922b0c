//! The kernel's functions, as `/proc/kallsyms` lists them.

/// The kernel's functions by their addresses.
#[derive(Debug)]
pub(super) struct KernelSymbols {
    text: String,
    /// Addresses with the places of their names in the text, sorted.
    symbols: Vec<(u64, (usize, usize))>,
}

impl KernelSymbols {
    /// The functions in a text like that of `/proc/kallsyms`; `None` where the kernel shows no
    /// addresses.
    pub(super) fn of(text: String) -> Option<Self> {
        let mut symbols: Vec<(u64, (usize, usize))> = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            symbols.extend(symbol(line, start));
            start += line.len();
        }
        symbols.sort_by_key(|(address, _)| *address);
        // With kernel.kptr_restrict all of them are 0.
        let is_known = symbols.last().is_some_and(|(address, _)| *address > 0);
        is_known.then_some(Self { text, symbols })
    }

    /// The function that an address is in.
    pub(super) fn name(&self, address: u64) -> Option<&str> {
        let behind = self.symbols.partition_point(|(start, _)| *start <= address);
        // Of several names for one address the first is as good as any.
        let (start, _) = self.symbols.get(behind.checked_sub(1)?)?;
        let first = self.symbols.partition_point(|(other, _)| other < start);
        let (_, (from, to)) = self.symbols.get(first)?;
        self.text.get(*from..*to)
    }
}

/// `ffffffff81000000 T _text [module]`: the address of a function, and where its name is in the
/// text; the line begins at `start`.
fn symbol(line: &str, start: usize) -> Option<(u64, (usize, usize))> {
    let mut fields = line.split_ascii_whitespace();
    let address = u64::from_str_radix(fields.next()?, 16).ok()?;
    if !matches!(fields.next()?, "t" | "T" | "w" | "W") {
        return None;
    }
    let name = fields.next()?;
    let from = start + (name.as_ptr() as usize - line.as_ptr() as usize);
    Some((address, (from, from + name.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_function_before_it() {
        let text = "ffffffff81000000 T _text\nffffffff81000000 t alias\nffffffff81000100 D data\n\
                    ffffffffc0000000 t nf_hook\t[nf_tables]\nffffffff81000200 W weak\nbroken\n";
        let symbols = KernelSymbols::of(text.to_owned()).unwrap();
        let name = |address| symbols.name(address);
        assert_eq!(name(0xffff_ffff_8100_0000), Some("_text"));
        assert_eq!(name(0xffff_ffff_8100_0150), Some("_text"), "data is no function");
        assert_eq!(name(0xffff_ffff_8100_0200), Some("weak"));
        assert_eq!(name(0xffff_ffff_c000_0010), Some("nf_hook"));
        assert_eq!(name(0xffff_ffff_80ff_ffff), None);
    }

    #[test]
    fn hidden_addresses_are_none() {
        assert!(KernelSymbols::of("0000000000000000 T _text\n0 t b\n".to_owned()).is_none());
        assert!(KernelSymbols::of(String::new()).is_none());
    }
}
