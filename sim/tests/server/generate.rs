//! What may happen next, drawn so that most of it hits something.

use std::rc::Rc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use zoolab_core::acl::AclWish;
use zoolab_core::request::{ConnectRequest, Create, CreateOp, Op, ReadOp, SetWatches, opcode};
use zoolab_core::session::password;
use zoolab_core::{ConnId, Data, Request, SessionId, Settings, Text, Timer, Xid, Zxid};

use crate::expected::{DIGESTS, Expected, START, SUPER, Spoil, Step, Theme};
use crate::places::{Places, SEEN_MOST};

pub(crate) fn beginning(spoil: Option<Spoil>) -> BoxedStrategy<Expected> {
    // Most runs have the defaults but for one or two things.
    let rarely = || prop::bool::weighted(0.3);
    let settings = (
        rarely(),
        rarely(),
        prop::bool::weighted(0.1),
        rarely(),
        option::weighted(0.3, 0..5000_u32),
    );
    let theme = (select(vec![1, 5, 30, 100]), any::<bool>(), rarely())
        .prop_map(|(lazy, narrow, restless)| Theme { lazy, narrow, restless });
    (settings, theme)
        .prop_map(move |(settings, theme)| {
            let (extended_types, enforce_quota, skip_acl, reconfig, never_used_ms) = settings;
            let settings = Settings {
                extended_types,
                enforce_quota,
                skip_acl,
                reconfig,
                super_digest: Some(SUPER.into()),
                container_never_used_ms: never_used_ms,
                ..Settings::with_tick(2000)
            };
            Expected::new(settings, theme, START, spoil)
        })
        .boxed()
}

pub(crate) fn step(state: &Expected) -> BoxedStrategy<Step> {
    let (fresh, open) = (state.conns(true), state.conns(false));
    let few = fresh.len() + open.len() < 4;
    let mut choices: Vec<(u32, BoxedStrategy<Step>)> = vec![
        (if few { 40 } else { 4 }, accept(state)),
        (16, wait()),
        (8, Just(Step::Timeout(Timer::Containers)).boxed()),
        // Of a connection that is there, was there, or never will be.
        (4, any_conn(state).prop_map(|conn| Step::Disconnect { conn }).boxed()),
        (4, requests(state, any_conn(state).boxed())),
        (1, connect(state, any_conn(state).boxed())),
    ];
    if state.sessions_armed() {
        choices.push((6, Just(Step::Timeout(Timer::Sessions)).boxed()));
    }
    if !fresh.is_empty() {
        choices.push((80, connect(state, select(fresh).boxed())));
    }
    if !open.is_empty() {
        choices.push((320, requests(state, select(open.clone()).boxed())));
    }
    if state.theme.restless && !open.is_empty() {
        let (xid, request) = (Xid(state.next_xid), Request::CloseSession);
        let close = move |conn| Step::Request { conn, xid, request: request.clone() };
        choices.push((12, select(open).prop_map(close).boxed()));
    }
    let written = state.disk_len();
    if written > 0 {
        let weight = 60 + 20 * u32::try_from(written.min(20)).expect("small");
        let count = (1..=written).prop_map(|count| Step::Disk { count });
        choices.push(((weight / state.lazy_now()).max(1), count.boxed()));
        choices.push((1, Just(Step::DiskFails).boxed()));
    }
    Union::new_weighted(choices).boxed()
}

fn any_conn(state: &Expected) -> impl Strategy<Value = ConnId> + use<> {
    (1..=state.next_conn).prop_map(ConnId)
}

fn accept(state: &Expected) -> BoxedStrategy<Step> {
    let conn = ConnId(state.next_conn);
    let addresses =
        [[127, 0, 0, 1].into(), [10, 0, 0, 7].into(), [0_u16, 0, 0, 0, 0, 0, 0, 1].into()];
    select(addresses.to_vec()).prop_map(move |address| Step::Accept { conn, address }).boxed()
}

fn wait() -> BoxedStrategy<Step> {
    let wall = prop_oneof![9 => Just(0), 1 => -10_000..10_000_i64];
    let steady = prop_oneof![9 => 0..3000_i64, 1 => 0..50_000_i64];
    (steady, wall).prop_map(|(ms, wall_ms)| Step::Wait { ms, wall_ms }).boxed()
}

