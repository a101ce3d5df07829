//! Where the two servers may differ: because they follow different releases, or on purpose.
//!
//! The left server is a ZooKeeper of 3.8.0 as Debian builds it, the right one follows 3.9. Each
//! entry turns one answer into what the other server says to the same request; after that the two
//! must be equal again in everything. Nothing that is not in this table may differ.
//!
//! `docs/differences.md` tells users the same. What it lists and this table does not, a sequence
//! never meets: `generate` says why where it leaves something out, and `refusals` asks the rest.

use super::op::Ask;
use super::pool::WatchKind;
use super::side::Seen;
use crate::raw::{
    Acl, Body, Event, OpResult, Reply, Request, Stat, Text, code, flag, opcode, watcher,
};

/// Two answers that differ, and what is known about them.
#[derive(Debug)]
pub struct Case<'a> {
    /// The request they answer, if they answer one.
    pub ask: Option<&'a Ask>,
    /// What the left server said.
    pub left: &'a Seen,
    /// What the right server said.
    pub right: &'a Seen,
    /// The left server's zxids of the transactions an event here can come from.
    pub causes: &'a [i64],
    /// Whether another session may have a watch at the request's path.
    pub watched_by_others: bool,
    /// The kind of watch this session uses at the request's path.
    pub own_kind: WatchKind,
}

/// How a difference is explained.
#[derive(Debug)]
pub struct Verdict {
    /// The left answer as it is compared.
    pub left: Seen,
    /// The right answer as it is compared.
    pub right: Seen,
    /// The left server spent this zxid for nothing.
    pub skip: Option<i64>,
    /// What makes the two servers' states equal again.
    pub mend: Vec<Mend>,
}

/// A request made on both sides after a difference.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Mend {
    /// Answers must be equal.
    Strict(Request),
    /// A watch is removed if there is one; there may be one on one side only.
    Unwatch(Request),
}

/// One difference between the releases.
#[derive(Debug)]
pub struct Accepted {
    /// What it is called in reports.
    pub name: &'static str,
    /// Who does what, and since when.
    pub reason: &'static str,
    /// Possible explanations of a case; none if it is not of this kind.
    pub explain: fn(&Case<'_>) -> Vec<Verdict>,
}

/// All of them.
pub const ACCEPTED: &[Accepted] = &[
    Accepted {
        name: "event-zxid",
        reason: "a notification's header carries -1 in 3.8 and the zxid of its cause since 3.9.0",
        explain: event_zxid,
    },
    Accepted {
        name: "undecodable-write-zxid",
        reason: "a write whose body cannot be read consumes a zxid in 3.8 and none since 3.9.0",
        explain: undecodable_write_zxid,
    },
    Accepted {
        name: "exists-needs-read",
        reason: "exists checks READ since 3.9.2 and leaves no watch when refused; Debian's 3.8.0 \
                 does not check",
        explain: exists_needs_read,
    },
    Accepted {
        name: "watcher-types-4-and-5",
        reason: "checkWatches and removeWatches know Persistent and PersistentRecursive since 3.9.0",
        explain: watcher_types_4_and_5,
    },
    Accepted {
        name: "check-watches-scope",
        reason: "checkWatches sees every connection's watches of any mode in 3.8, and its own \
                 connection's of the given mode since 3.9.0",
        explain: check_watches_scope,
    },
    Accepted {
        name: "remove-watches-mode",
        reason: "removeWatches of type Children or Data removes persistent watches in 3.8, and \
                 one-shot watches only since 3.9.0",
        explain: remove_watches_mode,
    },
    Accepted {
        name: "create2-in-multi",
        reason: "create2 inside multi answers as create, without a Stat, in 3.8.0; since 3.9.0 it \
                 keeps its own answer",
        explain: create2_in_multi,
    },
    Accepted {
        name: "bad-create-in-multi",
        reason: "a create inside multi with a flag that does not fit its opcode, or with a null \
                 ACL, fails alone in 3.8.0; since 3.9.0 the whole multi is unreadable",
        explain: bad_create_in_multi,
    },
    Accepted {
        name: "ipv6-acl",
        reason: "an ip ACL with an IPv6 address is INVALIDACL before 3.9.4",
        explain: ipv6_acl,
    },
    Accepted {
        name: "surrogate-pairs",
        reason: "on purpose: a character above U+FFFF is sent as the UTF-8 it came as, not as two \
                 surrogates that no decoder reads back",
        explain: surrogate_pairs,
    },
];

/// The two replies of a case, if both sides replied.
fn replies<'a>(case: &Case<'a>) -> Option<(&'a Reply, &'a Reply)> {
    match (case.left, case.right) {
        (Seen::Reply { reply: left, .. }, Seen::Reply { reply: right, .. }) => Some((left, right)),
        _ => None,
    }
}

