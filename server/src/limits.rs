//! Who may come in, and how many at a time.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// How many connections there may be.
#[derive(Debug)]
pub(crate) struct Limits {
    total: Option<usize>,
    per_address: Option<usize>,
    taken: Mutex<Taken>,
}

/// Invariant: `total` is the sum of `by_address`, which has no zeros.
#[derive(Debug, Default)]
struct Taken {
    total: usize,
    by_address: BTreeMap<IpAddr, usize>,
}

impl Limits {
    /// Nobody in yet.
    pub(crate) fn new(total: Option<usize>, per_address: Option<usize>) -> Arc<Self> {
        Arc::new(Self { total, per_address, taken: Mutex::default() })
    }

    /// Lets one connection in, for as long as the seat is kept.
    ///
    /// # Errors
    /// The limit that is reached; nothing was taken.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Result<Seat, Refusal> {
        // Counting cannot panic half-way, so a poisoned lock still holds the right numbers.
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(max) = self.total.filter(|&max| taken.total >= max) {
            return Err(Refusal::Total { max });
        }
        let here = taken.by_address.get(&address).copied().unwrap_or(0);
        if let Some(max) = self.per_address.filter(|&max| here >= max) {
            return Err(Refusal::Address { max });
        }
        taken.total += 1;
        taken.by_address.insert(address, here + 1);
        Ok(Seat { limits: Arc::clone(self), address })
    }
}

/// One connection's place; dropping it makes room.
#[derive(Debug)]
pub(crate) struct Seat {
    limits: Arc<Limits>,
    address: IpAddr,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.limits.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.total -= 1;
        match taken.by_address.get_mut(&self.address) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(taken.by_address.remove(&self.address)),
        }
    }
}

/// Why a connection was not let in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Refusal {
    /// Its address has enough.
    Address {
        /// This many.
        max: usize,
    },
    /// All together are enough.
    Total {
        /// This many.
        max: usize,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { max } => write!(f, "its address has {max} connections, the most"),
            Self::Total { max } => write!(f, "there are {max} connections, the most"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 1));
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 2));

    #[test]
    fn an_address_cannot_crowd_out_another() {
        let limits = Limits::new(None, Some(2));
        let _first = limits.admit(HERE).unwrap();
        let _second = limits.admit(HERE).unwrap();
        assert_eq!(limits.admit(HERE).unwrap_err(), Refusal::Address { max: 2 });
        assert!(limits.admit(THERE).is_ok());
    }

    #[test]
    fn a_seat_given_back_is_free() {
        let limits = Limits::new(Some(1), None);
        let seat = limits.admit(HERE).unwrap();
        assert_eq!(limits.admit(THERE).unwrap_err(), Refusal::Total { max: 1 });
        drop(seat);
        assert!(limits.admit(THERE).is_ok());
        assert!(limits.taken.lock().unwrap().by_address.is_empty());
    }
}
