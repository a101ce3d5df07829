//! A request's way: deciding, and answering.

pub mod ahead;
pub mod overlay;
pub mod prepare;
pub mod read;

pub use overlay::Overlay;