fn connect(state: &Expected, conn: BoxedStrategy<ConnId>) -> BoxedStrategy<Step> {
    let seen = state.model.zxid.0;
    let last_zxid_seen = prop_oneof![20 => 0..=seen, 1 => Just(seen + 1), 1 => Just(-1)];
    let timeout_ms = prop_oneof![8 => 1000..60_000, 1 => any::<i32>()];
    let mut sessions = state.sessions();
    // One that is over, one that nobody has opened yet, one that cannot be.
    let next = sessions.last().map_or(1, |last| last.0 + 1);
    sessions.extend([SessionId(next), SessionId(next - 7), SessionId(-1)]);
    let session = prop_oneof![2 => Just(SessionId::NONE), 1 => select(sessions)];
    let fault = prop_oneof![9 => Just(0), 1 => 1..4_u8];
    (conn, last_zxid_seen, timeout_ms, session, fault, any::<Option<bool>>())
        .prop_map(|(conn, last_zxid_seen, timeout_ms, session, fault, read_only)| {
            let mut password = password(session).to_vec();
            match fault {
                0 => {}
                1 => password[3] ^= 1,
                2 => password.truncate(15),
                _ => password.push(0),
            }
            let password = Some(password.into());
            let last_zxid_seen = Zxid(last_zxid_seen);
            let request =
                ConnectRequest { last_zxid_seen, timeout_ms, session, password, read_only };
            Step::Connect { conn, request }
        })
        .boxed()
}

fn requests(state: &Expected, conn: BoxedStrategy<ConnId>) -> BoxedStrategy<Step> {
    thread_local! {
        // Made once: there is more work in making it than in drawing from it.
        static REQUESTS: BoxedStrategy<Request> = request();
        static BRAWL: BoxedStrategy<Request> = brawl();
    }
    let brawl = if state.theme.narrow { 100 } else { 1 };
    let next = state.next_xid;
    let xid = prop_oneof![20 => Just(next), 1 => -10..1];
    let places = Rc::new(Places::of(state));
    let request = prop_oneof![
        50 => REQUESTS.with(Clone::clone).prop_map({
            let places = places.clone();
            move |request| places.resolve(request)
        }),
        1 => quota(places),
        brawl => BRAWL.with(Clone::clone),
    ];
    (conn, xid, request)
        .prop_map(|(conn, xid, request)| Step::Request { conn, xid: Xid(xid), request })
        .boxed()
}

const ODD: [&str; 21] = [
    "",
    "/",
    "a",
    "a/b",
    "//",
    "//a",
    "/a/",
    "/a//b",
    "/.",
    "/a/..",
    "/...",
    "/a\0b",
    "\0",
    "/\u{1}",
    "/\u{7f}",
    "/\u{a0}",
    "/\u{e000}",
    "/\u{fffd}",
    "/\u{1f600}",
    "/zookeeper/",
    "/ a",
];

/// A path to be found when the request is made, see [`Places::find`].
fn path() -> BoxedStrategy<Text> {
    let place = || 0..1000_u32;
    let names = || select(vec!["/a", "/b", "/c"]);
    let quotas = select(vec!["", "/zookeeper_limits", "/zookeeper_stats"]);
    prop_oneof![
        10 => place().prop_map(|place| format!("@{place}").into()),
        10 => (place(), names()).prop_map(|(place, name)| format!("@{place}{name}").into()),
        2 => (place(), names(), names())
            .prop_map(|(place, one, two)| format!("@{place}{one}{two}").into()),
        4 => place().prop_map(|place| format!("*{place}").into()),
        6 => place().prop_map(|place| format!("!{place}").into()),
        1 => (place(), quotas).prop_map(|(place, leaf)| format!("={place}{leaf}").into()),
        1 => select(ODD.to_vec()).prop_map(Into::into),
    ]
    .boxed()
}

