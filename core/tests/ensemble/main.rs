//! Several servers on one desk: what a session is to all of them together.

mod containers;
mod desk;
mod local;
mod moving;
mod readonly;
mod sessions;
