//! Checks of the repository itself: its sources against ARCHITECTURE.md, and the promises of its
//! pages.

mod architecture;
mod promises;
