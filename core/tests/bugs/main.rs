//! Each bug at its place: the same script with the switch off and on.
#![cfg(feature = "bugs")]

#[expect(clippy::wildcard_enum_match_arm, reason = "the desk shows a few outputs of many")]
mod desk;
mod joining;
mod leading;
mod truncating;
