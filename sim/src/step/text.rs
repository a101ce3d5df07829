//! A step as one readable line, and back.

use std::fmt;
use std::str::FromStr;

use zoolab_core::zab::MessageKind;
use zoolab_core::{ConnId, LinkId, ServerId, Timer, Token, Zxid, client};

use super::{Call, ClientId, Keep, Step, Way};
use crate::world::apps::{conn_number, conn_of};

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { node } => write!(f, "create /n{node}"),
            Self::CreateEphemeral { node } => write!(f, "create -e /n{node}"),
            Self::Delete { node } => write!(f, "delete /n{node}"),
            Self::Set { node, value } => write!(f, "set /n{node} {value}"),
            Self::Get { node } => write!(f, "get /n{node}"),
            Self::Sync { node } => write!(f, "sync /n{node}"),
            Self::Multi { node, other } => write!(f, "multi /n{node} /n{other}"),
            Self::Close => write!(f, "close"),
            Self::Ping => write!(f, "ping"),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deliver { link, from, to, kind, zxid } if zxid.0 < 0 => {
                write!(f, "deliver {from}->{to} {kind} #{}", link.0)
            }
            Self::Deliver { link, from, to, kind, zxid } => {
                write!(f, "deliver {from}->{to} {kind} {zxid} #{}", link.0)
            }
            Self::Closed { link, at } => write!(f, "closed #{} at {at}", link.0),
            Self::Dialled { from, to } => write!(f, "dialled {from}->{to}"),
            Self::Vote { from, to } => write!(f, "vote {from}->{to}"),
            Self::Disk { server, token } => write!(f, "disk {server} @{}", token.0),
            Self::Reload { server } => write!(f, "reload {server}"),
            Self::Timeout { server, timer } => write!(f, "timeout {server} {timer:?}"),
            Self::Dial { client, server } => write!(f, "dial {client} {server}"),
            Self::Ask { client } => write!(f, "ask {client}"),
            Self::Answer { client } => write!(f, "answer {client}"),
            Self::Call { client, call } => write!(f, "call {client} {call}"),
            Self::HangUp { client } => write!(f, "hang-up {client}"),
            Self::Cut { from, to } => write!(f, "cut {from}->{to}"),
            Self::Heal { from, to } => write!(f, "heal {from}->{to}"),
            Self::Break { link } => write!(f, "break #{}", link.0),
            Self::SlowLink { from, to, us } => write!(f, "slow-link {from}->{to} {us}us"),
            Self::LoseVote { from, to } => write!(f, "lose-vote {from}->{to}"),
            Self::RepeatVote { from, to } => write!(f, "repeat-vote {from}->{to}"),
            Self::Crash { server, luck } => write!(f, "crash {server} luck={luck:x}"),
            Self::Doom { server, outputs } => write!(f, "doom {server} after {outputs}"),
            Self::PowerLoss { servers, luck, keep } => {
                write!(f, "power-loss")?;
                servers.iter().try_for_each(|server| write!(f, " {server}"))?;
                write!(f, " luck={luck:x}")?;
                match keep {
                    Keep::Beginning => Ok(()),
                    Keep::Any => f.write_str(" any"),
                }
            }
            Self::Restart { server } => write!(f, "restart {server}"),
            Self::DiskFails { server, token, luck } => {
                write!(f, "disk-fails {server} @{} luck={luck:x}", token.0)
            }
            Self::SlowDisk { server, us } => write!(f, "slow-disk {server} {us}us"),
            Self::Rot { server, luck } => write!(f, "rot {server} luck={luck:x}"),
            Self::Full { server, full: true } => write!(f, "full {server}"),
            Self::Full { server, full: false } => write!(f, "room {server}"),
            Self::Wipe { server } => write!(f, "wipe {server}"),
            Self::Pause { server } => write!(f, "pause {server}"),
            Self::Resume { server } => write!(f, "resume {server}"),
            Self::Jump { server, ms } => write!(f, "jump {server} {ms}ms"),
            Self::Drift { server, ppm } => write!(f, "drift {server} {ppm}ppm"),
            Self::Free(bounds) => {
                let json = serde_json::to_string(bounds).map_err(|_| fmt::Error)?;
                write!(f, "free {json}")
            }
            Self::Elect { leader, followers } => {
                write!(f, "elect {leader} by")?;
                followers.iter().try_for_each(|server| write!(f, " {server}"))
            }
            Self::Join { leader, server } => write!(f, "join {leader} by {server}"),
            Self::Write { server, value } => write!(f, "write {server} {value}"),
            Self::Change { server, join, observe, leave } => {
                write!(f, "change {server}")?;
                join.iter().try_for_each(|id| write!(f, " +{id}"))?;
                observe.iter().try_for_each(|id| write!(f, " ~{id}"))?;
                leave.iter().try_for_each(|id| write!(f, " -{id}"))
            }
            Self::Begin { client, how } => write!(f, "begin {client} {how}"),
            Self::Reach { client } => write!(f, "reach {client}"),
            Self::Up { client, conn } => write!(f, "up {client} ~{}", conn_number(*conn)),
            Self::Down { client, conn } => write!(f, "down {client} ~{}", conn_number(*conn)),
            Self::Wake { client, timer } => write!(f, "wake {client} {timer:?}"),
            Self::Probe { client } => write!(f, "probe {client}"),
            Self::Want { client, wish } => write!(f, "want {client} {wish}"),
            Self::GiveUp { client, call } => write!(f, "give-up {client} {call}"),
            Self::Servers { client, servers, luck } => {
                write!(f, "servers {client}")?;
                servers.iter().try_for_each(|server| write!(f, " {server}"))?;
                write!(f, " luck={luck:x}")
            }
            Self::Kill { client } => write!(f, "kill {client}"),
            Self::Freeze { client } => write!(f, "freeze {client}"),
            Self::Thaw { client } => write!(f, "thaw {client}"),
            Self::CutClient { client, server, way } => {
                write!(f, "cut-client {}", Between(*client, *server, *way))
            }
            Self::HealClient { client, server, way } => {
                write!(f, "heal-client {}", Between(*client, *server, *way))
            }
            Self::SlowClient { client, us } => write!(f, "slow-client {client} {us}us"),
            Self::BreakConn { client, conn } => {
                write!(f, "break-conn {client} ~{}", conn_number(*conn))
            }
        }
    }
}

