//! Who may do what with a node: permissions, identities, and lists of both.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::Text;
use crate::auth;
use crate::code::Code;

/// Permission bits, as on the wire.
pub mod perms {
    /// Read data and children.
    pub const READ: i32 = 1;
    /// Set data.
    pub const WRITE: i32 = 2;
    /// Create children.
    pub const CREATE: i32 = 4;
    /// Delete children.
    pub const DELETE: i32 = 8;
    /// Set the ACL.
    pub const ADMIN: i32 = 16;
    /// Everything.
    pub const ALL: i32 = 31;
}

/// Who a client is under one scheme.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Id {
    /// `world`, `digest`, `ip`, `super` …
    pub scheme: Text,
    /// The name within the scheme.
    pub id: Text,
}

impl Id {
    /// The one for everybody.
    #[must_use]
    pub fn anyone() -> Self {
        Self { scheme: "world".into(), id: "anyone".into() }
    }

    fn is_anyone(&self) -> bool {
        &*self.scheme == "world" && &*self.id == "anyone"
    }
}

/// One line of an ACL that a node has.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Acl {
    /// Bits of [`perms`], kept as given.
    pub perms: i32,
    /// Who has them.
    pub id: Id,
}

/// One line of an ACL as a client sends it; anything may be null.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct AclWish {
    /// Bits of [`perms`].
    pub perms: i32,
    /// The scheme, which must not be null in the end.
    pub scheme: Option<Text>,
    /// The name; null is fine for scheme `auth`.
    pub id: Option<Text>,
}

/// The ACL of a node. Shared: most nodes of a tree have one of a few.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct AclList {
    lines: Arc<[Acl]>,
    /// What everybody may do, so that most questions need no look at the lines. Invariant:
    /// follows from them.
    anyone: i32,
}

impl AclList {
    /// A list as given.
    #[must_use]
    pub fn new(acls: Vec<Acl>) -> Self {
        Self::of(acls.into())
    }

    fn of(lines: Arc<[Acl]>) -> Self {
        let open = lines.iter().filter(|acl| acl.id.is_anyone());
        let anyone = open.fold(0, |perms, acl| perms | acl.perms);
        // An empty list lets everybody, as ZooKeeper's does; no client can make one.
        let anyone = if lines.is_empty() { !0 } else { anyone };
        Self { lines, anyone }
    }

    /// Everybody may do everything.
    #[must_use]
    pub fn open() -> Self {
        Self::new(alloc::vec![Acl { perms: perms::ALL, id: Id::anyone() }])
    }

    /// Everybody may read, nobody may do more.
    #[must_use]
    pub fn read_only() -> Self {
        Self::new(alloc::vec![Acl { perms: perms::READ, id: Id::anyone() }])
    }

    /// The lines, in order.
    #[must_use]
    pub fn lines(&self) -> &[Acl] {
        &self.lines
    }

    /// Whether everybody has one of these permissions; saves most of the checking.
    #[must_use]
    pub const fn lets_anyone(&self, mask: i32) -> bool {
        self.anyone & mask != 0
    }

    /// Whether a client with these identities has at least one permission of `mask`.
    #[must_use]
    pub fn lets(&self, mask: i32, who: &[Id]) -> bool {
        if self.lets_anyone(mask) || who.iter().any(|id| &*id.scheme == "super") {
            return true;
        }
        self.lines
            .iter()
            .filter(|acl| acl.perms & mask != 0)
            .any(|acl| who.iter().any(|id| auth::matches(id, &acl.id)))
    }

    /// The list as someone without ADMIN may see it: digests of passwords are crossed out.
    #[must_use]
    pub fn redacted(&self) -> Self {
        let crossed_out = |acl: &Acl| match acl.id.id.split_once(':') {
            Some((user, _)) if &*acl.id.scheme == "digest" => {
                let id = alloc::format!("{user}:x").into();
                Acl { perms: acl.perms, id: Id { scheme: acl.id.scheme.clone(), id } }
            }
            Some(_) | None => acl.clone(),
        };
        Self::of(self.lines.iter().map(crossed_out).collect())
    }
}

/// Whether a client wishes what nearly all wish: that everybody may do everything.
#[must_use]
pub fn wishes_open(wishes: Option<&[AclWish]>) -> bool {
    let Some([AclWish { perms, scheme, id }]) = wishes else { return false };
    let (scheme, id) = (scheme.as_deref(), id.as_deref());
    *perms == perms::ALL && scheme == Some("world") && id == Some("anyone")
}

