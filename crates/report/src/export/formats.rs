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
