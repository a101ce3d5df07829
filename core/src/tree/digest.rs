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
    let mut crc = crc32fast::Hasher::new();
    crc.update(key.as_bytes());
    if let Some(data) = data {
        crc.update(data);
    }
    crc.update(&numbers);
    crc.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_nodes_have_the_digests_of_zookeeper() {
        let (data, stat) = (Some([].into()), StoredStat::default());
        assert_eq!(node_digest("", &data, &stat), 0x0412_8908);
        assert_eq!(node_digest("/zookeeper", &data, &stat), 0x4DB4_4D58);
        assert_eq!(node_digest("/zookeeper/quota", &data, &stat), 0);
        assert_eq!(crate::tree::Tree::new(false, 0).digest(), 0x51C6_D660);
    }
}
