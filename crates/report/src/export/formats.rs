//! The formats of trials, one file each.

mod fortio;
mod istio_csv;

use super::TrialFormat;
use crate::format::named;

/// Every format of trials, in the order in which `hopbench list` prints them.
pub const TRIAL_FORMATS: &[TrialFormat] = &[istio_csv::FORMAT, fortio::FORMAT];

/// The format of this name.
pub fn trial_format(name: &str) -> Option<&'static TrialFormat> {
    named(TRIAL_FORMATS, name)
}
