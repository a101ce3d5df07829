//! Numbers of 64 bits and bytes, as JSON has them: as text, for many readers of JSON round what
//! has more than 53 bits.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A zxid or a session, as ZooKeeper prints them: `"0x100000002"`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Hex(pub i64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Digits;
        impl Visitor<'_> for Digits {
            type Value = Hex;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number like \"0x1f\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Hex, E> {
                let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
                let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
                let number = number
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))?;
                Ok(Hex(number.cast_signed()))
            }
        }
        from.deserialize_str(Digits)
    }
}

/// What a node holds: a text where it is one, `{"hex":"00ff"}` where it is not.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        if let Ok(text) = std::str::from_utf8(&self.0) {
            return to.serialize_str(text);
        }
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut map = to.serialize_map(Some(1))?;
        map.serialize_entry("hex", &digits)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or {\"hex\": \"00ff\"}")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.as_bytes().to_vec()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Bytes, A::Error> {
                let wrong = || A::Error::custom("expected {\"hex\": \"00ff\"}");
                let (key, digits): (String, String) = map.next_entry()?.ok_or_else(wrong)?;
                let more = map.next_key::<String>()?.is_some();
                if key != "hex" || more {
                    return Err(wrong());
                }
                unhex(&digits).map(Bytes).ok_or_else(wrong)
            }
        }
        from.deserialize_any(Either)
    }
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_come_back() {
        for number in [0, 1, 0x1_0000_0002, i64::MAX, i64::MIN, -1] {
            let text = serde_json::to_string(&Hex(number)).unwrap();
            assert_eq!(serde_json::from_str::<Hex>(&text).unwrap(), Hex(number), "{text}");
        }
        for bytes in [&b""[..], b"text", &[0xFF, 0, 0x7F]] {
            let text = serde_json::to_string(&Bytes(bytes.to_vec())).unwrap();
            assert_eq!(serde_json::from_str::<Bytes>(&text).unwrap().0, bytes, "{text}");
        }
        for wrong in ["\"1f\"", "\"0x\"", "\"0x+1\"", "\"0x10000000000000000\"", "31"] {
            let error = serde_json::from_str::<Hex>(wrong).unwrap_err().to_string();
            assert!(error.contains("a number like \"0x1f\""), "{wrong}: {error}");
        }
        for wrong in ["{\"hex\":\"0\"}", "{\"hex\":\"0g\"}", "{\"hex\":\"\",\"a\":\"\"}", "{}"] {
            assert!(serde_json::from_str::<Bytes>(wrong).is_err(), "{wrong}");
        }
    }
}
