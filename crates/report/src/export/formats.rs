//! The formats of trials, one file each.

mod fortio;
mod istio_csv;

use super::TrialFormat;

/// Every format of trials, in the order in which `hopbench list` prints them.
pub const TRIAL_FORMATS: &[&dyn TrialFormat] = &[&istio_csv::IstioCsv, &fortio::Fortio];

/// The format of this name.
pub fn trial_format(name: &str) -> Option<&'static dyn TrialFormat> {
    TRIAL_FORMATS.iter().copied().find(|format| format.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_registered_under_its_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/export/formats");
        let file = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.unwrap().file_name().into_string().unwrap()
        };
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| file(entry).strip_suffix(".rs").map(|stem| stem.replace('_', "-")))
            .collect();
        files.sort();
        let mut names: Vec<_> = TRIAL_FORMATS.iter().map(|format| format.name()).collect();
        names.sort_unstable();
        assert_eq!(files, names);
    }
}
