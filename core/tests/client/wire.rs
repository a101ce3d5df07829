//! The client's half of the wire, read and written by the server's half, and bytes of any kind.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use zoolab_core::acl::{Acl, AclWish, Id};
use zoolab_core::client::{Answer, Frame, Input, Line, Output, Shape};
use zoolab_core::request::{
    Body, ConnectRequest, ConnectResponse, Create, CreateOp, Event, EventKind, Op, OpResult,
    ReadOp, Reply, Request, SetWatches, opcode,
};
use zoolab_core::tree::Stat;
use zoolab_core::wire::{self, WireError};
use zoolab_core::{AclList, Code, Data, Millis, SessionId, Text, Xid, Zxid};

use crate::desk::{Desk, config};

fn text() -> impl Strategy<Value = Text> {
    prop_oneof!["/[a-z/]{0,8}", ".{0,5}"].prop_map(|text: String| text.into())
}

fn data() -> impl Strategy<Value = Data> {
    option::of(vec(any::<u8>(), 0..6).prop_map(Into::into))
}

fn wish() -> impl Strategy<Value = AclWish> {
    (any::<i32>(), option::of(text()), option::of(text())).prop_map(|(perms, scheme, id)| AclWish {
        perms,
        scheme,
        id,
    })
}

fn create_op() -> impl Strategy<Value = CreateOp> {
    proptest::sample::select(vec![
        CreateOp::Create,
        CreateOp::Create2,
        CreateOp::Container,
        CreateOp::Ttl,
    ])
}

