//! Constants of the image: its user, and the place of the program in it.

/// The user and the group of the program: not root, so that pods may ask for `runAsNonRoot`.
pub const USER: u32 = 65532;

/// The place of the program in the image.
pub const ENTRYPOINT: &str = "/hopbench";
