//! Histories: their format, and what is checked on them.

mod format;
mod generated;
mod small;