/// With an ACL and flags that a multi takes as well.
fn create() -> impl Strategy<Value = Create> {
    (create_op(), text(), data(), vec(wish(), 0..3), 0..5_i32, any::<i64>()).prop_map(
        |(op, path, data, acl, flags, ttl_ms)| {
            let ttl_ms = if op == CreateOp::Ttl { ttl_ms } else { -1 };
            Create { op, path, data, acl: Some(acl), flags, ttl_ms }
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (text(), any::<i32>()).prop_map(|(path, version)| Op::Check { path, version }),
        create().prop_map(Op::Create),
        (text(), any::<i32>()).prop_map(|(path, version)| Op::Delete { path, version }),
        (text(), data(), any::<i32>()).prop_map(|(path, data, version)| Op::SetData {
            path,
            data,
            version
        }),
    ]
}

fn read_op() -> impl Strategy<Value = ReadOp> {
    prop_oneof![
        text().prop_map(|path| ReadOp::GetChildren { path }),
        text().prop_map(|path| ReadOp::GetData { path }),
    ]
}

fn set_watches() -> impl Strategy<Value = SetWatches> {
    let list = || vec(text(), 0..3);
    (any::<i64>(), list(), list(), list(), list(), list()).prop_map(
        |(zxid, data, exist, child, persistent, recursive)| SetWatches {
            relative_zxid: Zxid(zxid),
            data,
            exist,
            child,
            persistent,
            recursive,
        },
    )
}

/// Opcodes whose bodies can be unreadable.
const WITH_BODY: [i32; 12] = [
    opcode::CREATE2,
    opcode::DELETE,
    opcode::EXISTS,
    opcode::GET_DATA,
    opcode::SET_DATA,
    opcode::SET_ACL,
    opcode::GET_CHILDREN,
    opcode::MULTI,
    opcode::CHECK_WATCHES,
    opcode::ADD_WATCH,
    opcode::SET_WATCHES,
    opcode::SET_WATCHES2,
];

fn request() -> impl Strategy<Value = Request> {
    let number = any::<i32>;
    let maybe = || option::of(text());
    let simple = prop_oneof![
        (text(), number()).prop_map(|(path, mode)| Request::AddWatch { path, mode }),
        (maybe(), option::of(vec(any::<u8>(), 0..5)))
            .prop_map(|(scheme, auth)| Request::Auth { scheme, auth: auth.map(Into::into) }),
        (text(), number()).prop_map(|(path, kind)| Request::CheckWatches { path, kind }),
        Just(Request::CloseSession),
        (text(), number()).prop_map(|(path, version)| Request::Delete { path, version }),
        (text(), any::<bool>()).prop_map(|(path, watch)| Request::Exists { path, watch }),
        text().prop_map(|path| Request::GetAcl { path }),
        text().prop_map(|path| Request::GetAllChildrenNumber { path }),
        (text(), any::<bool>(), any::<bool>())
            .prop_map(|(path, watch, stat)| Request::GetChildren { path, watch, stat }),
        (text(), any::<bool>()).prop_map(|(path, watch)| Request::GetData { path, watch }),
        maybe().prop_map(|prefix| Request::GetEphemerals { prefix }),
        Just(Request::Ping),
        (text(), number()).prop_map(|(path, kind)| Request::RemoveWatches { path, kind }),
        Just(Request::Sasl),
        maybe().prop_map(|path| Request::Sync { path }),
        Just(Request::WhoAmI),
    ];
    prop_oneof![
        4 => simple,
        1 => create().prop_map(Request::Create),
        1 => (create_op(), number(), any::<i64>()).prop_map(|(op, flags, ttl_ms)| {
            let ttl_ms = if op == CreateOp::Ttl { ttl_ms } else { -1 };
            Request::CreateNowhere { op, flags, ttl_ms }
        }),
        1 => vec(op(), 0..4).prop_map(Request::Multi),
        1 => vec(read_op(), 0..4).prop_map(Request::MultiRead),
        1 => vec(read_op(), 0..4).prop_map(Request::MultiReadBroken),
        1 => (maybe(), maybe(), maybe(), any::<i64>()).prop_map(
            |(joining, leaving, members, config_id)| {
                Request::Reconfig { joining, leaving, members, config_id }
            }
        ),
        1 => (text(), option::of(vec(wish(), 0..3)), number())
            .prop_map(|(path, acl, version)| Request::SetAcl { path, acl, version }),
        1 => (text(), data(), number())
            .prop_map(|(path, data, version)| Request::SetData { path, data, version }),
        1 => set_watches().prop_map(Request::SetWatches),
        1 => Just(Request::Unknown { opcode: 999 }),
        1 => proptest::sample::select(&WITH_BODY[..])
            .prop_map(|opcode| Request::Unreadable { opcode, whole: false }),
        1 => proptest::sample::select(&WITH_BODY[1..])
            .prop_map(|opcode| Request::Unreadable { opcode, whole: true }),
    ]
}

fn stat() -> impl Strategy<Value = Stat> {
    (any::<[i64; 6]>(), any::<[i32; 5]>()).prop_map(
        |(
            [czxid, mzxid, ctime, mtime, owner, pzxid],
            [version, cversion, aversion, data, kids],
        )| {
            Stat {
                czxid: Zxid(czxid),
                mzxid: Zxid(mzxid),
                ctime: Millis(ctime),
                mtime: Millis(mtime),
                version,
                cversion,
                aversion,
                ephemeral_owner: SessionId(owner),
                data_length: data,
                num_children: kids,
                pzxid: Zxid(pzxid),
            }
        },
    )
}

fn names() -> impl Strategy<Value = Vec<compact_str::CompactString>> {
    vec(".{0,30}".prop_map(|name: String| name.into()), 0..4)
}

fn code() -> impl Strategy<Value = Code> {
    proptest::sample::select(&Code::ALL[..])
}

fn op_result() -> impl Strategy<Value = OpResult> {
    prop_oneof![
        Just(OpResult::Check),
        names().prop_map(OpResult::Children),
        (text(), option::of(stat())).prop_map(|(path, stat)| OpResult::Created { path, stat }),
        (data(), stat()).prop_map(|(data, stat)| OpResult::Data { data, stat }),
        Just(OpResult::Deleted),
        option::of(code()).prop_map(OpResult::Error),
        stat().prop_map(OpResult::Set),
    ]
}

fn acl_list() -> impl Strategy<Value = AclList> {
    let line = (any::<i32>(), text(), text())
        .prop_map(|(perms, scheme, id)| Acl { perms, id: Id { scheme, id } });
    vec(line, 0..3).prop_map(AclList::new)
}

fn body() -> impl Strategy<Value = (Shape, Body)> {
    prop_oneof![
        (acl_list(), stat()).prop_map(|(acl, stat)| (Shape::Acl, Body::Acl { acl, stat })),
        (names(), option::of(stat())).prop_map(|(names, stat)| {
            (Shape::Children { stat: stat.is_some() }, Body::Children { names, stat })
        }),
        any::<i32>().prop_map(|count| (Shape::Count, Body::Count(count))),
        (text(), option::of(stat())).prop_map(|(path, stat)| {
            (Shape::Created { stat: stat.is_some() }, Body::Created { path, stat })
        }),
        (data(), stat()).prop_map(|(data, stat)| (Shape::Data, Body::Data { data, stat })),
        vec(op_result(), 0..4).prop_map(|results| (Shape::Multi, Body::Multi(results))),
        Just((Shape::None, Body::None)),
        vec(text(), 0..4).prop_map(|paths| (Shape::Paths, Body::Paths(paths))),
        stat().prop_map(|stat| (Shape::Stat, Body::Stat(stat))),
        option::of(text()).prop_map(|path| (Shape::Synced, Body::Synced(path))),
        Just((Shape::Token, Body::Token)),
        vec((text(), text()), 0..3).prop_map(|users| (Shape::Users, Body::Users(users))),
    ]
}

const SHAPES: [Shape; 14] = [
    Shape::Acl,
    Shape::Children { stat: false },
    Shape::Children { stat: true },
    Shape::Count,
    Shape::Created { stat: false },
    Shape::Created { stat: true },
    Shape::Data,
    Shape::Multi,
    Shape::None,
    Shape::Paths,
    Shape::Stat,
    Shape::Synced,
    Shape::Token,
    Shape::Users,
];

fn event() -> impl Strategy<Value = Event> {
    let kinds = vec![
        EventKind::Created,
        EventKind::Deleted,
        EventKind::DataChanged,
        EventKind::ChildrenChanged,
    ];
    (proptest::sample::select(kinds), text(), any::<i64>()).prop_map(|(kind, path, zxid)| Event {
        kind,
        path,
        zxid: Zxid(zxid),
    })
}

/// A frame without its length, which is right.
fn payload(frame: &[u8]) -> &[u8] {
    let (length, payload) = frame.split_at(4);
    assert_eq!(u32::from_be_bytes(length.try_into().unwrap()) as usize, payload.len());
    payload
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn requests_are_read_as_they_were_written(xid: i32, request in request()) {
        let mut frame = Vec::new();
        wire::encode_frame(&Frame::Request(Xid(xid), request.clone()), &mut frame);
        let read = wire::decode_request(payload(&frame), wire::MAX_FRAME);
        prop_assert_eq!(read, Ok((Xid(xid), request)));
    }

    #[test]
    fn first_frames_are_read_as_they_were_written(
        zxid: i64,
        timeout_ms: i32,
        session: i64,
        password in option::of(any::<[u8; 16]>()),
        read_only: Option<bool>,
    ) {
        let request = ConnectRequest {
            last_zxid_seen: Zxid(zxid),
            timeout_ms,
            session: SessionId(session),
            password: password.map(|password| password[..].into()),
            read_only,
        };
        let mut frame = Vec::new();
        wire::encode_frame(&Frame::Connect(request.clone()), &mut frame);
        prop_assert_eq!(wire::decode_connect(payload(&frame)), Ok(request));
    }

    #[test]
    fn answers_to_first_frames_are_read_as_they_were_written(
        timeout_ms: i32,
        session: i64,
        password: [u8; 16],
        read_only: Option<bool>,
    ) {
        let session = SessionId(session);
        let response = ConnectResponse { timeout_ms, session, password, read_only };
        let mut frame = Vec::new();
        wire::encode_connected(&response, &mut frame);
        prop_assert_eq!(wire::decode_connected(payload(&frame)), Ok(response));
    }

    #[test]
    fn replies_are_read_as_they_were_written(xid in 1.., zxid: i64, (shape, body) in body()) {
        prop_assert!(shape.fits(&body));
        let reply = Reply { xid: Xid(xid), zxid: Zxid(zxid), err: None, body };
        let mut frame = Vec::new();
        wire::encode_reply(&reply, &mut frame);
        prop_assert_eq!(wire::decode_answer(payload(&frame), shape), Ok(Answer::Reply(reply)));
    }

    #[test]
    fn refusals_are_read_whatever_was_asked(
        xid in 1..,
        code in code(),
        shape in proptest::sample::select(&SHAPES[..]),
    ) {
        let reply = Reply { xid: Xid(xid), zxid: Zxid(1), err: Some(code), body: Body::None };
        let mut frame = Vec::new();
        wire::encode_reply(&reply, &mut frame);
        prop_assert_eq!(wire::decode_answer(payload(&frame), shape), Ok(Answer::Reply(reply)));
    }

    #[test]
    fn events_are_read_as_they_were_written(
        event in event(),
        shape in proptest::sample::select(&SHAPES[..]),
    ) {
        let mut frame = Vec::new();
        wire::encode_event(&event, &mut frame);
        prop_assert_eq!(wire::decode_answer(payload(&frame), shape), Ok(Answer::Event(event)));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes: Vec<u8>) {
        let _ = wire::decode_connected(&bytes);
        for shape in SHAPES {
            let _ = wire::decode_answer(&bytes, shape);
        }
    }

    #[test]
    fn no_mutated_frame_makes_a_reader_panic(
        (shape, body) in body(),
        changes in vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<proptest::sample::Index>(),
    ) {
        let reply = Reply { xid: Xid(1), zxid: Zxid(1), err: None, body };
        let mut frame = Vec::new();
        wire::encode_reply(&reply, &mut frame);
        let mut bytes = payload(&frame).to_vec();
        for (place, byte) in changes {
            *place.get_mut(&mut bytes) = byte;
        }
        let _ = wire::decode_answer(&bytes, shape);
        bytes.truncate(cut.index(bytes.len()));
        for shape in SHAPES {
            let _ = wire::decode_answer(&bytes, shape);
        }
    }

    #[test]
    fn no_bytes_make_a_client_panic(
        greeting: Vec<u8>,
        frames in vec(vec(any::<u8>(), 0..40), 0..6),
        good: bool,
    ) {
        let mut desk = Desk::new(config("zk1"));
        desk.run("start\n1 get /a w1\nup");
        let line = Line(1);
        let input = desk.client.read(line, &greeting);
        let input = if good { desk.input_of("greet 10000") } else { input };
        desk.step(input);
        for mut bytes in frames {
            // So that some of them get past the header.
            if bytes.len() > 4 && bytes[4] < 128 {
                bytes[..4].copy_from_slice(&[0, 0, 0, 1]);
            }
            let input = desk.client.read(line, &bytes);
            desk.step(input);
        }
    }
}

#[test]
fn the_first_frame_of_a_new_session_has_the_bytes_of_zookeeper() {
    let mut desk = Desk::new(config("zk1"));
    desk.run("start");
    let input = desk.input_of("up");
    let out = desk.step(input);
    let Some(Output::Send { frame, .. }) =
        out.iter().find(|output| matches!(output, Output::Send { .. }))
    else {
        panic!("{out:?}")
    };
    let mut bytes = Vec::new();
    wire::encode_frame(frame, &mut bytes);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        hex,
        "0000002d00000000000000000000000000002710000000000000000000000010\
         0000000000000000000000000000000000"
    );
}

