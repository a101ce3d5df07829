//! What a client can see of one server, byte for byte: every observation of a real server that
//! the protocol's description marks as seen, as a test of ours.

mod acls;
mod ask;
mod creating;
mod handshake;
mod multis;
mod paths;
mod quotas;
mod reads;
mod replies;
mod sessions;
mod stats;
mod watches;
mod writes;
