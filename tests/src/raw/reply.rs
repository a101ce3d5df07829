//! What a server sends: replies, whose body depends on what was asked, and watch events.

use std::fmt;

use super::jute::{Garbled, Reader, Text};
use super::numbers::{code, event, opcode};
use super::request::{Acl, Acls, Bytes, Hex, Texts};

/// What a node says of itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of the protocol's record")]
pub struct Stat {
    pub czxid: i64,
    pub mzxid: i64,
    pub ctime: i64,
    pub mtime: i64,
    pub version: i32,
    pub cversion: i32,
    pub aversion: i32,
    pub ephemeral_owner: i64,
    pub data_length: i32,
    pub num_children: i32,
    pub pzxid: i64,
}

impl Stat {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        Ok(Self {
            czxid: reader.i64()?,
            mzxid: reader.i64()?,
            ctime: reader.i64()?,
            mtime: reader.i64()?,
            version: reader.i32()?,
            cversion: reader.i32()?,
            aversion: reader.i32()?,
            ephemeral_owner: reader.i64()?,
            data_length: reader.i32()?,
            num_children: reader.i32()?,
            pzxid: reader.i64()?,
        })
    }
}

/// One result inside the reply to multi or multiRead.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OpResult {
    /// The opcode the server puts before the result; −1 before an error.
    pub opcode: i32,
    /// The error in the result's header.
    pub err: i32,
    /// The result.
    pub body: Body,
}

/// What follows the header of a reply.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Body {
    /// Nothing.
    None,
    /// getACL.
    Acl(Option<Vec<Acl>>, Stat),
    /// Bytes that this client has no form for: the reply to an opcode it does not know, or what
    /// came with an error, or what was too short for the form the opcode has.
    Bytes(Vec<u8>),
    /// getChildren and getEphemerals.
    Children(Option<Vec<Text>>),
    /// getChildren2.
    Children2(Option<Vec<Text>>, Stat),
    /// addWatch, and each error inside multi.
    Code(i32),
    /// getAllChildrenNumber.
    Count(i32),
    /// create2, createContainer, createTTL.
    Created(Text, Stat),
    /// getData, and reconfig's configuration.
    Data(Option<Vec<u8>>, Stat),
    /// whoAmI: scheme and user.
    Ids(Option<Vec<(Text, Text)>>),
    /// multi and multiRead.
    Multi(Vec<OpResult>),
    /// create and sync.
    Path(Text),
    /// exists, setData, setACL.
    Stat(Stat),
    /// sasl.
    Token(Option<Vec<u8>>),
}

impl Body {
    /// The node's stat, if the reply has one.
    pub fn stat(&self) -> Option<Stat> {
        match self {
            Self::Acl(_, stat)
            | Self::Children2(_, stat)
            | Self::Created(_, stat)
            | Self::Data(_, stat)
            | Self::Stat(stat) => Some(*stat),
            Self::None
            | Self::Bytes(_)
            | Self::Children(_)
            | Self::Code(_)
            | Self::Count(_)
            | Self::Ids(_)
            | Self::Multi(_)
            | Self::Path(_)
            | Self::Token(_) => None,
        }
    }

    /// The path a create says it made.
    pub fn path(&self) -> Option<&Text> {
        match self {
            Self::Created(path, _) | Self::Path(path) => Some(path),
            Self::None
            | Self::Acl(..)
            | Self::Bytes(_)
            | Self::Children(_)
            | Self::Children2(..)
            | Self::Code(_)
            | Self::Count(_)
            | Self::Data(..)
            | Self::Ids(_)
            | Self::Multi(_)
            | Self::Stat(_)
            | Self::Token(_) => None,
        }
    }

    /// The names of children, in the order they came.
    pub fn children(&self) -> Option<&[Text]> {
        match self {
            Self::Children(names) | Self::Children2(names, _) => names.as_deref(),
            Self::None
            | Self::Acl(..)
            | Self::Bytes(_)
            | Self::Code(_)
            | Self::Count(_)
            | Self::Created(..)
            | Self::Data(..)
            | Self::Ids(_)
            | Self::Multi(_)
            | Self::Path(_)
            | Self::Stat(_)
            | Self::Token(_) => None,
        }
    }

