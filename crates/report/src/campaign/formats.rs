//! The formats of whole runs, one file each.

mod csv;
mod html;
mod json;
mod markdown;
mod screen;
mod searches;
mod table;

use super::format::SummaryFormat;

/// Every format of whole runs, in the order in which `hopbench list` prints them.
pub const SUMMARY_FORMATS: &[&dyn SummaryFormat] = &[
    &screen::OneScreen,
    &table::Table,
    &markdown::Markdown,
    &csv::Csv,
    &json::Json,
    &html::Html,
    &searches::Searches,
];

/// The format of this name.
pub fn summary_format(name: &str) -> Option<&'static dyn SummaryFormat> {
    SUMMARY_FORMATS.iter().copied().find(|format| format.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_registered_under_its_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/campaign/formats");
        let file = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.unwrap().file_name().into_string().unwrap()
        };
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| file(entry).strip_suffix(".rs").map(str::to_owned))
            .collect();
        files.sort();
        let mut names: Vec<_> = SUMMARY_FORMATS.iter().map(|format| format.name()).collect();
        names.sort_unstable();
        assert_eq!(files, names);
    }
}
