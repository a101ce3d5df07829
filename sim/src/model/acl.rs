//! Who may do what.

use std::net::IpAddr;

use zoolab_core::acl::AclWish;
use zoolab_core::{Acl, Code, Id};

/// One line for everybody.
pub(super) fn anyone(perms: i32) -> Vec<Acl> {
    vec![Acl { perms, id: Id { scheme: "world".into(), id: "anyone".into() } }]
}

/// Whether someone with these identities has one of the permissions in `mask`.
pub(super) fn lets(acl: &[Acl], mask: i32, who: &[Id]) -> bool {
    acl.is_empty()
        || who.iter().any(|id| &*id.scheme == "super")
        || acl.iter().filter(|line| line.perms & mask != 0).any(|line| is_one(&line.id, who))
}

fn is_one(named: &Id, who: &[Id]) -> bool {
    match &*named.scheme {
        "world" => &*named.id == "anyone",
        "digest" => who.contains(named),
        "ip" => {
            let (network, bits) = network(&named.id).expect("a node's ACL was looked at before");
            let inside = |address: Vec<u8>| {
                let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
                address.len() == network.len()
                    && (0..bits).all(|at| bit(&address, at) == bit(&network, at))
            };
            let mut addresses = who.iter().filter(|id| &*id.scheme == "ip");
            addresses.any(|id| octets(&id.id).is_some_and(inside))
        }
        _ => false,
    }
}

/// What a node gets of what a client wishes.
pub(super) fn fix(wishes: Option<&[AclWish]>, who: &[Id]) -> Result<Vec<Acl>, Code> {
    let mut distinct: Vec<&AclWish> = Vec::new();
    for wish in wishes.unwrap_or_default() {
        if !distinct.contains(&wish) {
            distinct.push(wish);
        }
    }
    let mut fixed = Vec::new();
    for wish in distinct {
        let scheme = wish.scheme.clone().ok_or(Code::InvalidAcl)?;
        if &*scheme == "auth" {
            let mine = who.iter().filter(|id| &*id.scheme == "digest").cloned();
            let lines: Vec<Acl> = mine.map(|id| Acl { perms: wish.perms, id }).collect();
            if lines.is_empty() {
                return Err(Code::InvalidAcl);
            }
            fixed.extend(lines);
            continue;
        }
        if !["world", "digest", "ip"].contains(&&*scheme) {
            return Err(Code::InvalidAcl);
        }
        // A null name is not refused but stumbled over.
        let id = wish.id.clone().ok_or(Code::MarshallingError)?;
        let good = match &*scheme {
            "world" => &*id == "anyone",
            "digest" => {
                let parts: Vec<&str> = id.split(':').collect();
                let last = parts.iter().rposition(|part| !part.is_empty());
                last == Some(1)
            }
            _ => network(&id).is_some(),
        };
        if !good {
            return Err(Code::InvalidAcl);
        }
        fixed.push(Acl { perms: wish.perms, id: Id { scheme, id } });
    }
    if fixed.is_empty() { Err(Code::InvalidAcl) } else { Ok(fixed) }
}

/// A list as those see it who may not administer: passwords are crossed out.
pub(super) fn redact(acl: &[Acl]) -> Vec<Acl> {
    let mut acl = acl.to_vec();
    for line in &mut acl {
        if &*line.id.scheme == "digest" {
            let user = line.id.id.split(':').next().unwrap_or_default();
            line.id.id = format!("{user}:x").into();
        }
    }
    acl
}

/// `address` or `address/bits`.
fn network(text: &str) -> Option<(Vec<u8>, usize)> {
    let (address, bits) = text.split_once('/').unwrap_or((text, ""));
    let address = octets(address)?;
    let all = address.len() * 8;
    let bits = if text.contains('/') { bits.parse().ok()? } else { all };
    (bits <= all).then_some((address, bits))
}

fn octets(address: &str) -> Option<Vec<u8>> {
    Some(match address.parse().ok()? {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    })
}