/// The case's whole request.
fn request<'a>(case: &Case<'a>) -> Option<&'a Request> {
    case.ask.and_then(Ask::request)
}

/// The left reply is compared as if it were refused with `err`.
fn left_refused(case: &Case<'_>, err: i32, mend: Vec<Mend>) -> Vec<Verdict> {
    let mut left = case.left.clone();
    if let Seen::Reply { reply, .. } = &mut left {
        (reply.err, reply.body) = (err, Body::None);
    }
    vec![Verdict { left, right: case.right.clone(), skip: None, mend }]
}

fn event_zxid(case: &Case<'_>) -> Vec<Verdict> {
    let (Seen::Event(left), Seen::Event(right)) = (case.left, case.right) else { return vec![] };
    if left.zxid != -1 || right.zxid == -1 {
        return vec![];
    }
    let as_of = |cause: &i64| Verdict {
        left: Seen::Event(Event { zxid: *cause, ..left.clone() }),
        right: case.right.clone(),
        skip: None,
        mend: vec![],
    };
    case.causes.iter().map(as_of).collect()
}

fn undecodable_write_zxid(case: &Case<'_>) -> Vec<Verdict> {
    let Some(ask @ Ask::Cut { .. }) = case.ask else { return vec![] };
    let Some((left, right)) = replies(case) else { return vec![] };
    let unreadable = code::MARSHALLING_ERROR;
    // A multi is given its zxid before it is read, in both releases.
    if !ask.is_write() || ask.opcode() == opcode::MULTI {
        return vec![];
    }
    if (left.err, right.err) != (unreadable, unreadable) {
        return vec![];
    }
    vec![Verdict {
        left: case.left.clone(),
        right: case.right.clone(),
        skip: Some(left.zxid),
        mend: vec![],
    }]
}

fn exists_needs_read(case: &Case<'_>) -> Vec<Verdict> {
    let Some(Request::Exists { path, watch }) = request(case) else { return vec![] };
    let Some((left, right)) = replies(case) else { return vec![] };
    if (left.err, right.err) != (code::OK, code::NO_AUTH) {
        return vec![];
    }
    // That the node may indeed not be read, both must say of getData.
    let mut mend = vec![Mend::Strict(Request::GetData { path: path.clone(), watch: false })];
    if *watch {
        mend.push(unwatch(path, watcher::DATA));
    }
    left_refused(case, code::NO_AUTH, mend)
}

fn watcher_types_4_and_5(case: &Case<'_>) -> Vec<Verdict> {
    let Some(request) = request(case) else { return vec![] };
    let (Request::CheckWatches { path, kind } | Request::RemoveWatches { path, kind }) = request
    else {
        return vec![];
    };
    let Some((left, right)) = replies(case) else { return vec![] };
    let possible = match *kind {
        watcher::PERSISTENT => case.own_kind == WatchKind::Persistent,
        watcher::PERSISTENT_RECURSIVE => case.own_kind == WatchKind::Recursive,
        _ => return vec![],
    };
    let found = right.err == code::OK && possible;
    if left.err != code::MARSHALLING_ERROR || !(found || right.err == code::NO_WATCHER) {
        return vec![];
    }
    let removed = matches!(request, Request::RemoveWatches { .. }) && found;
    let mend = if removed { vec![unwatch(path, watcher::ANY)] } else { vec![] };
    left_refused(case, right.err, mend)
}

