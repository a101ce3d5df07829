//! The schemes by which clients have identities: `ip`, `digest` and `super`.
//!
//! SASL and X.509 are not here: both need a connection layer that negotiates them.

use alloc::format;
use alloc::string::{String, ToString};
use core::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest as _, Sha1};

use crate::Text;
use crate::acl::Id;

/// The identity that every connection has by its address.
#[must_use]
pub fn ip_id(address: IpAddr) -> Id {
    Id { scheme: "ip".into(), id: address.to_string().into() }
}

/// `user:base64(SHA1("user:password"))` for `user:password`. A text without colon is all user.
#[must_use]
pub fn digest_of(user_and_password: &str) -> String {
    let user = user_and_password.split(':').next().unwrap_or_default();
    let hash = Sha1::digest(user_and_password.as_bytes());
    format!("{user}:{}", STANDARD.encode(hash))
}

/// What an auth packet gives its sender, or `None` if the scheme refuses.
///
/// A digest cannot be wrong: a different password makes a different identity.
#[must_use]
pub fn authenticate(
    scheme: &str,
    auth: Option<&[u8]>,
    address: IpAddr,
    super_digest: Option<&str>,
) -> Option<(Id, Option<Id>)> {
    match scheme {
        "ip" => Some((ip_id(address), None)),
        "digest" => {
            let text = String::from_utf8_lossy(auth?);
            let digest = digest_of(&text);
            let above = (super_digest == Some(digest.as_str()))
                .then(|| Id { scheme: "super".into(), id: "".into() });
            Some((Id { scheme: "digest".into(), id: digest.into() }, above))
        }
        _ => None,
    }
}

/// Whether ids of this scheme stand in for `auth` in an ACL.
#[must_use]
pub fn is_authenticated(scheme: &str) -> bool {
    scheme == "digest"
}

/// Whether a node's ACL may name this id.
#[must_use]
pub fn is_valid(scheme: &str, id: &str) -> bool {
    match scheme {
        "world" => id == "anyone",
        "digest" => {
            // Java's split drops empty parts at the end: "a:" is one part, ":b" is two.
            let trimmed = id.trim_end_matches(':');
            !trimmed.is_empty() && trimmed.split(':').count() == 2
        }
        "ip" => Network::parse(id).is_some(),
        _ => false,
    }
}

/// Whether a client's identity is the one an ACL names, other than everybody.
#[must_use]
pub fn matches(client: &Id, acl: &Id) -> bool {
    if client.scheme != acl.scheme {
        return false;
    }
    match &*acl.scheme {
        "digest" => client.id == acl.id,
        "ip" => {
            let (Some(network), Ok(address)) = (Network::parse(&acl.id), client.id.parse()) else {
                return false;
            };
            network.contains(address)
        }
        _ => false,
    }
}

/// How `whoAmI` names an identity.
#[must_use]
pub fn user_name(id: &Id) -> Text {
    match &*id.scheme {
        "digest" => id.id.split(':').next().unwrap_or_default().into(),
        "ip" => id.id.clone(),
        _ => "".into(),
    }
}

/// `address` or `address/bits`.
struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = match parse_v4(address) {
            Some(v4) => IpAddr::V4(v4.into()),
            None => IpAddr::V6(address.parse().ok()?),
        };
        let all = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= all)?,
            None => all,
        };
        Some(Self { address, bits })
    }

    fn contains(&self, other: IpAddr) -> bool {
        match (self.address, other) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                let shift = 32 - self.bits;
                (u64::from(a.to_bits()) >> shift) == (u64::from(b.to_bits()) >> shift)
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                let differ = a.to_bits() ^ b.to_bits();
                self.bits == 0 || differ >> (128 - self.bits) == 0
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

/// Four decimal parts of 0 to 255; leading zeros are decimal to Java, not octal and not an error.
fn parse_v4(text: &str) -> Option<[u8; 4]> {
    let mut parts = text.split('.');
    let mut octets = [0; 4];
    for octet in &mut octets {
        *octet = parts.next()?.parse().ok()?;
    }
    parts.next().is_none().then_some(octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_zookeeper() {
        assert_eq!(digest_of("bob:secret"), "bob:fyVmFCwVbTJYrznoSu1koqYEYF0=");
        assert_eq!(digest_of("u:p"), "u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ=");
        assert!(digest_of("nocolon").starts_with("nocolon:"));
    }

    #[test]
    fn the_super_digest_gives_a_second_identity() {
        let local = IpAddr::from([127, 0, 0, 1]);
        let digest = digest_of("super:test");
        let (id, above) =
            authenticate("digest", Some(b"super:test"), local, Some(&digest)).unwrap();
        assert_eq!(&*id.scheme, "digest");
        assert_eq!(&*above.unwrap().scheme, "super");
        assert!(authenticate("digest", Some(b"a:b"), local, Some(&digest)).unwrap().1.is_none());
        assert!(authenticate("kerberos", Some(b""), local, None).is_none());
    }

    #[test]
    fn digest_ids_have_two_parts() {
        for good in ["a:b", ":b", "a:b::"] {
            assert!(is_valid("digest", good), "{good}");
        }
        for bad in ["nocolon", "a:b:c", "a:", "", ":"] {
            assert!(!is_valid("digest", bad), "{bad}");
        }
    }

    #[test]
    fn networks_are_compared_by_their_bits() {
        let client = |id: &str| Id { scheme: "ip".into(), id: id.into() };
        let cases = [
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.0/8", "127.9.9.9", true),
            ("127.0.0.0/8", "128.0.0.1", false),
            ("0.0.0.0/0", "9.9.9.9", true),
            ("::1", "::1", true),
            ("fe80::/16", "fe80::5", true),
            ("fe80::/16", "fe81::5", false),
            ("::/0", "127.0.0.1", false),
        ];
        for (acl, address, expected) in cases {
            assert_eq!(matches(&client(address), &client(acl)), expected, "{acl} {address}");
        }
        for bad in ["1.2.3", "1.2.3.256", "1.2.3.4/33", "1.2.3.4/-1", "::1/129", "host", "", "/8"] {
            assert!(!is_valid("ip", bad), "{bad}");
        }
    }
}
