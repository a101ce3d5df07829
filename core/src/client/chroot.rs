//! The node that a client takes for the root.

use alloc::borrow::ToOwned;
use core::fmt;

use super::address::{AddressError, wrong_name};
use crate::Text;

/// A chroot, or none.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Chroot(Option<Text>);

impl Chroot {
    /// The real root.
    pub const NONE: Self = Self(None);

    /// The chroot of a connection string, of which it is what follows byte `at`. Nothing and `/`
    /// are none.
    pub(super) fn parse(text: &str, at: usize) -> Result<Self, AddressError> {
        match text {
            "" | "/" => Ok(Self::NONE),
            _ => match wrong_name(text) {
                Some((place, name)) => {
                    Err(AddressError::Chroot { at: at + place, got: name.to_owned() })
                }
                None => Ok(Self(Some(text.into()))),
            },
        }
    }

    /// How the server names what the client calls `path`.
    #[must_use]
    pub fn to_server(&self, path: &str) -> Text {
        match &self.0 {
            None => path.into(),
            Some(root) if path == "/" => root.clone(),
            Some(root) => alloc::format!("{root}{path}").into(),
        }
    }

    /// How the client names what the server calls `path`. What is outside, which is the node with
    /// the configuration, has the same name for both.
    #[must_use]
    pub fn to_client(&self, path: &Text) -> Text {
        let below = self.0.as_ref().and_then(|root| path.strip_prefix(&**root));
        match below {
            Some("") => "/".into(),
            Some(below) if below.starts_with('/') => below.into(),
            Some(_) | None => path.clone(),
        }
    }
}

impl fmt::Display for Chroot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_deref().unwrap_or("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_there_and_back() {
        let none = Chroot::NONE;
        let app = Chroot::parse("/app", 0).unwrap();
        for path in ["/", "/a", "/a/b"] {
            assert_eq!(&*none.to_server(path), path);
            assert_eq!(&*none.to_client(&path.into()), path);
            assert_eq!(&*app.to_client(&app.to_server(path)), path);
        }
        assert_eq!(&*app.to_server("/"), "/app");
        assert_eq!(&*app.to_server("/a"), "/app/a");
    }

    #[test]
    fn what_is_outside_keeps_its_name() {
        let app = Chroot::parse("/zoo", 0).unwrap();
        for path in ["/zookeeper/config", "/", "/other"] {
            assert_eq!(&*app.to_client(&path.into()), path);
        }
    }
}
