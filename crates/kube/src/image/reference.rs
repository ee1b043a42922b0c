//! The name of an image.

use hopbench_model::{Fault, Problem};

/// A name and a tag: `hopbench:0.1.0`, `registry.example:5000/tools/hopbench:dev`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    name: String,
    tag: String,
}

impl Reference {
    /// Reads what `option` says; without a tag it is `latest`.
    ///
    /// # Errors
    /// No name of an image.
    pub fn parse(option: &str, text: &str) -> Result<Self, Fault> {
        // A colon before the last slash is a port's.
        let last = text.rfind('/').map_or(0, |slash| slash + 1);
        let (name, tag) = match text[last..].find(':') {
            Some(colon) => (&text[..last + colon], &text[last + colon + 1..]),
            None => (text, "latest"),
        };
        if is_name(name) && is_tag(tag) {
            return Ok(Self { name: name.to_owned(), tag: tag.to_owned() });
        }
        let expected = "a name and a tag like `hopbench:dev` or \
                        `registry.example:5000/tools/hopbench:dev`, in lower case";
        Err(Fault::from_problems(&[Problem::new(option, text, expected)]))
    }

    /// As it was given, with its tag.
    pub fn short(&self) -> String {
        format!("{}:{}", self.name, self.tag)
    }

    /// The full name, with the registry that a short one means. Container runtimes store images
    /// under such names.
    pub fn full(&self) -> String {
        let Some((host, _)) = self.name.split_once('/') else {
            return format!("docker.io/library/{}", self.short());
        };
        if is_host(host) { self.short() } else { format!("docker.io/{}", self.short()) }
    }

    /// Whether it names its registry.
    pub fn has_registry(&self) -> bool {
        self.name.split_once('/').is_some_and(|(host, _)| is_host(host))
    }

    /// The tag alone.
    pub fn tag(&self) -> &str {
        &self.tag
    }
}

/// Whether the first part of a name is a registry's.
fn is_host(part: &str) -> bool {
    part.contains(['.', ':']) || part == "localhost"
}

fn is_name(name: &str) -> bool {
    let (host, rest) = match name.split_once('/') {
        Some((host, rest)) if is_host(host) => (Some(host), rest),
        _ => (None, name),
    };
    let host_fits = host.is_none_or(|host| {
        let (name, port) = host.split_once(':').map_or((host, "0"), |(name, port)| (name, port));
        let named = !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
        named && port.parse::<u16>().is_ok()
    });
    host_fits && name.len() <= 255 && rest.split('/').all(is_component)
}

/// Lower-case words with one separator between two of them.
fn is_component(part: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    edge(part.chars().next())
        && edge(part.chars().last())
        && part
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-'))
        && !["..", "._", "_.", "___", ".-", "-."].iter().any(|pair| part.contains(pair))
}

fn is_tag(tag: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (1..=128).contains(&tag.len()) && tag.chars().all(fits) && !tag.starts_with(['.', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_the_registry_that_everybody_means() {
        for (text, short, full) in [
            ("hopbench:0.1.0", "hopbench:0.1.0", "docker.io/library/hopbench:0.1.0"),
            ("hopbench", "hopbench:latest", "docker.io/library/hopbench:latest"),
            ("me/hopbench:dev", "me/hopbench:dev", "docker.io/me/hopbench:dev"),
            ("localhost/hopbench", "localhost/hopbench:latest", "localhost/hopbench:latest"),
            ("r.example:5000/a/b__c:V-1", "r.example:5000/a/b__c:V-1", "r.example:5000/a/b__c:V-1"),
        ] {
            let reference = Reference::parse("--tag", text).unwrap();
            assert_eq!(
                (reference.short().as_str(), reference.full().as_str()),
                (short, full),
                "{text}"
            );
            assert_eq!(reference.has_registry(), short == full, "{text}");
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        #[rustfmt::skip]
        let texts = [
            "", ":", "hopbench:", "Hopbench:1", "a//b", "a b", "a:b:c", "-a", "a/../b", "a:-1",
            "r.example:x/a",
        ];
        for text in texts {
            let fault = Reference::parse("--tag", text).unwrap_err();
            assert!(fault.text.starts_with("--tag: found"), "{text}: {fault}");
        }
    }
}
