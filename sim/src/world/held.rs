//! A part of a world: its own in a seeded run, shared between worlds in a search.
//!
//! Most steps of a search leave most parts as they were, so worlds share them until they change
//! one. In a seeded run there is one world, and asking each time whether it is alone is dear.

use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// See the [module](self). Equal if what is held is.
#[derive(Clone, Debug)]
pub(super) enum Held<T> {
    /// By this world alone; its copies have copies.
    Own(Box<T>),
    /// Until one of those who share it changes it.
    Shared(Arc<T>),
}

impl<T: Clone> Held<T> {
    /// The same, shared from now on.
    pub(super) fn share(&mut self) {
        if let Self::Own(own) = self {
            *self = Self::Shared(Arc::new(T::clone(own)));
        }
    }

    /// What is shared.
    ///
    /// # Panics
    /// If it is not shared; in a search everything is.
    pub(super) fn shared(&self) -> &Arc<T> {
        match self {
            Self::Own(_) => panic!("worlds share their parts in searches only"),
            Self::Shared(shared) => shared,
        }
    }

    /// To be changed. Who shares it keeps what it was.
    #[inline]
    pub(super) fn make_mut(&mut self) -> &mut T {
        match self {
            Self::Own(own) => own,
            Self::Shared(shared) => Arc::make_mut(shared),
        }
    }
}

impl<T> Deref for Held<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Own(own) => own,
            Self::Shared(shared) => shared,
        }
    }
}

impl<T: PartialEq> PartialEq for Held<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Held<T> {}

impl<T: Hash> Hash for Held<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
