//! What an application wants, as words, and back.

use std::fmt::{self, Display};

use super::ClientId;
use super::text::{NoStep, Words};
use super::wish::{Beginning, Kind, Part, Spot, WATCHER_KINDS, Wish};

impl Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("/"),
            Self::Node(node) => write!(f, "/n{node}"),
            Self::Child(node, child) => write!(f, "/n{node}/c{child}"),
        }
    }
}

/// A version, or any.
struct Version(i32);

impl Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            -1 => f.write_str("any"),
            version => write!(f, "{version}"),
        }
    }
}

/// A watcher after a blank, or nothing.
struct Watch(Option<u16>);

impl Display for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |watcher| write!(f, " w{watcher}"))
    }
}

/// A word after a blank, or nothing.
struct Flag(bool, &'static str);

impl Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 { write!(f, " {}", self.1) } else { Ok(()) }
    }
}

/// The word of something that has one.
fn name<T: PartialEq>(of: T, all: &[(T, &'static str)]) -> &'static str {
    all.iter().find(|(one, _)| *one == of).map_or("", |(_, name)| name)
}

impl Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Check { at, version } => write!(f, "check {at} {}", Version(version)),
            Self::Create { at, value, kind } => {
                write!(f, "create {at} {value} {}", name(kind, &Kind::ALL))
            }
            Self::Delete { at, version } => write!(f, "delete {at} {}", Version(version)),
            Self::Set { at, value, version } => write!(f, "set {at} {value} {}", Version(version)),
        }
    }
}

impl Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddAuth { user } => write!(f, "add-auth u{user}"),
            Self::AddWatch { at, watcher, recursive } => {
                write!(f, "add-watch {at} w{watcher}{}", Flag(*recursive, "recursive"))
            }
            Self::Children { at, watch, stat } => {
                write!(f, "children {at}{}{}", Watch(*watch), Flag(*stat, "stat"))
            }
            Self::Close => f.write_str("close"),
            Self::Config { watch } => write!(f, "config{}", Watch(*watch)),
            Self::Count { at } => write!(f, "count {at}"),
            Self::Create { at, value, kind, stat } => {
                let kind = name(*kind, &Kind::ALL);
                write!(f, "create {at} {value} {kind}{}", Flag(*stat, "stat"))
            }
            Self::Delete { at, version } => write!(f, "delete {at} {}", Version(*version)),
            Self::Ephemerals { at } => write!(f, "ephemerals {at}"),
            Self::Exists { at, watch } => write!(f, "exists {at}{}", Watch(*watch)),
            Self::Get { at, watch } => write!(f, "get {at}{}", Watch(*watch)),
            Self::GetAcl { at } => write!(f, "get-acl {at}"),
            Self::Multi(parts) => {
                write!(f, "multi {}", parts.len())?;
                parts.iter().try_for_each(|part| write!(f, " {part}"))
            }
            Self::MultiRead(reads) => {
                write!(f, "multi-read {}", reads.len())?;
                reads.iter().try_for_each(|(at, children)| {
                    write!(f, " {} {at}", if *children { "children" } else { "get" })
                })
            }
            Self::RemoveWatches { at, kind, watcher, local } => {
                let kind = name(*kind, &WATCHER_KINDS);
                write!(f, "remove-watches {at} {kind}{}", Watch(*watcher))?;
                Flag(*local, "local").fmt(f)
            }
            Self::Set { at, value, version } => write!(f, "set {at} {value} {}", Version(*version)),
            Self::SetAcl { at, open, version } => {
                let acl = if *open { "open" } else { "read-only" };
                write!(f, "set-acl {at} {acl} {}", Version(*version))
            }
            Self::Sync { at } => write!(f, "sync {at}"),
            Self::WhoAmI => f.write_str("who-am-i"),
        }
    }
}

impl Display for Beginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { servers, luck, chroot, session, read_only } = self;
        f.write_str("at")?;
        servers.iter().try_for_each(|server| write!(f, " {server}"))?;
        write!(f, " luck={luck:x} {chroot}")?;
        session.map_or(Ok(()), |client| write!(f, " as {client}"))?;
        Flag(*read_only, "read-only").fmt(f)
    }
}

