//! The colours of frames. The same name has the same colour in every graph.

use hopbench_model::KERNEL_MARK;

/// Red, green and blue, 0 to 255.
type Rgb = [f64; 3];

/// Owners of stacks, code without names, the kernel, programs: each a range between two colours.
const OWNER: [Rgb; 2] = [[143.0, 178.0, 214.0], [143.0, 178.0, 214.0]];
const NAMELESS: [Rgb; 2] = [[190.0, 190.0, 190.0], [210.0, 210.0, 210.0]];
const OF_KERNEL: [Rgb; 2] = [[240.0, 160.0, 70.0], [250.0, 195.0, 110.0]];
const OF_PROGRAM: [Rgb; 2] = [[150.0, 200.0, 110.0], [205.0, 225.0, 120.0]];
/// Neither more nor less, more, less.
const SAME: Rgb = [240.0, 240.0, 240.0];
const MORE: Rgb = [214.0, 48.0, 48.0];
const LESS: Rgb = [40.0, 96.0, 200.0];

/// The colour of a frame, by what it is.
pub(super) fn of_frame(name: &str, is_owner: bool) -> String {
    let [from, to] = match name {
        _ if is_owner => OWNER,
        _ if name.starts_with('[') => NAMELESS,
        _ if name.ends_with(KERNEL_MARK) => OF_KERNEL,
        _ => OF_PROGRAM,
    };
    between(from, to, spread(name))
}

/// The colour of a difference: `share` is -1 for the most that anything shrank, 1 for the most that
/// anything grew.
pub(super) fn of_difference(share: f64) -> String {
    let towards = if share > 0.0 { MORE } else { LESS };
    // Small differences should be seen, too.
    between(SAME, towards, share.abs().min(1.0).sqrt())
}

fn between(from: Rgb, to: Rgb, share: f64) -> String {
    let mixed = |at: usize| (from[at] + (to[at] - from[at]) * share).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2))
}

/// A number from 0 to 1 that follows from a name (FNV-1a).
fn spread(name: &str) -> f64 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = name.bytes().fold(0x811c_9dc5, mix);
    f64::from(hash % 1000) / 999.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_stable_and_say_what_it_is() {
        assert_eq!(of_frame("tcp_sendmsg_[k]", false), of_frame("tcp_sendmsg_[k]", false));
        assert_ne!(of_frame("tcp_sendmsg_[k]", false), of_frame("tcp_sendmsg", false));
        assert_eq!(of_frame("client", true), of_frame("server", true));
        assert_eq!(of_difference(0.0), "#f0f0f0");
        assert_eq!([of_difference(1.0), of_difference(-9.0)], ["#d63030", "#2860c8"]);
    }
}