fn check_watches_scope(case: &Case<'_>) -> Vec<Verdict> {
    let Some(Request::CheckWatches { kind, .. }) = request(case) else { return vec![] };
    let Some((left, right)) = replies(case) else { return vec![] };
    let other_mode = case.own_kind != WatchKind::Standard && *kind != watcher::ANY;
    if (left.err, right.err) != (code::OK, code::NO_WATCHER) {
        return vec![];
    }
    if !(case.watched_by_others || other_mode) {
        return vec![];
    }
    left_refused(case, code::NO_WATCHER, vec![])
}

fn remove_watches_mode(case: &Case<'_>) -> Vec<Verdict> {
    let Some(Request::RemoveWatches { path, kind }) = request(case) else { return vec![] };
    let Some((left, right)) = replies(case) else { return vec![] };
    let typed = [watcher::CHILDREN, watcher::DATA].contains(kind);
    if (left.err, right.err) != (code::OK, code::NO_WATCHER) {
        return vec![];
    }
    if !typed || case.own_kind == WatchKind::Standard {
        return vec![];
    }
    left_refused(case, code::NO_WATCHER, vec![unwatch(path, watcher::ANY)])
}

fn create2_in_multi(case: &Case<'_>) -> Vec<Verdict> {
    let Some(Request::Multi(ops)) = request(case) else { return vec![] };
    let Seen::Reply { ask, reply } = case.right else { return vec![] };
    let Body::Multi(results) = &reply.body else { return vec![] };
    if ops.len() != results.len() {
        return vec![];
    }
    // The right answer loses what the left one never had, if that is what a new node has.
    let without_stat = |(op, result): (&Request, &OpResult)| match (op, &result.body) {
        (
            Request::Create { opcode: opcode::CREATE2, data, flags, .. },
            Body::Created(path, stat),
        ) if *flags != flag::CONTAINER && is_fresh(stat, reply.zxid, data, *flags) => {
            let body = Body::Path(path.clone());
            OpResult { opcode: opcode::CREATE, err: result.err, body }
        }
        _ => result.clone(),
    };
    let body = Body::Multi(ops.iter().zip(results).map(without_stat).collect());
    let right = Seen::Reply { ask: *ask, reply: Reply { body, ..reply.clone() } };
    vec![Verdict { left: case.left.clone(), right, skip: None, mend: vec![] }]
}

/// Whether `stat` is that of a node just created by `zxid`.
fn is_fresh(stat: &Stat, zxid: i64, data: &Option<Vec<u8>>, flags: i32) -> bool {
    let Stat { ctime, mtime, ephemeral_owner, .. } = *stat;
    let ephemeral = [flag::EPHEMERAL, flag::EPHEMERAL_SEQUENTIAL].contains(&flags);
    let length = data.as_ref().map_or(0, Vec::len);
    let expected = Stat {
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctime,
        mtime: ctime,
        ephemeral_owner,
        data_length: i32::try_from(length).expect("a frame is short"),
        ..Stat::default()
    };
    *stat == expected && mtime == ctime && ephemeral == (ephemeral_owner != 0)
}

fn bad_create_in_multi(case: &Case<'_>) -> Vec<Verdict> {
    let Some(Request::Multi(ops)) = request(case) else { return vec![] };
    let Some((left, right)) = replies(case) else { return vec![] };
    let Body::Multi(results) = &left.body else { return vec![] };
    let failed = results.iter().all(|result| result.opcode == -1);
    if !failed || (left.err, right.err) != (code::OK, code::MARSHALLING_ERROR) {
        return vec![];
    }
    if !ops.iter().any(is_bad_create) {
        return vec![];
    }
    left_refused(case, code::MARSHALLING_ERROR, vec![])
}

