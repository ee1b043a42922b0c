//! The formats, one file each.

mod json;
mod text;

use crate::Format;

/// Every format, in the order in which `hopbench list formats` prints them.
pub const FORMATS: &[&dyn Format] = &[&text::Text, &json::Json];

/// The format of this name.
pub fn format(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_registered_under_its_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/formats");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| {
                let name = entry.unwrap().file_name().into_string().unwrap();
                name.strip_suffix(".rs").map(str::to_owned)
            })
            .collect();
        files.sort();
        let mut names: Vec<_> = FORMATS.iter().map(|format| format.name()).collect();
        names.sort_unstable();
        assert_eq!(files, names);
        for name in names {
            assert_eq!(format(name).map(Format::name), Some(name));
        }
    }
}