#[test]
fn a_code_without_a_name_is_kept_as_a_number_and_fails_its_call_only() {
    let mut desk = Desk::connected(config("zk1"));
    desk.run("1 get /a");
    let mut bytes = Vec::new();
    bytes.extend(1_i32.to_be_bytes());
    bytes.extend(7_i64.to_be_bytes());
    bytes.extend((-999_i32).to_be_bytes());
    let input = desk.client.read(Line(1), &bytes);
    let unnamed = Answer::Unnamed { xid: Xid(1), zxid: Zxid(7), number: -999 };
    assert!(matches!(&input, Input::Answered { answer, .. } if *answer == unnamed));
    let out = desk.step(input);
    assert!(format!("{out:?}").contains("Err(Unknown(-999))"), "{out:?}");
    assert!(desk.client.server().is_some());
}

#[test]
fn what_is_wrong_with_bytes_is_said_with_its_place() {
    let header = |xid: i32| {
        let mut bytes = xid.to_be_bytes().to_vec();
        bytes.extend([0; 12]);
        bytes
    };
    let said = |bytes: &[u8], shape| wire::decode_answer(bytes, shape).unwrap_err().to_string();
    let mut event = header(-1);
    event.extend([0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 1, b'/']);
    assert_eq!(
        said(&event, Shape::None),
        "before byte 20: 9, expected the number of an event, 1 to 4"
    );
    let mut nameless = header(1);
    nameless.extend([255; 4]);
    assert_eq!(
        said(&nameless, Shape::Created { stat: false }),
        "before byte 20: null, expected a text"
    );
    assert_eq!(said(&header(1), Shape::Count), "byte 16: 4 bytes expected, 0 left");
    let mut multi = header(1);
    multi.extend([0, 0, 0, 77, 0, 0, 0, 0, 0]);
    assert_eq!(
        said(&multi, Shape::Multi),
        "before byte 25: 77, expected the number of a result within a multi"
    );
}

#[test]
fn a_password_has_sixteen_bytes() {
    let mut bytes = vec![0; 16];
    bytes.extend([0, 0, 0, 2, 1, 1, 0]);
    assert_eq!(
        wire::decode_connected(&bytes),
        Err(WireError::Length { at: 16, length: 2, most: 16 })
    );
}

#[test]
fn only_one_answer_means_that_a_server_can_write() {
    assert_eq!(wire::ISRO, b"isro");
    for (answer, can) in [("rw\n", true), ("ro\n", false), ("rw", false), ("", false)] {
        assert_eq!(wire::is_read_write(answer.as_bytes()), can, "{answer:?}");
    }
}
