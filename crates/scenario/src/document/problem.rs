//! The problems of a scenario, with their positions.

use std::collections::HashSet;
use std::fmt;

use super::node::{At, quoted};

/// One thing that is wrong with a scenario, or with what the command line changes in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScenarioProblem {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1; 0 for what is not in the file.
    pub line: usize,
    /// The column, from 1, in characters; 0 for what is not in the file.
    pub column: usize,
    /// Where in the tree: `workloads.latency.rr.size`; a flag like `--only`; empty for the file as
    /// a whole.
    pub key: String,
    /// What was found, ready to be shown: a text in backticks, or words like `a list`.
    pub found: String,
    /// What would have been accepted.
    pub expected: String,
    /// The valid name that is nearest to what was found.
    pub nearest: Option<String>,
}

/// `file:12:5: workloads.latency.rr.siez: found ..., expected ...; did you mean ...?`
impl fmt::Display for ScenarioProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        } else if !self.key.starts_with("--") {
            write!(f, "{}: ", self.file)?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "found {}, expected {}", self.found, self.expected)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

/// The problems of one scenario as they are found.
#[derive(Debug)]
pub(crate) struct Problems {
    file: String,
    list: Vec<ScenarioProblem>,
    seen: HashSet<ScenarioProblem>,
    more: usize,
}

/// More of them are only counted.
const MOST: usize = 200;

impl Problems {
    pub(crate) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), list: Vec::new(), seen: HashSet::new(), more: 0 }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.list.len() + self.more
    }

    /// `found` is shown as it is; see [`quoted`] for texts out of the file.
    pub(crate) fn add(
        &mut self,
        at: At,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) {
        self.push(at, key, found.into(), expected.into(), None);
    }

    /// `found` is none of the names that are known here.
    pub(crate) fn unknown<S: AsRef<str>>(&mut self, at: At, key: &str, found: &str, known: &[S]) {
        self.unknown_but(at, key, found, known, None);
    }

    /// The same, with a remedy besides the names.
    pub(crate) fn unknown_but<S: AsRef<str>>(
        &mut self,
        at: At,
        key: &str,
        found: &str,
        known: &[S],
        remedy: Option<&str>,
    ) {
        let list: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
        let mut expected = match list.as_slice() {
            [] => "nothing here".to_owned(),
            [one] => format!("`{one}`"),
            _ => format!("one of {}", shortened(&list)),
        };
        if let Some(remedy) = remedy {
            expected.push_str("; ");
            expected.push_str(remedy);
        }
        self.push(at, key, quoted(found), expected, nearest(found, &list));
    }

    fn push(
        &mut self,
        at: At,
        key: &str,
        found: String,
        expected: String,
        nearest: Option<String>,
    ) {
        let At { line, column } = at;
        let problem = ScenarioProblem {
            file: self.file.clone(),
            line,
            column,
            key: key.to_owned(),
            found,
            expected,
            nearest,
        };
        if self.list.len() >= MOST {
            self.more += 1;
        } else if self.seen.insert(problem.clone()) {
            self.list.push(problem);
        }
    }

    /// Takes over the problems of another file.
    pub(crate) fn adopt(&mut self, other: Self) {
        self.more += other.more;
        for problem in other.list {
            if self.list.len() >= MOST {
                self.more += 1;
            } else if self.seen.insert(problem.clone()) {
                self.list.push(problem);
            }
        }
    }

    /// What was made of the file, if nothing is wrong with it; otherwise the problems in the file's
    /// order.
    pub(crate) fn finish<T>(self, made: Option<T>) -> Result<T, Vec<ScenarioProblem>> {
        let Self { file, mut list, more, .. } = self;
        match made {
            Some(made) if list.is_empty() => return Ok(made),
            _ => {}
        }
        // Another file first, each in its own order.
        list.sort_by_key(|p| (p.file == file, p.line, p.column));
        if more > 0 {
            list.push(ScenarioProblem {
                file,
                line: 0,
                column: 0,
                key: String::new(),
                found: format!("{more} more problems"),
                expected: "none".to_owned(),
                nearest: None,
            });
        }
        Err(list)
    }
}

/// Names for a message; thousands of them help nobody.
pub(crate) fn shortened<S: AsRef<str>>(names: &[S]) -> String {
    const SHOWN: usize = 40;
    let mut list: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    let more = format!("{} more", names.len().saturating_sub(SHOWN));
    if names.len() > SHOWN {
        list.push(&more);
    }
    list.join(", ")
}

/// The name that was probably meant: at most every third character is wrong.
pub(crate) fn nearest(found: &str, known: &[&str]) -> Option<String> {
    let found: String =
        found.chars().take(100).collect::<String>().to_lowercase().replace('_', "-");
    let distance =
        |name: &str| strsim::damerau_levenshtein(&found, &name.to_lowercase().replace('_', "-"));
    let most = (found.chars().count() / 3).max(1);
    let best =
        known.iter().map(|name| (distance(name), *name)).min_by_key(|(distance, _)| *distance)?;
    (best.0 <= most).then(|| best.1.to_owned())
}
