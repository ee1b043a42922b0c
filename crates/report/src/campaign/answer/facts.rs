//! Lines with a name: what a request costs, what limited the trials.

mod costs;
mod fact;
mod limits;

pub(super) use self::costs::fact as costs;
pub(crate) use self::fact::Fact;
pub(super) use self::limits::fact as limits;