/// Nodes of all kinds come and go at a few paths.
fn brawl() -> BoxedStrategy<Request> {
    let path = || select(vec!["/a", "/b", "/a/a"]).prop_map(Text::from);
    let flags = select(vec![0, 1, 1, 4]);
    let create = || {
        (path(), flags.clone()).prop_map(|(path, flags)| {
            let op = if flags == 4 { CreateOp::Container } else { CreateOp::Create };
            Create { op, path, data: None, acl: Some(vec![open()]), flags, ttl_ms: -1 }
        })
    };
    let op = prop_oneof![
        create().prop_map(Op::Create),
        path().prop_map(|path| Op::Delete { path, version: -1 }),
        path().prop_map(|path| Op::SetData { path, data: None, version: -1 }),
    ];
    prop_oneof![
        4 => create().prop_map(Request::Create),
        4 => path().prop_map(|path| Request::Delete { path, version: -1 }),
        1 => path().prop_map(|path| Request::SetData { path, data: None, version: -1 }),
        1 => vec(op, 2..4).prop_map(Request::Multi),
    ]
    .boxed()
}

/// All that makes a tight quota on a node, at once.
fn quota(places: Rc<Places>) -> BoxedStrategy<Request> {
    (0..places.nodes.len(), limits(), any::<bool>())
        .prop_map(move |(of, limits, counted)| {
            let Places { nodes, .. } = &*places;
            let of = format!("/zookeeper/quota{}", if of == 0 { "/a" } else { &*nodes[of] });
            let ends = of.match_indices('/').map(|(at, _)| at).skip(2).chain([of.len()]);
            let above = ends.map(|end| of[..end].to_owned());
            let missing = above.filter(|path| nodes.iter().all(|node| **node != **path));
            let mut wanted: Vec<(String, Data)> = missing.map(|path| (path, None)).collect();
            wanted.push((format!("{of}/zookeeper_limits"), limits));
            if counted {
                wanted.push((format!("{of}/zookeeper_stats"), None));
            }
            let create = |(path, data): (String, Data)| {
                let (op, path, acl) = (CreateOp::Create, path.into(), Some(vec![open()]));
                Op::Create(Create { op, path, data, acl, flags: 0, ttl_ms: -1 })
            };
            Request::Multi(wanted.into_iter().map(create).collect())
        })
        .boxed()
}

/// What limits nodes hold.
fn limits() -> BoxedStrategy<Data> {
    (-1..6_i64, -1..20_i64, option::of(-1..6_i64), option::of(-1..20_i64))
        .prop_map(|(count, bytes, count_hard, bytes_hard)| {
            let mut text = format!("count={count},bytes={bytes}");
            if count_hard.is_some() || bytes_hard.is_some() {
                text += "=";
            }
            for (name, limit) in [("byteHardLimit", bytes_hard), ("countHardLimit", count_hard)] {
                text += &limit.map_or(String::new(), |limit| format!(";{name}={limit}"));
            }
            Some(text.into_bytes().into())
        })
        .boxed()
}

fn data() -> BoxedStrategy<Data> {
    let odd = select(vec!["count=,bytes", "=,;=", "byteHardLimit=x", "count=1=2,bytes=3=4"]);
    prop_oneof![
        6 => vec(any::<u8>(), 0..6).prop_map(|bytes| Some(bytes.into())),
        2 => Just(None),
        2 => limits(),
        1 => odd.prop_map(|text| Some(text.as_bytes().into())),
    ]
    .boxed()
}

fn version() -> BoxedStrategy<i32> {
    prop_oneof![6 => Just(-1), 4 => 0..3, 1 => any::<i32>()].boxed()
}