    /// The body of a successful reply to `opcode`.
    fn read(reader: &mut Reader<'_>, opcode: i32) -> Result<Self, Garbled> {
        Ok(match opcode {
            opcode::CREATE | opcode::SYNC => Self::Path(reader.text()?),
            opcode::CREATE2 | opcode::CREATE_CONTAINER | opcode::CREATE_TTL => {
                Self::Created(reader.text()?, Stat::read(reader)?)
            }
            opcode::EXISTS | opcode::SET_DATA | opcode::SET_ACL => Self::Stat(Stat::read(reader)?),
            opcode::GET_DATA | opcode::RECONFIG => {
                Self::Data(reader.buffer()?, Stat::read(reader)?)
            }
            opcode::GET_ACL => {
                let list = reader.list(|reader| {
                    let perms = reader.i32()?;
                    Ok(Acl { perms, scheme: reader.text()?, id: reader.text()? })
                })?;
                Self::Acl(list, Stat::read(reader)?)
            }
            opcode::GET_CHILDREN | opcode::GET_EPHEMERALS => {
                Self::Children(reader.list(Reader::text)?)
            }
            opcode::GET_CHILDREN2 => {
                Self::Children2(reader.list(Reader::text)?, Stat::read(reader)?)
            }
            opcode::MULTI | opcode::MULTI_READ => Self::Multi(Self::read_multi(reader)?),
            opcode::SASL => Self::Token(reader.buffer()?),
            opcode::GET_ALL_CHILDREN_NUMBER => Self::Count(reader.i32()?),
            opcode::ADD_WATCH => Self::Code(reader.i32()?),
            opcode::WHO_AM_I => {
                Self::Ids(reader.list(|reader| Ok((reader.text()?, reader.text()?)))?)
            }
            opcode::DELETE
            | opcode::PING
            | opcode::CHECK
            | opcode::CHECK_WATCHES
            | opcode::REMOVE_WATCHES
            | opcode::DELETE_CONTAINER
            | opcode::AUTH
            | opcode::SET_WATCHES
            | opcode::SET_WATCHES2
            | opcode::CLOSE_SESSION => Self::None,
            _ => {
                let bytes = reader.rest().to_vec();
                *reader = Reader::new(&[]);
                if bytes.is_empty() { Self::None } else { Self::Bytes(bytes) }
            }
        })
    }

    fn read_multi(reader: &mut Reader<'_>) -> Result<Vec<OpResult>, Garbled> {
        let mut results = vec![];
        loop {
            let (opcode, done, err) = (reader.i32()?, reader.bool()?, reader.i32()?);
            if done {
                return Ok(results);
            }
            let body = match opcode {
                -1 => Self::Code(reader.i32()?),
                _ => Self::read(reader, opcode)?,
            };
            results.push(OpResult { opcode, err, body });
        }
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Acl(list, stat) => write!(f, "{} {stat}", Acls(list)),
            Self::Bytes(bytes) => write!(f, "bytes {}", Hex(bytes)),
            Self::Children(names) => write!(f, "{}", Texts(names)),
            Self::Children2(names, stat) => write!(f, "{} {stat}", Texts(names)),
            Self::Code(code) => write!(f, "code {code}"),
            Self::Count(count) => write!(f, "count {count}"),
            Self::Created(path, stat) => write!(f, "{path} {stat}"),
            Self::Data(data, stat) => write!(f, "{} {stat}", Bytes(data)),
            Self::Ids(None) => f.write_str("null"),
            Self::Ids(Some(ids)) => {
                let ids: Vec<String> =
                    ids.iter().map(|(scheme, user)| format!("{scheme}:{user}")).collect();
                write!(f, "[{}]", ids.join(", "))
            }
            Self::Multi(results) => {
                let results: Vec<String> = results.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", results.join("; "))
            }
            Self::Path(path) => write!(f, "{path}"),
            Self::Stat(stat) => write!(f, "{stat}"),
            Self::Token(token) => write!(f, "token {}", Bytes(token)),
        }
    }
}

impl fmt::Display for Stat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            czxid,
            mzxid,
            ctime,
            mtime,
            version,
            cversion,
            aversion,
            ephemeral_owner,
            data_length,
            num_children,
            pzxid,
        } = self;
        write!(f, "{{c={czxid} m={mzxid} p={pzxid} ctime={ctime} mtime={mtime} v={version}")?;
        write!(f, " cv={cversion} av={aversion} owner={ephemeral_owner:#x}")?;
        write!(f, " length={data_length} children={num_children}}}")
    }
}

impl fmt::Display for OpResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { opcode, err, body } = self;
        let name = if *opcode == -1 { "error" } else { opcode::name(*opcode) };
        write!(f, "{name} {} {body}", code::name(*err))
    }
}

/// An answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reply {
    /// The request's number, given back.
    pub xid: i32,
    /// The last transaction this server had applied.
    pub zxid: i64,
    /// 0, or what went wrong.
    pub err: i32,
    /// The answer itself.
    pub body: Body,
    /// Bytes behind the body; real servers send none.
    pub rest: Vec<u8>,
}

impl Reply {
    /// The body of a reply without an error; otherwise the error.
    pub fn ok(self) -> Result<Body, Refused> {
        if self.err == code::OK { Ok(self.body) } else { Err(Refused { err: self.err }) }
    }