/// Turns what a client wishes into what a node gets, or says why not.
///
/// Follows `PrepRequestProcessor.fixupACL`: exact duplicates go first, `auth` becomes the
/// client's own authenticated identities, everything else must be valid in its scheme.
pub fn fix(wishes: Option<&[AclWish]>, who: &[Id]) -> Result<AclList, Code> {
    let wishes = wishes.unwrap_or_default();
    if wishes.is_empty() {
        return Err(Code::InvalidAcl);
    }
    let mut fixed = Vec::with_capacity(wishes.len());
    for (place, wish) in wishes.iter().enumerate() {
        if wishes[..place].contains(wish) {
            continue;
        }
        let Some(scheme) = &wish.scheme else { return Err(Code::InvalidAcl) };
        match (&**scheme, wish.id.as_deref()) {
            ("auth", _) => {
                let before = fixed.len();
                fixed.extend(
                    who.iter()
                        .filter(|id| auth::is_authenticated(&id.scheme))
                        .map(|id| Acl { perms: wish.perms, id: id.clone() }),
                );
                if fixed.len() == before {
                    return Err(Code::InvalidAcl);
                }
            }
            // The Java server runs into a null pointer here and calls it marshalling.
            ("world" | "digest" | "ip", None) => return Err(Code::MarshallingError),
            (known, Some(id)) if auth::is_valid(known, id) => {
                let id = Id { scheme: scheme.clone(), id: id.into() };
                fixed.push(Acl { perms: wish.perms, id });
            }
            (_, _) => return Err(Code::InvalidAcl),
        }
    }
    Ok(AclList::new(fixed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(perms: i32, scheme: &str, id: &str) -> AclWish {
        AclWish { perms, scheme: Some(scheme.into()), id: Some(id.into()) }
    }

    fn id(scheme: &str, id: &str) -> Id {
        Id { scheme: scheme.into(), id: id.into() }
    }

    #[test]
    fn duplicates_go_and_order_stays() {
        let open = wish(31, "world", "anyone");
        let ip = wish(1, "ip", "10.0.0.1");
        let list = fix(Some(&[open.clone(), ip.clone(), open]), &[]).unwrap();
        assert_eq!(list.lines().len(), 2);
        assert_eq!(&*list.lines()[1].id.scheme, "ip");
    }

    #[test]
    fn the_usual_wish_is_known_without_fixing_it() {
        let open = [wish(31, "world", "anyone")];
        assert!(wishes_open(Some(&open)));
        assert_eq!(fix(Some(&open), &[]), Ok(AclList::open()));
        for other in [wish(30, "world", "anyone"), wish(31, "ip", "anyone"), wish(31, "world", "")]
        {
            assert!(!wishes_open(Some(&[other])));
        }
        assert!(!wishes_open(None) && !wishes_open(Some(&[])));
    }

    #[test]
    fn nothing_is_an_invalid_acl() {
        assert_eq!(fix(None, &[]), Err(Code::InvalidAcl));
        assert_eq!(fix(Some(&[]), &[]), Err(Code::InvalidAcl));
        let nobody = AclWish { perms: 31, scheme: None, id: None };
        assert_eq!(fix(Some(&[nobody]), &[]), Err(Code::InvalidAcl));
    }

    #[test]
    fn auth_becomes_the_authenticated_identities_only() {
        let who = [id("ip", "127.0.0.1"), id("digest", "a:b"), id("super", "")];
        let list = fix(Some(&[wish(3, "auth", "whatever")]), &who).unwrap();
        assert_eq!(list.lines(), [Acl { perms: 3, id: id("digest", "a:b") }]);
        let nobody = [id("ip", "127.0.0.1")];
        assert_eq!(fix(Some(&[wish(3, "auth", "")]), &nobody), Err(Code::InvalidAcl));
    }

    #[test]
    fn a_null_id_is_a_marshalling_error_except_for_auth() {
        let null = |scheme: &str| AclWish { perms: 31, scheme: Some(scheme.into()), id: None };
        assert_eq!(fix(Some(&[null("world")]), &[]), Err(Code::MarshallingError));
        let who = [id("digest", "a:b")];
        assert!(fix(Some(&[null("auth")]), &who).is_ok());
    }

    #[test]
    fn any_common_bit_is_enough() {
        let list = AclList::new(alloc::vec![Acl { perms: perms::ADMIN, id: id("digest", "a:b") }]);
        let who = [id("digest", "a:b")];
        assert!(list.lets(perms::READ | perms::ADMIN, &who));
        assert!(!list.lets(perms::READ, &who));
        assert!(list.lets(perms::READ, &[id("super", "")]));
        assert!(AclList::new(alloc::vec![]).lets(perms::ALL, &[]));
    }

    #[test]
    fn digests_are_crossed_out() {
        let list = AclList::new(alloc::vec![
            Acl { perms: 31, id: id("digest", "u:secret") },
            Acl { perms: 1, id: id("ip", "::1") },
        ]);
        let seen = list.redacted();
        assert_eq!(&*seen.lines()[0].id.id, "u:x");
        assert_eq!(&*seen.lines()[1].id.id, "::1");
    }
}