fn read_spot(word: &str) -> Option<Spot> {
    if word == "/" {
        return Some(Spot::Root);
    }
    let rest = word.strip_prefix("/n")?;
    match rest.split_once("/c") {
        None => rest.parse().ok().map(Spot::Node),
        Some((node, child)) => Some(Spot::Child(node.parse().ok()?, child.parse().ok()?)),
    }
}

impl Words<'_> {
    fn spot(&mut self) -> Result<Spot, NoStep> {
        self.parse("a node, as in /n3 or /n3/c1", read_spot)
    }

    fn version(&mut self) -> Result<i32, NoStep> {
        self.parse("a version, or any", |word| match word {
            "any" => Some(-1),
            number => number.parse().ok(),
        })
    }

    fn value(&mut self) -> Result<u32, NoStep> {
        self.parse("a number", |word| word.parse().ok())
    }

    fn count(&mut self) -> Result<usize, NoStep> {
        self.parse("how many, up to 64", |word| word.parse().ok().filter(|count| *count <= 64))
    }

    fn watcher(&mut self) -> Result<u16, NoStep> {
        self.parse("a watcher, as in w2", |word| word.strip_prefix('w')?.parse().ok())
    }

    fn maybe_watcher(&mut self) -> Option<u16> {
        self.maybe(|words| words.watcher().ok())
    }

    fn kind(&mut self) -> Result<Kind, NoStep> {
        self.parse("persistent, ephemeral, sequential …", |word| {
            Kind::ALL.into_iter().find(|(_, name)| *name == word).map(|(kind, _)| kind)
        })
    }

    fn part(&mut self) -> Result<Part, NoStep> {
        let expected = "check, create, delete or set";
        let word = self.word(expected)?;
        let at = self.spot()?;
        Ok(match word {
            "check" => Part::Check { at, version: self.version()? },
            "create" => Part::Create { at, value: self.value()?, kind: self.kind()? },
            "delete" => Part::Delete { at, version: self.version()? },
            "set" => Part::Set { at, value: self.value()?, version: self.version()? },
            other => return Err(NoStep { found: other.into(), expected }),
        })
    }

    pub(super) fn wish(&mut self) -> Result<Wish, NoStep> {
        let expected = "what it wants, as in create, get, add-watch, close …";
        let word = self.word(expected)?;
        Ok(match word {
            "add-auth" => Wish::AddAuth {
                user: self
                    .parse("a user, as in u1", |word| word.strip_prefix('u')?.parse().ok())?,
            },
            "add-watch" => Wish::AddWatch {
                at: self.spot()?,
                watcher: self.watcher()?,
                recursive: self.flag("recursive"),
            },
            "children" => Wish::Children {
                at: self.spot()?,
                watch: self.maybe_watcher(),
                stat: self.flag("stat"),
            },
            "close" => Wish::Close,
            "config" => Wish::Config { watch: self.maybe_watcher() },
            "count" => Wish::Count { at: self.spot()? },
            "create" => Wish::Create {
                at: self.spot()?,
                value: self.value()?,
                kind: self.kind()?,
                stat: self.flag("stat"),
            },
            "delete" => Wish::Delete { at: self.spot()?, version: self.version()? },
            "ephemerals" => Wish::Ephemerals { at: self.spot()? },
            "exists" => Wish::Exists { at: self.spot()?, watch: self.maybe_watcher() },
            "get" => Wish::Get { at: self.spot()?, watch: self.maybe_watcher() },
            "get-acl" => Wish::GetAcl { at: self.spot()? },
            "multi" => {
                let count = self.count()?;
                Wish::Multi((0..count).map(|_| self.part()).collect::<Result<_, _>>()?)
            }
            "multi-read" => {
                let count = self.count()?;
                let read = |_| {
                    let children = self.parse("get or children", |word| match word {
                        "get" => Some(false),
                        "children" => Some(true),
                        _ => None,
                    })?;
                    Ok((self.spot()?, children))
                };
                Wish::MultiRead((0..count).map(read).collect::<Result<_, _>>()?)
            }
            "remove-watches" => Wish::RemoveWatches {
                at: self.spot()?,
                kind: self.parse("any, child, data, persistent or recursive", |word| {
                    let all = WATCHER_KINDS.iter();
                    all.copied().find(|(_, name)| *name == word).map(|(kind, _)| kind)
                })?,
                watcher: self.maybe_watcher(),
                local: self.flag("local"),
            },
            "set" => Wish::Set { at: self.spot()?, value: self.value()?, version: self.version()? },
            "set-acl" => Wish::SetAcl {
                at: self.spot()?,
                open: self.parse("open or read-only", |word| match word {
                    "open" => Some(true),
                    "read-only" => Some(false),
                    _ => None,
                })?,
                version: self.version()?,
            },
            "sync" => Wish::Sync { at: self.spot()? },
            "who-am-i" => Wish::WhoAmI,
            other => return Err(NoStep { found: other.into(), expected }),
        })
    }

    pub(super) fn beginning(&mut self) -> Result<Beginning, NoStep> {
        self.parse("at", |word| (word == "at").then_some(()))?;
        let servers = self.servers();
        if servers.is_empty() {
            return Err(NoStep { found: String::new(), expected: "servers, as in 1 2 3" });
        }
        let (luck, chroot) = (self.luck()?, self.spot()?);
        let session: Option<ClientId> = self.maybe(|words| {
            words.parse("as", |word| (word == "as").then_some(())).ok()?;
            words.client().ok()
        });
        Ok(Beginning { servers, luck, chroot, session, read_only: self.flag("read-only") })
    }
}