    /// Reads what follows the header of a reply to `opcode`.
    pub fn decode(xid: i32, zxid: i64, err: i32, opcode: i32, bytes: &[u8]) -> Self {
        let mut reader = Reader::new(bytes);
        let body = match err {
            _ if bytes.is_empty() && !(err == 0 && Self::has_body(opcode)) => Ok(Body::None),
            code::OK => Body::read(&mut reader, opcode),
            // The one error that has a body: what was read before the op that cannot be.
            _ if opcode == opcode::MULTI_READ => Body::read(&mut reader, opcode),
            _ => Ok(Body::Bytes(bytes.to_vec())),
        };
        match body {
            Ok(Body::Bytes(bytes)) => {
                Self { xid, zxid, err, body: Body::Bytes(bytes), rest: vec![] }
            }
            Ok(body) => Self { xid, zxid, err, body, rest: reader.rest().to_vec() },
            Err(_) => Self { xid, zxid, err, body: Body::Bytes(bytes.to_vec()), rest: vec![] },
        }
    }

    /// Whether a successful reply to `opcode` that ends with its header is garbled.
    fn has_body(opcode: i32) -> bool {
        Body::read(&mut Reader::new(&[]), opcode).is_err()
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { xid, zxid, err, body, rest } = self;
        write!(f, "xid={xid} zxid={zxid} {} {body}", code::name(*err))?;
        if rest.is_empty() { Ok(()) } else { write!(f, " and {} bytes more", rest.len()) }
    }
}

/// A server said no.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Refused {
    /// Its error code.
    pub err: i32,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused: {} {}", code::name(self.err), self.err)
    }
}

impl std::error::Error for Refused {}

/// A watch fired.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event {
    /// The transaction that caused it, or −1 from servers and requests that do not say.
    pub zxid: i64,
    /// The header's error: always 0.
    pub err: i32,
    /// What happened; see [`event`].
    pub kind: i32,
    /// 3, connected.
    pub state: i32,
    /// To which node.
    pub path: Text,
    /// Bytes behind the record; real servers send none.
    pub rest: Vec<u8>,
}

impl Event {
    /// Reads what follows the header of a notification.
    pub fn decode(zxid: i64, err: i32, bytes: &[u8]) -> Result<Self, Garbled> {
        let mut reader = Reader::new(bytes);
        let (kind, state, path) = (reader.i32()?, reader.i32()?, reader.text()?);
        Ok(Self { zxid, err, kind, state, path, rest: reader.rest().to_vec() })
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { zxid, err, kind, state, path, rest } = self;
        write!(f, "event {} {path} zxid={zxid}", event::name(*kind))?;
        if (*err, *state) != (0, 3) {
            write!(f, " err={err} state={state}")?;
        }
        if rest.is_empty() { Ok(()) } else { write!(f, " and {} bytes more", rest.len()) }
    }
}

/// One frame from a server, in the order of the wire.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Frame {
    /// A watch fired.
    Event(Event),
    /// An answer.
    Reply(Reply),
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => event.fmt(f),
            Self::Reply(reply) => reply.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits
            .chunks(2)
            .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    #[test]
    fn a_failed_multi_of_a_real_server_is_read() {
        let body = bytes(
            "ffffffff 00 00000000 00000000 ffffffff 00 ffffff9b ffffff9b
             ffffffff 00 fffffffe fffffffe ffffffff 01 ffffffff",
        );
        let reply = Reply::decode(1, 2, 0, opcode::MULTI, &body);
        let errors = |err| OpResult { opcode: -1, err, body: Body::Code(err) };
        assert_eq!(reply.body, Body::Multi(vec![errors(0), errors(-101), errors(-2)]));
        assert_eq!(reply.rest, b"");
    }

    #[test]
    fn a_body_that_is_too_short_stays_bytes() {
        let reply = Reply::decode(1, 2, 0, opcode::EXISTS, &[1, 2, 3]);
        assert_eq!(reply.body, Body::Bytes(vec![1, 2, 3]));
        let reply = Reply::decode(1, 2, 0, opcode::EXISTS, &[]);
        assert_eq!(reply.body, Body::Bytes(vec![]));
        let reply = Reply::decode(1, 2, -101, opcode::EXISTS, &[]);
        assert_eq!(reply.body, Body::None);
    }

    #[test]
    fn bytes_behind_a_body_are_kept() {
        let reply = Reply::decode(1, 2, 0, opcode::GET_ALL_CHILDREN_NUMBER, &[0, 0, 0, 7, 9]);
        assert_eq!((reply.body, reply.rest), (Body::Count(7), vec![9]));
        let reply = Reply::decode(1, 2, 0, opcode::DELETE, &[9]);
        assert_eq!((reply.body, reply.rest), (Body::None, vec![9]));
    }
}
