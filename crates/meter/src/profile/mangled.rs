//! Names of functions as people write them, from those that compilers write.
//!
//! Only the path of a name is read: modules, types and functions. Parameters of functions and
//! templates are left out, so functions that differ by them only have one name. A name that cannot
//! be read stays as it is.

/// Names longer than this are cut, characters.
const LONGEST: usize = 160;

/// A name for people.
pub(super) fn plain(name: &str) -> String {
    // What the compiler made of parts of a function is the function.
    let base = name.split('.').next().unwrap_or(name);
    let read = match name.as_bytes() {
        [b'_', b'Z', ..] => itanium(name),
        [b'_', b'R', ..] => rust(base),
        _ => None,
    };
    let read = read.unwrap_or_else(|| base.to_owned());
    match read.char_indices().nth(LONGEST) {
        Some((end, _)) => read[..end].to_owned(),
        None if read.is_empty() => name.to_owned(),
        None => read,
    }
}

/// `_ZN5Envoy4Http6decodeEv` is `Envoy::Http::decode`. Older Rust names are of the same form, and
/// end in a hash.
fn itanium(name: &str) -> Option<String> {
    let mut rest = name.strip_prefix("_Z")?;
    let is_nested = rest.starts_with('N');
    if is_nested {
        // Qualifiers such as const.
        rest = rest[1..].trim_start_matches(['K', 'V', 'r', 'R', 'O']);
        for (short, long) in [("St", "std::"), ("Sa", "std::allocator::"), ("Ss", "std::string::")]
        {
            if let Some(after) = rest.strip_prefix(short) {
                return Some(format!("{long}{}", identifiers(after, is_nested)?));
            }
        }
    }
    identifiers(rest, is_nested)
}

/// The identifiers at the beginning, up to what is none.
fn identifiers(mut rest: &str, is_nested: bool) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    loop {
        if let Some((part, after)) = identifier(rest) {
            parts.push(unescaped(part));
            rest = after;
            if !is_nested {
                break;
            }
        } else if let Some(after) = rest.strip_prefix('I').and_then(parameters) {
            rest = after;
        } else if let Some(last) = parts.last().cloned() {
            // Constructors and destructors.
            if rest.starts_with("C1") || rest.starts_with("C2") {
                parts.push(last);
            } else if rest.starts_with("D0") || rest.starts_with("D1") || rest.starts_with("D2") {
                parts.push(format!("~{last}"));
            }
            break;
        } else {
            return None;
        }
    }
    if parts.len() > 1 && parts.last().is_some_and(|last| is_hash(last)) {
        parts.pop();
    }
    Some(parts.join("::")).filter(|name| !name.is_empty())
}

/// `5Envoy...`: `Envoy`, and what follows.
fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = text.get(..digits)?.parse().ok()?;
    let rest = &text[digits..];
    let (part, after) = rest.split_at_checked(length)?;
    (length > 0).then_some((part, after))
}

/// What follows the parameters of a template, whose `I` is gone: the `E` of the same depth. Only
/// parameters that are names and plain types are known.
fn parameters(mut text: &str) -> Option<&str> {
    let mut depth = 1;
    while depth > 0 {
        if let Some((_, after)) = identifier(text) {
            text = after;
            continue;
        }
        let (first, after) = text.split_at_checked(1)?;
        match first {
            "E" => depth -= 1,
            "I" | "N" | "L" | "J" | "X" | "F" => depth += 1,
            _ => {}
        }
        text = after;
    }
    Some(text)
}

/// `h` and 16 hexadecimal digits.
fn is_hash(part: &str) -> bool {
    part.len() == 17 && part.starts_with('h') && part[1..].bytes().all(|b| b.is_ascii_hexdigit())
}

/// `$LT$` and the like, which stand for signs in older Rust names.
fn unescaped(part: &str) -> String {
    const SIGNS: [(&str, &str); 10] = [
        ("$LT$", "<"),
        ("$GT$", ">"),
        ("$RF$", "&"),
        ("$BP$", "*"),
        ("$LP$", "("),
        ("$RP$", ")"),
        ("$C$", ","),
        ("$u20$", " "),
        ("$u7b$", "{"),
        ("$u7d$", "}"),
    ];
    let mut out = part.replace("..", "::");
    if out.starts_with("_$") {
        out.remove(0);
    }
    for (sign, plain) in SIGNS {
        out = out.replace(sign, plain);
    }
    out
}

/// `_RNvNtCs1234_8hopbench3run4main` is `hopbench::run::main`.
fn rust(name: &str) -> Option<String> {
    let mut rest = name.strip_prefix("_R")?;
    let mut parts: Vec<&str> = Vec::new();
    while let Some(first) = rest.bytes().next() {
        match first {
            // A disambiguator or a reference: digits of base 62 up to a line.
            b's' | b'B' => rest = &rest[rest.find('_')? + 1..],
            b'0'..=b'9' => {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                let length: usize = rest[..digits].parse().ok()?;
                let after = &rest[digits..];
                let after = after.strip_prefix('_').unwrap_or(after);
                let (part, after) = after.split_at_checked(length)?;
                if part.is_empty() {
                    parts.push("{closure}");
                } else {
                    parts.push(part);
                }
                rest = after;
            }
            _ => rest = rest.get(1..)?,
        }
    }
    Some(parts.join("::")).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_up_to_their_parameters() {
        let known = [
            ("main", "main"),
            ("tcp_sendmsg.constprop.0", "tcp_sendmsg"),
            ("_ZN5Envoy4Http6decodeEv", "Envoy::Http::decode"),
            ("_ZNK5Envoy4Http6decodeEv", "Envoy::Http::decode"),
            ("_ZN5Envoy6BufferC2ERKS_", "Envoy::Buffer::Buffer"),
            ("_ZN5Envoy6BufferD0Ev", "Envoy::Buffer::~Buffer"),
            ("_ZN4absl3MapIiN5Envoy1AEE4findERKi", "absl::Map::find"),
            ("_ZNSt6vectorIiSaIiEE9push_backEv", "std::vector::push_back"),
            ("_Z4freePv", "free"),
            ("_ZN8hopbench3run4main17h0123456789abcdefE", "hopbench::run::main"),
            (
                "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE",
                "core::ptr::drop_in_place<alloc::string::String>",
            ),
            ("_RNvNtCs1234_8hopbench3run4main", "hopbench::run::main"),
            ("_RNCNvCs1234_8hopbench4main0B3_", "hopbench::main::{closure}"),
        ];
        for (name, expected) in known {
            assert_eq!(plain(name), expected, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_read_stays() {
        for name in
            ["_ZN", "_Z", "_R", "_ZTV5Envoy", "_ZN99999999999999999999aE", "_ZN5EnvE", ".L1"]
        {
            assert_eq!(plain(name), name, "{name}");
        }
        assert_eq!(plain(&"x".repeat(500)).len(), LONGEST);
        // Any cut of a good name, and any sign in it, is read without a panic.
        let good = "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE";
        for at in 0..good.len() {
            let _ = plain(&good[..at]);
            for sign in ['E', 'I', '9', '_', 'é'] {
                let _ = plain(&format!("{}{sign}{}", &good[..at], &good[at..]));
                let _ = plain(&format!("_R{}{sign}{}", &good[..at], &good[at..]));
            }
        }
    }
}
