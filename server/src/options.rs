//! What one server is told when it starts.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;

use zoolab_core::storage::Rules;
use zoolab_core::{ServerId, Settings};

use crate::four_letter::Whitelist;

/// What one server is told when it starts. The default is ZooKeeper's, on a port of its own
/// choosing.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where clients connect; port 0 lets the machine choose one.
    pub listen: SocketAddr,
    /// The highest byte of the ids of sessions that are opened here.
    pub server_id: ServerId,
    /// What all servers of an ensemble agree on.
    pub settings: Settings,
    /// The longest frame a client may send, in bytes without its length; ZooKeeper's
    /// `jute.maxbuffer`. Too small and honest writes close their connection; too large and a few
    /// clients can fill the memory.
    pub frame_max: usize,
    /// How many connections there may be at a time.
    pub connections_max: Option<usize>,
    /// How many of them may come from one address.
    pub connections_per_address_max: Option<usize>,
    /// How many watch events may wait for a client that does not read them; one more, and its
    /// connection is closed. Too small and a burst closes healthy connections; too large and a
    /// sleeping client costs memory, about 200 bytes for each.
    pub unsent_events_max: usize,
    /// Which four-letter words are answered.
    pub four_letter_words: Whitelist,
    /// With a disk, a snapshot after so many transactions; ZooKeeper's `snapCount`. Too small and
    /// the disk is busy with snapshots; too large and a start has to read long logs.
    pub snapshot_every: NonZeroU32,
    /// With a disk, how many snapshots stay, with the logs they need.
    pub snapshots_kept: NonZeroU32,
    /// With a disk, by how many bytes logs grow; see [`Rules`](zoolab_core::storage::Rules).
    pub log_grows_by: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            server_id: ServerId(1),
            settings: Settings::default(),
            frame_max: 0xF_FFFF,
            connections_max: None,
            connections_per_address_max: Some(60),
            unsent_events_max: 100_000,
            four_letter_words: Whitelist::default(),
            snapshot_every: NonZeroU32::new(100_000).expect("not zero"),
            snapshots_kept: NonZeroU32::new(3).expect("not zero"),
            log_grows_by: Rules::default().preallocate,
        }
    }
}
