//! The digest by which replicas are compared, as ZooKeeper computes it (`DigestCalculator`).

use super::node::StoredStat;
use crate::Data;

/// The digest of one node. Everything below `/zookeeper/` counts for nothing: quota counts there
/// are kept by each server on its own.
#[must_use]
pub fn node_digest(key: &str, data: &Data, stat: &StoredStat) -> u32 {
    if key.starts_with("/zookeeper/") {
        return 0;
    }
    let numbers = numbers(stat);
    let data = data.as_deref().unwrap_or_default();
    // In one piece it is computed in a third of the time.
    let mut piece = [0; PIECE];
    let (data_at, numbers_at) = (key.len(), key.len() + data.len());
    let end = numbers_at + numbers.len();
    if let Some(piece) = piece.get_mut(..end) {
        piece[..data_at].copy_from_slice(key.as_bytes());
        piece[data_at..numbers_at].copy_from_slice(data);
        piece[numbers_at..].copy_from_slice(&numbers);
        return crc32fast::hash(piece);
    }
    let mut crc = crc32fast::Hasher::new();
    for part in [key.as_bytes(), data, &numbers] {
        crc.update(part);
    }
    crc.finalize()
}

/// Up to so many bytes are put together first.
const PIECE: usize = 256;

fn numbers(stat: &StoredStat) -> [u8; 60] {
    let StoredStat { czxid, mzxid, pzxid, ctime, mtime, version, cversion, aversion, owner } = stat;
    // Not the order of the stored stat: pzxid comes before the times.
    let mut numbers = [0; 60];
    let longs = [czxid.0, mzxid.0, pzxid.0, ctime.0, mtime.0];
    for (place, long) in numbers.chunks_exact_mut(8).zip(longs) {
        place.copy_from_slice(&long.to_be_bytes());
    }
    for (place, int) in numbers[40..52].chunks_exact_mut(4).zip([version, cversion, aversion]) {
        place.copy_from_slice(&int.to_be_bytes());
    }
    numbers[52..].copy_from_slice(&owner.to_be_bytes());
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Zxid;
    use alloc::vec::Vec;

    #[test]
    fn fresh_nodes_have_the_digests_of_zookeeper() {
        let (data, stat) = (Some([].into()), StoredStat::default());
        assert_eq!(node_digest("", &data, &stat), 0x0412_8908);
        assert_eq!(node_digest("/zookeeper", &data, &stat), 0x4DB4_4D58);
        assert_eq!(node_digest("/zookeeper/quota", &data, &stat), 0);
        assert_eq!(crate::tree::Tree::new(false, 0).digest(), 0x51C6_D660);
    }

    #[test]
    fn pieces_make_no_difference() {
        let stat = StoredStat { mzxid: Zxid(5), version: 7, owner: 9, ..StoredStat::default() };
        for len in [0, 1, PIECE - 61, PIECE - 60, PIECE, 10 * PIECE] {
            for key in ["/a", "/a/long/key/with/many/names"] {
                let data: Vec<u8> = (0..len).map(|byte| byte as u8).collect();
                let whole = [key.as_bytes(), &data, &numbers(&stat)].concat();
                let digest = node_digest(key, &Some(data.into()), &stat);
                assert_eq!(digest, crc32fast::hash(&whole), "{key} with {len} bytes");
            }
        }
    }
}
