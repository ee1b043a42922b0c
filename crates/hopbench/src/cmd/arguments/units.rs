//! `--units`: the unit of throughput that a person wants to read.

use clap::Args;
use clap::builder::PossibleValuesParser;
use hopbench_report::campaign::{RateUnit, Summary};

/// The unit of throughput in screens, tables and pages.
#[derive(Debug, Clone, Args)]
pub(in crate::cmd) struct UnitsArgument {
    /// The unit of throughput in tables [default: whichever reads best]
    #[arg(long, value_name = "UNIT", value_parser = names())]
    units: Option<String>,
}

fn names() -> PossibleValuesParser {
    RateUnit::ALL.iter().map(|unit| unit.name).collect::<Vec<_>>().into()
}

impl UnitsArgument {
    /// The unit that was asked for.
    pub(in crate::cmd) fn unit(&self) -> Option<RateUnit> {
        self.units.as_deref().and_then(RateUnit::named)
    }
}

/// The summary in the unit that was asked for.
pub(in crate::cmd) fn in_unit(mut summary: Summary, unit: Option<RateUnit>) -> Summary {
    unit.into_iter().for_each(|unit| summary.show_rates_in(unit));
    summary
}
