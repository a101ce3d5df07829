//! Whole ensembles, run from seeds.

mod bugs;
mod changes;
#[expect(clippy::wildcard_enum_match_arm, reason = "each test looks at a few steps of many")]
mod families;
mod golden;
mod moments;
mod sessions;
mod shrink;
mod traces;
mod watching;
mod worlds;
