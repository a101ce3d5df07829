//! What a person sees of a run: its picture, on a page or in a terminal.
//!
//! ```text
//!   Trace ---> Film, one step after the other ---> Picture ---> page   HTML that needs nothing else
//!                |                                    |
//!                +---> whoever steps through it       +-------> text   lines for a terminal
//! ```
//!
//! A picture is worked out once, from a trace alone; what draws it sees no world.

pub mod cast;
mod evidence;
pub mod film;
mod flights;
pub mod lanes;
mod page;
mod picture;
mod text;
mod words;

pub use self::cast::Kind;
pub use self::film::Film;
pub use self::flights::{Fate, Flight};
pub use self::lanes::{Lane, LaneKind, Series};
pub use self::picture::{Evidence, Fact, Moment, Picture};
pub use self::text::Excerpt;
pub use self::words::{Mark, facts_of};
