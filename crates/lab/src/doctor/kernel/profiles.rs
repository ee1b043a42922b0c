//! The check of samples of call stacks, and of names for the kernel's functions in them.

use hopbench_meter::profile::{Access, Lack, has_kernel_names};
use hopbench_testbed::Finding;

use crate::doctor::check::Check;

// Inside, where a run takes its profiles: there a capability of the caller counts for nothing.
pub(crate) const CHECK: Check =
    Check { name: "profiles", needed_for: "run --profile", inside: true, run };

fn run() -> Finding {
    of(Access::now(), has_kernel_names())
}

fn of(access: Result<Access, Lack>, has_names: bool) -> Finding {
    let access = match access {
        Ok(access) => access,
        Err(lack) => return Finding::missing(lack.found, lack.remedy),
    };
    let names = (access.has_kernel() && !has_names).then(Lack::of_names);
    let lacks: Vec<Lack> = access.forbidden().into_iter().chain(names).collect();
    if lacks.is_empty() {
        return Finding::works("every CPU can be sampled, and the kernel shows its symbols");
    }
    let found: Vec<&str> = lacks.iter().map(|lack| &*lack.found).collect();
    let remedies: Vec<&str> = lacks.iter().map(|lack| lack.remedy).collect();
    Finding::limited(found.join("; "), remedies.join("; "))
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::State;

    use super::*;

    #[test]
    fn what_is_missing_is_named_with_what_to_do() {
        assert_eq!(of(Ok(Access::Machine), true).state, State::Works);
        let nameless = of(Ok(Access::Machine), false);
        assert_eq!(nameless.state, State::Limited);
        assert!(nameless.remedy.contains("kernel.kptr_restrict=0"), "{nameless:?}");
        let both = of(Ok(Access::Threads), false);
        for (text, words) in [
            (&both.found, ["softirqs", "`[kernel]`"]),
            (&both.remedy, ["kernel.perf_event_paranoid=-1", "kernel.kptr_restrict=0"]),
        ] {
            assert!(words.iter().all(|word| text.contains(word)), "{both:?}");
        }
        // Without the kernel nobody misses its names.
        let programs = of(Ok(Access::Programs), false);
        assert!(!programs.remedy.contains("kptr_restrict"), "{programs:?}");
        let nothing = of(Err(Lack::of_names()), true);
        assert_eq!((nothing.state, nothing.found), (State::Missing, Lack::of_names().found));
    }
}