fn wish() -> BoxedStrategy<AclWish> {
    let text = |text: &str| Some(Text::from(text));
    let mut who = vec![
        (text("world"), text("anyone")),
        (text("auth"), text("")),
        (text("auth"), None),
        (text("ip"), text("127.0.0.1")),
        (text("ip"), text("10.0.0.0/8")),
        (text("ip"), text("::/0")),
    ];
    who.extend(DIGESTS.iter().map(|(_, digest)| (text("digest"), text(digest))));
    let odd = vec![
        (None, None),
        (None, text("anyone")),
        (text("world"), None),
        (text("world"), text("other")),
        (text("digest"), None),
        (text("digest"), text("nocolon")),
        (text("digest"), text("a:b:c")),
        (text("digest"), text(":b")),
        (text("digest"), text("a:")),
        (text("ip"), None),
        (text("ip"), text("10.0.0.0/33")),
        (text("ip"), text("host")),
        (text("super"), text("")),
        (text("sasl"), text("x")),
        (text(""), text("")),
    ];
    let perms = prop_oneof![4 => Just(31), 6 => 0..32, 1 => any::<i32>()];
    (perms, prop_oneof![12 => select(who), 1 => select(odd)])
        .prop_map(|(perms, (scheme, id))| AclWish { perms, scheme, id })
        .boxed()
}

fn open() -> AclWish {
    AclWish { perms: 31, scheme: Some("world".into()), id: Some("anyone".into()) }
}

fn acl() -> BoxedStrategy<Vec<AclWish>> {
    prop_oneof![12 => Just(vec![open()]), 5 => vec(wish(), 1..4), 1 => Just(Vec::new())].boxed()
}

fn create() -> BoxedStrategy<Create> {
    use CreateOp::{Container, Create as Plain, Create2, Ttl};
    let usual = select(vec![
        (Plain, 0, -1),
        (Plain, 1, -1),
        (Plain, 2, -1),
        (Plain, 3, -1),
        (Create2, 0, -1),
        (Create2, 1, -1),
        (Create2, 2, -1),
        (Container, 4, -1),
        (Ttl, 5, 700),
        (Ttl, 6, 5000),
    ]);
    let op = || select(vec![Plain, Create2, Container, Ttl]);
    let ttl_ms = select(vec![-1, 0, 1, (1 << 40) - 1, 1 << 40, i64::MIN]);
    let odd = (op(), -1..8, ttl_ms)
        .prop_map(|(op, flags, ttl_ms)| (op, flags, if op == Ttl { ttl_ms } else { -1 }));
    let how = prop_oneof![9 => usual, 1 => odd];
    (how, path(), data(), option::weighted(0.97, acl()))
        .prop_map(|((op, flags, ttl_ms), path, data, acl)| Create {
            op,
            path,
            data,
            acl,
            flags,
            ttl_ms,
        })
        .boxed()
}

fn op() -> BoxedStrategy<Op> {
    // What a multi refuses as a whole does not get as far as here.
    let fits = |wish: &Create| match wish.flags {
        _ if wish.op == CreateOp::Ttl => true,
        0..=4 => wish.acl.is_some(),
        _ => false,
    };
    prop_oneof![
        5 => create().prop_filter("decodes", fits).prop_map(Op::Create),
        3 => (path(), version()).prop_map(|(path, version)| Op::Delete { path, version }),
        3 => (path(), data(), version())
            .prop_map(|(path, data, version)| Op::SetData { path, data, version }),
        1 => (path(), version()).prop_map(|(path, version)| Op::Check { path, version }),
    ]
    .boxed()
}

pub(crate) fn request() -> BoxedStrategy<Request> {
    prop_oneof![
        45 => write(),
        40 => read(),
        12 => watches(),
        3 => other(),
    ]
    .boxed()
}

fn write() -> BoxedStrategy<Request> {
    prop_oneof![
        16 => create().prop_map(Request::Create),
        8 => (path(), version()).prop_map(|(path, version)| Request::Delete { path, version }),
        8 => (path(), data(), version())
            .prop_map(|(path, data, version)| Request::SetData { path, data, version }),
        3 => (path(), option::weighted(0.97, acl()), version())
            .prop_map(|(path, acl, version)| Request::SetAcl { path, acl, version }),
        10 => vec(op(), 0..6).prop_map(Request::Multi),
    ]
    .boxed()
}

