//! Damaged bytes: they are noticed, and nothing panics.

use proptest::prelude::*;
use zoolab_core::Zxid;
use zoolab_core::storage::{FileKind, FileName, Files, recover};

use crate::history::{History, Wish, wishes};
use crate::{RULES, perform};

/// A directory as a server leaves it: a snapshot that took several steps, logs before and after.
fn directory(wishes: &[Wish]) -> (Files, Vec<(Zxid, crate::history::State)>) {
    let mut files = Files::new();
    let fresh = recover(&files, &RULES).unwrap();
    perform(&mut files, &fresh.repairs);
    let (mut disk, mut ops) = (fresh.disk, Vec::new());
    let mut history = History::new();
    let mut scribe = crate::scribe::Scribe::default();
    let mut states = vec![(Zxid::ZERO, history.state())];
    for (place, wish) in wishes.iter().enumerate() {
        if let Some(txn) = history.perform(wish) {
            disk.append(&txn, &mut ops);
            states.push((history.zxid, history.state()));
        }
        if place == wishes.len() / 2 {
            scribe.begin(&history, &mut disk, &mut ops);
        }
        if disk.is_writing() {
            scribe.go_on(&history, 4, &mut disk, &mut ops);
        }
    }
    perform(&mut files, &ops);
    (files, states)
}

proptest! {
    /// Epoch files have no checksum; everything else has.
    #[test]
    fn a_flipped_bit_is_an_error_or_a_prefix(
        wishes in wishes(24),
        file in any::<prop::sample::Index>(),
        bit in any::<prop::sample::Index>(),
    ) {
        let (mut files, states) = directory(&wishes);
        let all: Vec<(FileName, Vec<u8>)> =
            files.iter().map(|(name, bytes)| (name, bytes.to_vec())).collect();
        let (name, mut bytes) = all[file.index(all.len())].clone();
        let bit = bit.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        files.insert(name, bytes);
        if let Ok(recovered) = recover(&files, &RULES) {
            let state = (recovered.saved.tree, recovered.saved.sessions);
            let due = states.iter().find(|(zxid, _)| *zxid == recovered.saved.zxid_last);
            prop_assert_eq!(Some(&state), due.map(|(_, state)| state));
            let all = recovered.saved.zxid_last == states.last().unwrap().0;
            prop_assert!(all, "bit {} of {} costs transactions", bit, name);
        }
    }

    #[test]
    fn any_bytes_in_place_of_a_file_never_panic(
        wishes in wishes(24),
        file in any::<prop::sample::Index>(),
        noise in proptest::collection::vec(any::<u8>(), 0..200),
        at in any::<prop::sample::Index>(),
        keep in any::<bool>(),
    ) {
        let (mut files, _) = directory(&wishes);
        files.insert(FileName::of(FileKind::AcceptedEpoch), b"7".to_vec());
        files.insert(FileName::of(FileKind::Installing), b"0 1 2 3".to_vec());
        let all: Vec<(FileName, Vec<u8>)> =
            files.iter().map(|(name, bytes)| (name, bytes.to_vec())).collect();
        let (name, bytes) = &all[file.index(all.len())];
        let at = at.index(bytes.len() + 1);
        let mut damaged = bytes[..at].to_vec();
        damaged.extend_from_slice(&noise);
        if keep {
            damaged.extend_from_slice(bytes.get(at + noise.len()..).unwrap_or_default());
        }
        files.insert(*name, damaged);
        let _ = recover(&files, &RULES).map_err(|error| error.to_string());
        let _ = zoolab_core::storage::snapshot::is_plausible(files.get(*name).unwrap());
    }

    /// Right checksums, wrong contents: somebody else's program wrote them.
    #[test]
    fn any_payload_with_a_right_checksum_never_panics(
        wishes in wishes(12),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let (files, _) = directory(&wishes);
        let mut damaged = files.clone();
        for (name, bytes) in files.iter().filter(|(name, _)| matches!(name.kind, FileKind::Log(_))) {
            let mut bytes = bytes.to_vec();
            let mut at = 16;
            while at + 12 < bytes.len() {
                let length = i32::from_be_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
                let payload = &mut bytes[at + 12..at + 12 + length];
                for (place, value) in &flips {
                    // The zxids stay, or every history would end at once.
                    let place = place.index(payload.len());
                    if !(12..20).contains(&place) {
                        payload[place] = *value;
                    }
                }
                let checksum = u64::from(adler2::adler32_slice(payload));
                bytes[at..at + 8].copy_from_slice(&checksum.to_be_bytes());
                at += 12 + length + 1;
            }
            damaged.insert(name, bytes);
        }
        if let Ok(recovered) = recover(&damaged, &RULES) {
            prop_assert_eq!(recovered.saved.tree.unreachable(), 0);
        }
    }
}
