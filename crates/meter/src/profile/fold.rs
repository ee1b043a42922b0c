//! Samples with names as folded stacks, each below its owner.

use std::collections::{BTreeMap, HashMap};

use hopbench_model::{Folded, KERNEL_MARK};
use hopbench_sys::perf::Frame;

/// The root of all that the kernel does in softirqs.
pub const SOFTIRQ: &str = "softirq";

/// The functions below which a softirq does its work.
const SOFTIRQ_ENTRIES: [&str; 2] = ["handle_softirqs", "__do_softirq"];
/// Functions of a CPU that has nothing to do.
const IDLE: [&str; 3] = ["do_idle", "cpu_startup_entry", "default_idle_call"];

/// Processes of one name: an end of a path, or a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// The root of its stacks.
    pub name: String,
    /// What frames of their own program are called where it has no symbols, without brackets. It
    /// should be the same on all paths: what is called otherwise counts as another function.
    /// Absent: the name of the program's file.
    pub program: Option<String>,
    /// Its processes, in this process' own `/proc`.
    pub pids: Vec<u32>,
}

/// The stacks of a window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Stacks below the names of what is watched, and below [`SOFTIRQ`].
    pub folded: Folded,
    /// The files of innermost functions by the functions' names, as far as they are libraries'. A
    /// name that several files have is left out.
    pub libraries: BTreeMap<String, String>,
    /// Samples of other programs and of the kernel's own threads.
    pub other_samples: u64,
    /// Samples of idle CPUs.
    pub idle_samples: u64,
    /// Samples of the window that were lost.
    pub lost_samples: u64,
    /// Times in the window that the kernel took no samples for a moment: there were more than it
    /// allows.
    pub throttled: u64,
    /// Whether the kernel's functions have names, if any were seen.
    pub has_kernel_names: bool,
}

/// A sample as it was taken.
#[derive(Debug, Clone)]
pub(super) struct Taken {
    /// The process; 0: none that this process can see.
    pub(super) pid: u32,
    /// When, ns.
    pub(super) time_ns: u64,
    /// The innermost first.
    pub(super) frames: Box<[Frame]>,
}

impl Taken {
    /// The frames, each with whether it is the innermost of the kernel's or of the program's part.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (Frame, bool)> + '_ {
        let mut before = None;
        self.frames.iter().map(move |frame| {
            let is_first = before.replace(frame.is_kernel) != Some(frame.is_kernel);
            (*frame, is_first)
        })
    }
}

/// Folds samples. `name` gives the name of a frame of a process, and takes whether it is the
/// innermost of its part.
pub(super) fn fold<'a, 'n>(
    samples: impl Iterator<Item = &'a Taken>,
    watched: &[Watched],
    name: impl Fn(u32, Frame, bool) -> &'n str,
) -> Profile {
    let mut owners: HashMap<u32, &str> = HashMap::new();
    for one in watched {
        owners.extend(one.pids.iter().map(|pid| (*pid, one.name.as_str())));
    }
    let mut profile = Profile::default();
    for sample in samples {
        let named = sample.numbered().map(|(frame, first)| (name(sample.pid, frame, first), frame));
        // From the root on.
        let mut stack: Vec<(&str, Frame)> = named.collect();
        stack.reverse();
        let is_kernel = |names: &[&str]| {
            stack.iter().position(|(name, frame)| frame.is_kernel && names.contains(name))
        };
        let entry = is_kernel(&SOFTIRQ_ENTRIES);
        let owner = match (entry, owners.get(&sample.pid)) {
            (Some(_), _) => SOFTIRQ,
            (None, Some(owner)) => owner,
            (None, None) if sample.pid == 0 && is_kernel(&IDLE).is_some() => {
                profile.idle_samples += 1;
                continue;
            }
            (None, None) => {
                profile.other_samples += 1;
                continue;
            }
        };
        // The function that runs softirqs is shown only where it is itself what ran.
        let entry = entry.map(|entry| (entry + 1).min(stack.len() - 1));
        let shown = &stack[entry.unwrap_or(0)..];
        profile.folded.add(frames(owner, shown).iter().map(String::as_str), 1);
    }
    profile
}

/// The frames of a stack below its owner. Frames without names that follow each other are one.
fn frames(owner: &str, stack: &[(&str, Frame)]) -> Vec<String> {
    let mut frames = vec![owner.to_owned()];
    for (name, frame) in stack {
        let frame = format!("{name}{}", if frame.is_kernel { KERNEL_MARK } else { "" });
        if !name.starts_with('[') || frames.last() != Some(&frame) {
            frames.push(frame);
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names by address: what a test's frames are called.
    fn name(_: u32, frame: Frame, _: bool) -> &'static str {
        match frame.address {
            1 => "main",
            2 => "send",
            3 => "[nginx]",
            11 => "tcp_sendmsg",
            12 => "handle_softirqs",
            13 => "net_rx_action",
            14 => "tcp_v4_rcv",
            15 => "do_idle",
            16 => "kthread",
            _ => "[kernel]",
        }
    }

    /// A sample from the root on; addresses from 10 on are the kernel's.
    fn taken(pid: u32, addresses: &[u64]) -> Taken {
        let frame = |address: &u64| Frame { address: *address, is_kernel: *address >= 10 };
        Taken { pid, time_ns: 0, frames: addresses.iter().rev().map(frame).collect() }
    }

    fn folded(samples: &[Taken]) -> Profile {
        let watched = [
            Watched { name: "client".to_owned(), program: None, pids: vec![7] },
            Watched { name: "server".to_owned(), program: None, pids: vec![8, 9] },
        ];
        fold(samples.iter(), &watched, name)
    }

    #[test]
    fn stacks_stand_below_their_owners() {
        let samples = [
            taken(7, &[1, 2, 11]),
            taken(7, &[1, 2, 11]),
            taken(8, &[1]),
            taken(9, &[3, 3, 3, 11]),
            taken(9, &[99, 98]),
        ];
        let text = "client;main;send;tcp_sendmsg_[k] 2\n\
                    server;[kernel]_[k] 1\nserver;[nginx];tcp_sendmsg_[k] 1\nserver;main 1\n";
        let profile = folded(&samples);
        assert_eq!(profile.folded.text(), text);
        assert_eq!((profile.other_samples, profile.idle_samples), (0, 0));
    }

    #[test]
    fn a_softirq_belongs_to_nobody_that_it_interrupted() {
        let samples = [
            taken(7, &[1, 2, 11, 12, 13, 14]),
            taken(0, &[15, 12, 13, 14]),
            taken(0, &[16, 12, 13]),
            taken(55, &[1, 12]),
        ];
        let text = "softirq;handle_softirqs_[k] 1\nsoftirq;net_rx_action_[k] 1\n\
                    softirq;net_rx_action_[k];tcp_v4_rcv_[k] 2\n";
        assert_eq!(folded(&samples).folded.text(), text);
    }

    #[test]
    fn what_is_not_of_the_lab_is_counted_and_left_out() {
        let samples = [taken(0, &[15]), taken(0, &[16]), taken(55, &[1, 11]), taken(7, &[1])];
        let profile = folded(&samples);
        assert_eq!((profile.idle_samples, profile.other_samples), (1, 2));
        assert_eq!(profile.folded.total(), 1);
        // A program may call a function of its own as the kernel does.
        let watched = [Watched { name: "client".to_owned(), program: None, pids: vec![7] }];
        let other = fold([taken(7, &[1])].iter(), &watched, |_, _, _| "do_idle");
        assert_eq!(other.folded.text(), "client;do_idle 1\n");
    }
}
