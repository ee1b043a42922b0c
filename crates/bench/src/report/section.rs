//! A part of a page that `make bench` writes.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

/// A page with the two lines, of their maker, between which the table goes.
#[derive(Debug)]
pub(crate) struct Section {
    file: PathBuf,
    begin: String,
    end: String,
    before: String,
    text: String,
    after: String,
}

impl Section {
    /// Reads the pages of `--into`.
    ///
    /// # Errors
    /// When one cannot be read or does not have the two lines once each, in their order.
    pub(crate) fn of(files: &[PathBuf], maker: &str) -> Result<Vec<Self>> {
        let found: Result<_> = files.iter().map(|file| Self::find(file.clone(), maker)).collect();
        found.context("--into")
    }

    fn find(file: PathBuf, maker: &str) -> Result<Self> {
        let [begin, end] = ["begin", "end"].map(|edge| format!("<!-- {maker}: {edge} -->\n"));
        let page = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let once = |line: &str| page.match_indices(line).count() == 1;
        let found = page
            .split_once(&begin)
            .and_then(|(before, rest)| Some((before, rest.split_once(&end)?)));
        let Some((before, (text, after))) = found.filter(|_| once(&begin) && once(&end)) else {
            bail!(
                "{}: expected the lines `{}` and `{}` once each",
                file.display(),
                begin.trim(),
                end.trim()
            );
        };
        let [before, text, after] = [before, text, after].map(str::to_owned);
        Ok(Self { file, begin, end, before, text, after })
    }

    /// The text between the two lines.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Writes the page with `text` between the two lines.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&self, text: &str) -> Result<()> {
        let page = format!("{}{}{text}{}{}", self.before, self.begin, self.end, self.after);
        std::fs::write(&self.file, page).with_context(|| self.file.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "<!-- make bench: begin -->\n";
    const END: &str = "<!-- make bench: end -->\n";

    #[test]
    fn only_what_is_between_the_lines_changes() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("page.md");
        std::fs::write(&file, format!("# A\n{BEGIN}old\nolder\n{END}# B\n")).unwrap();
        let section = Section::find(file.clone(), "make bench").unwrap();
        assert_eq!(section.text(), "old\nolder\n");
        section.write("new\n").unwrap();
        section.write("newer\n").unwrap();
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            format!("# A\n{BEGIN}newer\n{END}# B\n")
        );
    }

    #[test]
    fn the_page_of_benchmarks_has_a_place_for_the_table() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/benchmarks.md");
        for maker in ["make bench", "make bench-verdicts"] {
            assert!(Section::find(PathBuf::from(page), maker).is_ok(), "{maker}");
        }
    }

    #[test]
    fn a_page_without_the_lines_is_refused_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("page.md");
        for page in ["# A\n".to_owned(), format!("{END}{BEGIN}"), format!("{BEGIN}{BEGIN}{END}")] {
            std::fs::write(&file, &page).unwrap();
            let error = Section::find(file.clone(), "make bench").unwrap_err().to_string();
            assert!(error.contains("make bench: begin"), "{error}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), page);
        }
    }
}