fn is_bad_create(op: &Request) -> bool {
    if let Request::Create { acl, flags, .. } = op {
        acl.is_none() || !(flag::PERSISTENT..=flag::CONTAINER).contains(flags)
    } else if let Request::CreateTtl { acl, flags, .. } = op {
        acl.is_none() || !(flag::PERSISTENT..=flag::TTL_SEQUENTIAL).contains(flags)
    } else {
        false
    }
}

fn ipv6_acl(case: &Case<'_>) -> Vec<Verdict> {
    let Some(request) = request(case) else { return vec![] };
    let Some((left, right)) = replies(case) else { return vec![] };
    if has_ipv6(request) && (left.err, right.err) == (code::INVALID_ACL, code::NO_NODE) {
        return left_refused(case, code::NO_NODE, vec![]);
    }
    // Inside multi the same, for the one op that failed.
    let (Request::Multi(ops), Body::Multi(results)) = (request, &left.body) else { return vec![] };
    let refused =
        OpResult { opcode: -1, err: code::INVALID_ACL, body: Body::Code(code::INVALID_ACL) };
    let orphaned = OpResult { opcode: -1, err: code::NO_NODE, body: Body::Code(code::NO_NODE) };
    let as_newer = |(op, result): (&Request, &OpResult)| {
        if has_ipv6(op) && *result == refused { orphaned.clone() } else { result.clone() }
    };
    let body = Body::Multi(ops.iter().zip(results).map(as_newer).collect());
    let mut verdicts = left_refused(case, left.err, vec![]);
    for verdict in &mut verdicts {
        if let Seen::Reply { reply, .. } = &mut verdict.left {
            reply.body = body.clone();
        }
    }
    verdicts
}

fn has_ipv6(request: &Request) -> bool {
    let (Request::Create { acl, .. } | Request::SetAcl { acl, .. }) = request else {
        return false;
    };
    let is_ipv6 = |entry: &Acl| entry.scheme == "ip" && entry.id.bytes().contains(&b':');
    acl.iter().flatten().any(is_ipv6)
}

fn surrogate_pairs(case: &Case<'_>) -> Vec<Verdict> {
    let mut left = case.left.clone();
    match &mut left {
        Seen::Event(event) => event.path = joined(&event.path),
        Seen::Reply { reply, .. } => {
            let Body::Path(path) = &mut reply.body else { return vec![] };
            *path = joined(path);
        }
        Seen::Closed | Seen::Failed(_) | Seen::StillOpen | Seen::Welcome { .. } => return vec![],
    }
    vec![Verdict { left, right: case.right.clone(), skip: None, mend: vec![] }]
}

/// The text with each pair of surrogates, three bytes each, as the one character they stand for.
fn joined(text: &Text) -> Text {
    let mut rest = text.bytes();
    let mut bytes = vec![];
    while let Some(first) = rest.first() {
        let pair = rest.first_chunk().and_then(|[h, h1, h2, l, l1, l2]: &[u8; 6]| {
            let unit = |a: &u8, b: &u8| 0xd000 | u16::from(*a & 63) << 6 | u16::from(*b & 63);
            let units = [unit(h1, h2), unit(l1, l2)];
            let decoded = char::decode_utf16(units).next().and_then(Result::ok);
            decoded.filter(|c| [*h, *l] == [0xed, 0xed] && *c > '\u{ffff}')
        });
        if let Some(character) = pair {
            bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
            rest = &rest[6..];
        } else {
            bytes.push(*first);
            rest = &rest[1..];
        }
    }
    Text(text.0.as_ref().map(|_| bytes))
}

fn unwatch(path: &Text, kind: i32) -> Mend {
    Mend::Unwatch(Request::RemoveWatches { path: path.clone(), kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_surrogates_is_one_character() {
        let pair = Text(Some(b"/\xed\xa0\xbd\xed\xb8\x80\xed\xa0\xbd.".to_vec()));
        assert_eq!(joined(&pair).bytes(), b"/\xf0\x9f\x98\x80\xed\xa0\xbd.");
        assert_eq!(joined(&Text::NULL), Text::NULL);
        assert_eq!(joined(&"/\u{e4}\u{ffef}".into()), "/\u{e4}\u{ffef}");
    }
}
