//! The first frame in each direction: how a session begins or goes on.

use super::jute::{Garbled, Reader, Writer};

/// What a client says first (`ConnectRequest`). Every field can be wrong on purpose.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hello {
    /// 0; servers do not look at it.
    pub protocol_version: i32,
    /// The highest zxid this client has seen; a server that is behind it hangs up.
    pub last_zxid_seen: i64,
    /// The session timeout asked for.
    pub timeout_ms: i32,
    /// The session to go on with, or 0 for a new one.
    pub session_id: i64,
    /// What proves that the session is ours.
    pub password: Option<Vec<u8>>,
    /// Whether a read-only server will do; `None` leaves the byte out, as the oldest clients did.
    pub read_only: Option<bool>,
}

impl Default for Hello {
    /// A new session with the longest timeout a tick of two seconds allows.
    fn default() -> Self {
        Self {
            protocol_version: 0,
            last_zxid_seen: 0,
            timeout_ms: 40_000,
            session_id: 0,
            password: Some(vec![0; 16]),
            read_only: Some(false),
        }
    }
}

impl Hello {
    /// The frame's payload.
    pub fn encode(&self) -> Vec<u8> {
        let writer = Writer::new()
            .i32(self.protocol_version)
            .i64(self.last_zxid_seen)
            .i32(self.timeout_ms)
            .i64(self.session_id)
            .buffer(self.password.as_deref());
        match self.read_only {
            Some(read_only) => writer.bool(read_only).finish(),
            None => writer.finish(),
        }
    }
}

/// What a server answers (`ConnectResponse`).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Welcome {
    /// 0.
    pub protocol_version: i32,
    /// The session timeout granted; 0 when there is no such session.
    pub timeout_ms: i32,
    /// The session's id; 0 when there is no such session.
    pub session_id: i64,
    /// What will prove that the session is ours.
    pub password: Option<Vec<u8>>,
    /// Whether the server is read-only; absent if the client left the byte out.
    pub read_only: Option<bool>,
    /// Bytes behind the record.
    pub rest: Vec<u8>,
}

impl Welcome {
    /// Reads a frame's payload.
    pub fn decode(bytes: &[u8]) -> Result<Self, Garbled> {
        let mut reader = Reader::new(bytes);
        let protocol_version = reader.i32()?;
        let timeout_ms = reader.i32()?;
        let session_id = reader.i64()?;
        let password = reader.buffer()?;
        let read_only = if reader.rest().is_empty() { None } else { Some(reader.bool()?) };
        let rest = reader.rest().to_vec();
        Ok(Self { protocol_version, timeout_ms, session_id, password, read_only, rest })
    }

    /// Whether the server knows no such session, or not with that password.
    pub fn is_expired(&self) -> bool {
        self.timeout_ms <= 0
    }

    /// What a client says to go on with this session.
    pub fn again(&self) -> Hello {
        Hello { session_id: self.session_id, password: self.password.clone(), ..Hello::default() }
    }
}

/// The password every server gives to the session `id`: a function of the id alone.
pub fn derived_password(id: i64) -> [u8; 16] {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;
    let mut state = (id.cast_unsigned() ^ 0xB341_5C00 ^ MULTIPLIER) & MASK;
    let mut password = [0; 16];
    for word in password.chunks_mut(4) {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(0xB) & MASK;
        let bits = u32::try_from(state >> 16).expect("48 bits less 16 are 32");
        word.copy_from_slice(&bits.to_le_bytes());
    }
    password
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn passwords_are_those_of_real_servers() {
        let cases = [
            (0x0100_0000_0000_0000, "f22acd4a97e69d6d20a49bb638eadb38"),
            (0x0100_0012_3456_0000, "28dca4e895de729d466f3f4d668d25c0"),
            (0x0100_0010_1c38_0000, "ba44017fbf9056ab2807fc73a0443faf"),
            (1, "054cc74a37327db215e702e20c73f005"),
        ];
        for (id, expected) in cases {
            assert_eq!(hex(&derived_password(id)), expected, "session {id:#x}");
        }
    }

    #[test]
    fn a_hello_has_the_bytes_of_real_clients() {
        let hello = Hello { timeout_ms: 10_000, ..Hello::default() };
        let expected = "00000000000000000000000000002710000000000000000000000010\
                        0000000000000000000000000000000000";
        assert_eq!(hex(&hello.encode()), expected);
        assert_eq!(Hello { read_only: None, ..hello }.encode().len(), 44);
    }
}