/// One way between a client and a server, as in c0->2.
struct Between(ClientId, ServerId, Way);

impl fmt::Display for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(client, server, way) = self;
        match way {
            Way::Down => write!(f, "{server}->{client}"),
            Way::Up => write!(f, "{client}->{server}"),
        }
    }
}

fn read_client(word: &str) -> Option<ClientId> {
    word.strip_prefix('c')?.parse().ok().map(ClientId)
}

/// A line that is no step: what was found, and what was expected there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NoStep {
    /// The word that is wrong; empty if one is missing.
    pub found: String,
    /// What should be there.
    pub expected: &'static str,
}

impl fmt::Display for NoStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, expected {}", self.found, self.expected)
    }
}

impl std::error::Error for NoStep {}

/// The words of a line, taken one by one.
pub(super) struct Words<'a>(std::str::SplitAsciiWhitespace<'a>);

impl<'a> Words<'a> {
    pub(super) fn word(&mut self, expected: &'static str) -> Result<&'a str, NoStep> {
        self.0.next().ok_or(NoStep { found: String::new(), expected })
    }

    pub(super) fn parse<T>(
        &mut self,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, NoStep> {
        let word = self.word(expected)?;
        read(word).ok_or_else(|| NoStep { found: word.into(), expected })
    }

    /// Something that may be there, or not.
    pub(super) fn maybe<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut ahead = Words(self.0.clone());
        let found = read(&mut ahead)?;
        *self = ahead;
        Some(found)
    }

    /// Whether this word comes next.
    pub(super) fn flag(&mut self, flag: &str) -> bool {
        self.maybe(|words| (words.word("a word").ok()? == flag).then_some(())).is_some()
    }

    fn server(&mut self) -> Result<ServerId, NoStep> {
        self.parse("a server's number", |word| word.parse().ok().map(ServerId))
    }

    /// As many as there are.
    pub(super) fn servers(&mut self) -> Vec<ServerId> {
        let mut servers = Vec::new();
        loop {
            let mut ahead = Words(self.0.clone());
            match ahead.server() {
                Ok(server) => servers.push(server),
                Err(_) => return servers,
            }
            *self = ahead;
        }
    }

    /// Servers to join, to observe and to leave, to the end of the line.
    fn changes(&mut self) -> Result<[Vec<ServerId>; 3], NoStep> {
        let mut all = [Vec::new(), Vec::new(), Vec::new()];
        for word in self.0.by_ref() {
            let expected = "a server's number after +, ~ or -";
            let place = ["+", "~", "-"].iter().position(|sign| word.starts_with(sign));
            let server = word.get(1..).and_then(|number| number.parse().ok()).map(ServerId);
            let (Some(place), Some(server)) = (place, server) else {
                return Err(NoStep { found: word.into(), expected });
            };
            all[place].push(server);
        }
        Ok(all)
    }

    fn pair(&mut self) -> Result<(ServerId, ServerId), NoStep> {
        self.parse("two servers, as in 1->2", |word| {
            let (from, to) = word.split_once("->")?;
            Some((ServerId(from.parse().ok()?), ServerId(to.parse().ok()?)))
        })
    }

    pub(super) fn client(&mut self) -> Result<ClientId, NoStep> {
        self.parse("a client, as in c0", read_client)
    }

    fn conn(&mut self) -> Result<ConnId, NoStep> {
        self.parse("a client's connection, as in ~7", |word| {
            word.strip_prefix('~')?.parse().ok().and_then(conn_of)
        })
    }

    fn between(&mut self) -> Result<(ClientId, ServerId, Way), NoStep> {
        self.parse("a client and a server, as in c0->2 or 2->c0", |word| {
            let (from, to) = word.split_once("->")?;
            match read_client(from) {
                Some(client) => Some((client, ServerId(to.parse().ok()?), Way::Up)),
                None => Some((read_client(to)?, ServerId(from.parse().ok()?), Way::Down)),
            }
        })
    }

    fn link(&mut self) -> Result<LinkId, NoStep> {
        self.parse("a connection, as in #7", |word| {
            word.strip_prefix('#')?.parse().ok().map(LinkId)
        })
    }

    fn token(&mut self) -> Result<Token, NoStep> {
        self.parse("a write, as in @7", |word| word.strip_prefix('@')?.parse().ok().map(Token))
    }

    pub(super) fn luck(&mut self) -> Result<u64, NoStep> {
        self.parse("luck, as in luck=2a", |word| {
            u64::from_str_radix(word.strip_prefix("luck=")?, 16).ok()
        })
    }

    fn unit<T: FromStr>(&mut self, unit: &str, expected: &'static str) -> Result<T, NoStep> {
        self.parse(expected, |word| word.strip_suffix(unit)?.parse().ok())
    }

    fn node(&mut self) -> Result<u16, NoStep> {
        self.parse("a node, as in /n3", |word| word.strip_prefix("/n")?.parse().ok())
    }

    fn call(&mut self) -> Result<Call, NoStep> {
        let expected = "create, delete, set, get, sync, multi, close or ping";
        let word = self.word(expected)?;
        Ok(match word {
            "create" => {
                let mut ahead = Words(self.0.clone());
                if ahead.word("a node, as in /n3")? == "-e" {
                    *self = ahead;
                    Call::CreateEphemeral { node: self.node()? }
                } else {
                    Call::Create { node: self.node()? }
                }
            }
            "delete" => Call::Delete { node: self.node()? },
            "set" => Call::Set {
                node: self.node()?,
                value: self.parse("a number", |word| word.parse().ok())?,
            },
            "get" => Call::Get { node: self.node()? },
            "sync" => Call::Sync { node: self.node()? },
            "multi" => Call::Multi { node: self.node()?, other: self.node()? },
            "close" => Call::Close,
            "ping" => Call::Ping,
            other => return Err(NoStep { found: other.into(), expected }),
        })
    }

    fn deliver(&mut self) -> Result<Step, NoStep> {
        let (from, to) = self.pair()?;
        let kind = self.parse("a message, as in PROPOSAL", MessageKind::parse)?;
        let mut ahead = Words(self.0.clone());
        let word = ahead.word("a zxid or a connection, as in 1:3 or #7")?;
        let zxid = match word.split_once(':') {
            Some((epoch, counter)) => {
                *self = ahead;
                let zxid = epoch.parse::<u32>().ok().zip(counter.parse::<u32>().ok());
                let (epoch, counter) = zxid
                    .ok_or_else(|| NoStep { found: word.into(), expected: "a zxid, as in 1:3" })?;
                Zxid(i64::from(epoch) << 32 | i64::from(counter))
            }
            None => Zxid::NONE,
        };
        Ok(Step::Deliver { link: self.link()?, from, to, kind, zxid })
    }
}

impl FromStr for Step {
    type Err = NoStep;

