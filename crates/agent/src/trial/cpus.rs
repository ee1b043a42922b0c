//! The CPUs that this process may use.

use hopbench_model::{CpuSet, Fault, Job, Tick};
use hopbench_sys::cpu;
use hopbench_wire::Role;

/// The CPUs that this process may use, where they are not all that its meters saw.
pub(crate) fn confined(seen: &Tick) -> Option<CpuSet> {
    let allowed = cpu::allowed().ok()?;
    let names = seen.readings.get("cpu")?.keys();
    let of_one = |name: &&String| {
        name.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let all = names.filter(|name| name.ends_with("_busy_s_total")).filter(of_one).count();
    (allowed.len() < all).then_some(CpuSet(allowed))
}

/// Whether this end has the CPUs that a job wants its workers on.
pub(crate) fn check(job: &Job, role: Role) -> Result<(), Fault> {
    let (end, asked) = match role {
        Role::Client => ("client", &job.client_cpus),
        Role::Server => ("server", &job.server_cpus),
        Role::Onlooker => return Ok(()),
    };
    let Some(asked) = asked else { return Ok(()) };
    let allowed = cpu::allowed()
        .map_err(|e| Fault::environment(format!("cannot read the CPU affinity: {e}")))?;
    let missing: Vec<_> =
        asked.0.iter().filter(|cpu| !allowed.contains(cpu)).map(ToString::to_string).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let allowed: Vec<_> = allowed.iter().map(ToString::to_string).collect();
    Err(Fault::input(format!(
        "--cpu: the {end} has no CPU {}; it may use {}",
        missing.join(", "),
        allowed.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the meters saw of a machine with so many CPUs.
    fn seen(cpus: usize) -> Tick {
        let totals = ["busy_s_total", "cpu_s_total"].map(|name| (name.to_owned(), 1.0));
        let each = (0..cpus)
            .flat_map(|n| ["busy", "softirq"].map(|what| (format!("cpu{n}_{what}_s_total"), 1.0)));
        Tick {
            readings: [("cpu".to_owned(), totals.into_iter().chain(each).collect())].into(),
            ..Tick::default()
        }
    }

    #[test]
    fn a_process_that_may_use_a_part_of_its_machine_says_which() {
        let allowed = cpu::allowed().unwrap();
        assert_eq!(confined(&seen(allowed.len())), None, "all that there are");
        assert_eq!(confined(&Tick::default()), None, "nobody knows how many there are");
        let one = allowed[0];
        let alone = std::thread::spawn(move || {
            cpu::pin_thread(&[one]).unwrap();
            (confined(&seen(2)), confined(&seen(1)))
        });
        assert_eq!(alone.join().unwrap(), (Some(CpuSet(vec![one])), None));
    }
}
