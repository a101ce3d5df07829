//! Where reads stand that do not say so.
//!
//! If the order of all updates is known, and of each read in which stretches of it the answer
//! would be what it was, then no search is needed: each session puts its reads as early as it
//! can. Lower bounds come from the session alone and upper bounds from the read alone, so that
//! what does not fit as early as possible fits nowhere.

/// Something that a session did, in the order in which it asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Item {
    /// A read.
    Read {
        /// Where its answer would be what it was: from one position up to before another, in
        /// order.
        fits: Vec<(i64, i64)>,
        /// It cannot stand here or later: an update that began after it was answered does.
        before: i64,
    },
    /// An update, which stands where it stands.
    Update(i64),
}

/// Puts the reads of a session as early as they can stand. Returns the place of each item, or
/// which one fits nowhere.
///
/// # Errors
/// The first item that fits nowhere.
pub fn earliest(session: &[Item]) -> Result<Vec<i64>, usize> {
    let mut places = Vec::with_capacity(session.len());
    let mut now = 0;
    for (at, item) in session.iter().enumerate() {
        now = match item {
            Item::Update(place) if *place > now => *place,
            Item::Update(_) => return Err(at),
            Item::Read { fits, before } => {
                let first =
                    fits.iter().find(|(_, end)| *end > now).map(|(start, _)| now.max(*start));
                first.filter(|place| place < before).ok_or(at)?
            }
        };
        places.push(now);
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::luck::Luck;

    /// Whether reads can stand anywhere at all, by trying every place.
    fn anywhere(session: &[Item], now: i64, end: i64) -> bool {
        let Some((first, rest)) = session.split_first() else { return true };
        match first {
            Item::Update(place) => *place > now && anywhere(rest, *place, end),
            Item::Read { fits, before } => (now..end).any(|place| {
                let fit = fits.iter().any(|(from, to)| (*from..*to).contains(&place));
                fit && place < *before && anywhere(rest, place, end)
            }),
        }
    }

    #[test]
    fn as_early_as_possible_is_as_good_as_anywhere() {
        const END: i64 = 9;
        let mut luck = Luck::new(11);
        let mut fitting = 0;
        for _ in 0..30_000 {
            let mut update = 0;
            let session: Vec<Item> = (0..1 + luck.below(6))
                .map(|_| {
                    if luck.below(4) == 0 {
                        update += luck.below(3) as i64;
                        return Item::Update(update);
                    }
                    // Two stretches with something between them.
                    let mut edge = || luck.below(END as usize) as i64;
                    let mut edges = [edge(), edge(), edge(), edge()];
                    edges.sort_unstable();
                    let fits = vec![(edges[0], edges[1]), (edges[2], edges[3])];
                    let fits = fits.into_iter().filter(|(from, to)| from < to).collect();
                    Item::Read { fits, before: 1 + luck.below(END as usize) as i64 }
                })
                .collect();
            let due = anywhere(&session, 0, END);
            let found = earliest(&session);
            assert_eq!(found.is_ok(), due, "{session:?}");
            fitting += usize::from(due);
            if let Ok(places) = found {
                assert!(places.is_sorted(), "{session:?}");
            }
        }
        assert!((3000..27_000).contains(&fitting), "{fitting}");
    }
}