    fn from_str(line: &str) -> Result<Self, NoStep> {
        let mut words = Words(line.split_ascii_whitespace());
        let expected = "a step, as in deliver, disk, timeout, call, cut, crash …";
        let verb = words.word(expected)?;
        let step = match verb {
            "deliver" => words.deliver()?,
            "closed" => {
                let link = words.link()?;
                words.parse("at", |word| (word == "at").then_some(()))?;
                Self::Closed { link, at: words.server()? }
            }
            "dialled" => words.pair().map(|(from, to)| Self::Dialled { from, to })?,
            "vote" => words.pair().map(|(from, to)| Self::Vote { from, to })?,
            "disk" => Self::Disk { server: words.server()?, token: words.token()? },
            "reload" => Self::Reload { server: words.server()? },
            "timeout" => {
                let server = words.server()?;
                let timer =
                    |word: &str| Timer::ALL.into_iter().find(|timer| format!("{timer:?}") == word);
                Self::Timeout { server, timer: words.parse("a timer, as in Silent", timer)? }
            }
            "dial" => Self::Dial { client: words.client()?, server: words.server()? },
            "ask" => Self::Ask { client: words.client()? },
            "answer" => Self::Answer { client: words.client()? },
            "call" => Self::Call { client: words.client()?, call: words.call()? },
            "hang-up" => Self::HangUp { client: words.client()? },
            "cut" => words.pair().map(|(from, to)| Self::Cut { from, to })?,
            "heal" => words.pair().map(|(from, to)| Self::Heal { from, to })?,
            "break" => Self::Break { link: words.link()? },
            "slow-link" => {
                let (from, to) = words.pair()?;
                Self::SlowLink { from, to, us: words.unit("us", "a time, as in 500us")? }
            }
            "lose-vote" => words.pair().map(|(from, to)| Self::LoseVote { from, to })?,
            "repeat-vote" => words.pair().map(|(from, to)| Self::RepeatVote { from, to })?,
            "crash" => Self::Crash { server: words.server()?, luck: words.luck()? },
            "doom" => {
                let server = words.server()?;
                words.parse("after", |word| (word == "after").then_some(()))?;
                let outputs = words.parse("a number of outputs", |word| word.parse().ok())?;
                Self::Doom { server, outputs }
            }
            "free" => {
                Self::Free(words.parse("bounds, as in {\"crashes\":1}", |word| {
                    serde_json::from_str(word).ok()
                })?)
            }
            "elect" => {
                let leader = words.server()?;
                words.parse("by", |word| (word == "by").then_some(()))?;
                Self::Elect { leader, followers: words.servers() }
            }
            "join" => {
                let leader = words.server()?;
                words.parse("by", |word| (word == "by").then_some(()))?;
                Self::Join { leader, server: words.server()? }
            }
            "change" => {
                let server = words.server()?;
                let [join, observe, leave] = words.changes()?;
                Self::Change { server, join, observe, leave }
            }
            "write" => Self::Write {
                server: words.server()?,
                value: words.parse("a number", |word| word.parse().ok())?,
            },
            "power-loss" => {
                let servers = words.servers();
                let luck = words.luck()?;
                let mut ahead = Words(words.0.clone());
                let keep = match ahead.word("any") {
                    Ok("any") => {
                        words = ahead;
                        Keep::Any
                    }
                    Ok(_) | Err(_) => Keep::Beginning,
                };
                Self::PowerLoss { servers, luck, keep }
            }
            "restart" => Self::Restart { server: words.server()? },
            "disk-fails" => Self::DiskFails {
                server: words.server()?,
                token: words.token()?,
                luck: words.luck()?,
            },
            "slow-disk" => Self::SlowDisk {
                server: words.server()?,
                us: words.unit("us", "a time, as in 500us")?,
            },
            "rot" => Self::Rot { server: words.server()?, luck: words.luck()? },
            "full" => Self::Full { server: words.server()?, full: true },
            "room" => Self::Full { server: words.server()?, full: false },
            "wipe" => Self::Wipe { server: words.server()? },
            "pause" => Self::Pause { server: words.server()? },
            "resume" => Self::Resume { server: words.server()? },
            "jump" => Self::Jump {
                server: words.server()?,
                ms: words.unit("ms", "a time, as in -500ms")?,
            },
            "drift" => Self::Drift {
                server: words.server()?,
                ppm: words.unit("ppm", "a rate, as in 200ppm")?,
            },
            "begin" => Self::Begin { client: words.client()?, how: Box::new(words.beginning()?) },
            "reach" => Self::Reach { client: words.client()? },
            "up" => Self::Up { client: words.client()?, conn: words.conn()? },
            "down" => Self::Down { client: words.client()?, conn: words.conn()? },
            "wake" => Self::Wake {
                client: words.client()?,
                timer: words.parse("a timer, as in Ping", |word| {
                    client::Timer::ALL.into_iter().find(|timer| format!("{timer:?}") == word)
                })?,
            },
            "probe" => Self::Probe { client: words.client()? },
            "want" => Self::Want { client: words.client()?, wish: words.wish()? },
            "give-up" => Self::GiveUp {
                client: words.client()?,
                call: words.parse("a number", |word| word.parse().ok())?,
            },
            "servers" => Self::Servers {
                client: words.client()?,
                servers: words.servers(),
                luck: words.luck()?,
            },
            "kill" => Self::Kill { client: words.client()? },
            "freeze" => Self::Freeze { client: words.client()? },
            "thaw" => Self::Thaw { client: words.client()? },
            "cut-client" => {
                let (client, server, way) = words.between()?;
                Self::CutClient { client, server, way }
            }
            "heal-client" => {
                let (client, server, way) = words.between()?;
                Self::HealClient { client, server, way }
            }
            "slow-client" => Self::SlowClient {
                client: words.client()?,
                us: words.unit("us", "a time, as in 500us")?,
            },
            "break-conn" => Self::BreakConn { client: words.client()?, conn: words.conn()? },
            other => return Err(NoStep { found: other.into(), expected }),
        };
        match words.0.next() {
            None => Ok(step),
            Some(more) => Err(NoStep { found: more.into(), expected: "the end of the step" }),
        }
    }
}
