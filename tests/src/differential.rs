//! Two servers, the same requests, the same answers.
//!
//! ```text
//!                    +-> left  (a real ZooKeeper) -> Outcome -> renamed by its View --+
//!   seed -> Ops -> Op|                                                                +-> equal?
//!                    +-> right (ours)             -> Outcome -> renamed by its View --+    |
//!                                                                                          v
//!                                                        in the table of accepted differences?
//! ```
//!
//! A seed becomes a sequence of steps over several sessions ([`generate`]). Each step is carried
//! out on both servers ([`side`]); afterwards a ping on every connection brings in what was still
//! under way, since a server queues the events of a write before its reply. Numbers that must
//! differ are renamed, not dropped ([`view`]). What then still differs is either listed in
//! [`accepted`], with its reason, or a failure.

pub mod accepted;
pub mod chance;
pub mod compare;
pub mod generate;
pub mod op;
pub mod pool;
pub mod refusals;
pub mod run;
pub mod sabotage;
pub mod side;
pub mod view;