fn read() -> BoxedStrategy<Request> {
    let read_op = || {
        prop_oneof![
            path().prop_map(|path| ReadOp::GetChildren { path }),
            path().prop_map(|path| ReadOp::GetData { path }),
        ]
    };
    prop_oneof![
        6 => (path(), any::<bool>()).prop_map(|(path, watch)| Request::Exists { path, watch }),
        6 => (path(), any::<bool>()).prop_map(|(path, watch)| Request::GetData { path, watch }),
        8 => (path(), any::<bool>(), any::<bool>())
            .prop_map(|(path, watch, stat)| Request::GetChildren { path, watch, stat }),
        3 => path().prop_map(|path| Request::GetAcl { path }),
        2 => path().prop_map(|path| Request::GetAllChildrenNumber { path }),
        2 => option::of(path()).prop_map(|prefix| Request::GetEphemerals { prefix }),
        2 => vec(read_op(), 0..4).prop_map(Request::MultiRead),
        1 => vec(read_op(), 0..3).prop_map(Request::MultiReadBroken),
        2 => Just(Request::Ping),
        2 => option::of(path()).prop_map(|path| Request::Sync { path }),
        2 => Just(Request::WhoAmI),
    ]
    .boxed()
}

fn watches() -> BoxedStrategy<Request> {
    let paths = || vec(path(), 0..3);
    let seen = prop_oneof![4 => 0..SEEN_MOST, 1 => any::<i64>()];
    let set = (seen, paths(), paths(), paths(), paths(), paths()).prop_map(
        |(seen, data, exist, child, persistent, recursive)| {
            let relative_zxid = Zxid(seen);
            let lists = SetWatches { relative_zxid, data, exist, child, persistent, recursive };
            Request::SetWatches(lists)
        },
    );
    let kind = || prop_oneof![9 => 1..=5, 1 => any::<i32>()];
    prop_oneof![
        4 => (path(), prop_oneof![9 => 0..=1, 1 => any::<i32>()])
            .prop_map(|(path, mode)| Request::AddWatch { path, mode }),
        2 => (path(), kind()).prop_map(|(path, kind)| Request::CheckWatches { path, kind }),
        2 => (path(), kind()).prop_map(|(path, kind)| Request::RemoveWatches { path, kind }),
        2 => set,
    ]
    .boxed()
}

fn other() -> BoxedStrategy<Request> {
    let auth = select(
        DIGESTS
            .iter()
            .map(|(password, _)| ("digest", Some(*password)))
            .chain([("ip", None), ("kerberos", Some("x")), ("digest", None)])
            .collect::<Vec<_>>(),
    );
    let auth = option::weighted(0.97, auth).prop_map(|auth| match auth {
        Some((scheme, auth)) => Request::Auth {
            scheme: Some(scheme.into()),
            auth: auth.map(|auth| auth.as_bytes().into()),
        },
        None => Request::Auth { scheme: None, auth: None },
    });
    let text = || option::of(Just(Text::from("server.2=host:2888:3888")));
    let unread =
        vec![opcode::CREATE, opcode::CREATE2, opcode::CREATE_CONTAINER, opcode::CREATE_TTL];
    let ops = vec![CreateOp::Create, CreateOp::Create2, CreateOp::Container, CreateOp::Ttl];
    let nowhere = (select(ops), -1..8, select(vec![-1_i64, 0, 5])).prop_map(|(op, flags, ttl)| {
        let ttl_ms = if op == CreateOp::Ttl { ttl } else { -1 };
        Request::CreateNowhere { op, flags, ttl_ms }
    });
    let opcodes = vec![
        opcode::DELETE,
        opcode::SET_DATA,
        opcode::SET_ACL,
        opcode::MULTI,
        opcode::EXISTS,
        opcode::GET_DATA,
        opcode::SET_WATCHES,
    ];
    prop_oneof![
        12 => auth,
        6 => Just(Request::CloseSession),
        1 => Just(Request::Sasl),
        1 => any::<i32>().prop_map(|opcode| Request::Unknown { opcode }),
        3 => (select(opcodes), any::<bool>())
            .prop_map(|(opcode, whole)| Request::Unreadable { opcode, whole }),
        1 => select(unread).prop_map(|opcode| Request::Unreadable { opcode, whole: false }),
        2 => nowhere,
        2 => (text(), text(), text(), any::<i64>()).prop_map(
            |(joining, leaving, members, config_id)| Request::Reconfig {
                joining, leaving, members, config_id,
            }
        ),
    ]
    .boxed()
}