#[cfg(test)]
mod tests {
    use crate::step::Step;

    #[test]
    fn what_applications_do_is_a_line_and_back() {
        for line in [
            "begin c0 at 1 2 3 luck=2a /",
            "begin c1 at 3 luck=0 /n2 as c0 read-only",
            "reach c0",
            "up c0 ~7",
            "down c0 ~7",
            "wake c0 Ping",
            "probe c0",
            "give-up c0 12",
            "servers c0 1 3 luck=ff",
            "kill c0",
            "freeze c0",
            "thaw c0",
            "cut-client c0->2",
            "cut-client 2->c0",
            "heal-client c0->2",
            "slow-client c0 500us",
            "break-conn c0 ~7",
            "want c0 add-auth u1",
            "want c0 add-watch /n1 w2 recursive",
            "want c0 add-watch / w2",
            "want c0 children /n3/c1 w1 stat",
            "want c0 close",
            "want c0 config",
            "want c0 count /",
            "want c0 create /n1/c0 7 ephemeral-sequential stat",
            "want c0 delete /n1 any",
            "want c0 ephemerals /",
            "want c0 exists /n1 w0",
            "want c0 get /n1",
            "want c0 get-acl /n1",
            "want c0 multi 3 check /n1 2 create /n2 5 ttl set /n1 6 any",
            "want c0 multi 0",
            "want c0 multi-read 2 get /n1 children /",
            "want c0 remove-watches /n1 any w2 local",
            "want c0 set /n1 3 any",
            "want c0 set-acl /n1 read-only 4",
            "want c0 sync /n1",
            "want c0 who-am-i",
        ] {
            let step: Step = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(step.to_string(), line);
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said() {
        let wrong = |line: &str| line.parse::<Step>().unwrap_err().to_string();
        let all = [
            "begin c0 at luck=1 /",
            "want c0 create n1 7 persistent",
            "want c0 create /n1 7 forever",
            "want c0 multi 65",
            "up c0 7",
            "cut-client 1->2",
        ];
        insta::assert_debug_snapshot!(all.map(wrong), @r#"
        [
            "\"\", expected servers, as in 1 2 3",
            "\"n1\", expected a node, as in /n3 or /n3/c1",
            "\"forever\", expected persistent, ephemeral, sequential …",
            "\"65\", expected how many, up to 64",
            "\"7\", expected a client's connection, as in ~7",
            "\"1->2\", expected a client and a server, as in c0->2 or 2->c0",
        ]
        "#);
    }
}
