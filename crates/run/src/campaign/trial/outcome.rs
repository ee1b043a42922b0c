//! The outcome of a trial: whether its figures can be used.

use hopbench_model::{Record, Warning, WarningKind};

use crate::failed::failed_exchanges;

/// Decides whether the figures of a trial can be used. `is_searched`: a search asked for it;
/// `figure`: whether it has what that goes by.
pub(super) fn decide(record: &mut Record, is_searched: bool, figure: Result<(), String>) {
    // What was cut short cannot be expected to add up.
    if record.incomplete.is_some() {
        return;
    }
    record.error = record.contradiction().or_else(|| figure.err());
    let Some(failed) = failed_exchanges(record).filter(|_| record.error.is_none()) else { return };
    if is_searched {
        // A load under which most exchanges fail is too high: that is what a search looks for.
        let next = "the search takes the load as too high; where it is not, look at the server";
        record.warnings.push(Warning::new(WarningKind::Errors, failed, next));
    } else {
        record.error = Some(failed);
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Proof, fixture};

    use super::*;

    #[test]
    fn a_search_forgives_failures_of_most_exchanges_and_nothing_else() {
        let decided = |ok, is_searched, incomplete: Option<&str>| {
            let mut record = fixture::record(&[("error_ratio", 0.7)]);
            record.proof.push(Proof { hop: "server".to_owned(), evidence: "x".to_owned(), ok });
            record.incomplete = incomplete.map(str::to_owned);
            decide(&mut record, is_searched, Ok(()));
            (record.error, record.warnings.len())
        };
        let (failed, none) = decided(true, false, None);
        assert!(
            failed.is_some_and(|why| why.starts_with("70.0 % of the exchanges failed"))
                && none == 0
        );
        assert_eq!(decided(true, true, None), (None, 1));
        let astray = Some("the traffic did not take the path: server: x".to_owned());
        assert_eq!(decided(false, true, None), (astray.clone(), 0));
        assert_eq!(decided(false, false, None), (astray, 0));
        assert_eq!(
            decided(false, false, Some("it died")),
            (None, 0),
            "half an account is no contradiction"
        );
    }

    #[test]
    fn a_search_without_its_figure_has_nothing_to_use() {
        let mut record = fixture::record(&[]);
        decide(&mut record, true, Err("its share of CPU is not known: no meter".to_owned()));
        assert_eq!(record.error.as_deref(), Some("its share of CPU is not known: no meter"));
    }
}
