//! Flags that several commands have.

mod common;
mod envoy;
mod format;
pub(super) mod output;
mod profile;
mod scenario;
mod testbed;
mod text_file;
pub(super) mod token;
mod units;

pub(super) use self::common::{Common, absent};
pub(super) use self::envoy::EnvoyArgument;
pub(super) use self::format::FormatArgument;
pub(super) use self::profile::ProfileArgument;
pub(super) use self::scenario::{Alone, ScenarioArguments, secrets_of};
pub(super) use self::testbed::{TestbedArguments, told};
pub(super) use self::units::{UnitsArgument, in_unit};
