//! Several servers on one desk: what a session is to all of them together.

mod desk;
mod moving;
mod sessions;
