//! Headers, order, and what no request can break.

use zoolab_core::Input;
use zoolab_tests::desk::Desk;
use zoolab_tests::raw::{Body, Frame, Request, Writer, opcode};

use crate::ask::{all_fine, auth, check, children, create, err, exists, get, set};

#[test]
fn any_xid_is_given_back_but_a_pings() {
    let mut desk = Desk::default();
    let client = desk.client();
    for xid in [0, 1, -3, -17, i32::MAX, i32::MIN] {
        desk.send_as(client, xid, &exists("/"));
        let Some(Frame::Reply(reply)) = desk.frame(client) else { panic!() };
        assert_eq!(reply.xid, xid);
    }
    for xid in [-2, 5, 0] {
        desk.send_as(client, xid, &Request::Ping);
        let Some(Frame::Reply(reply)) = desk.frame(client) else { panic!() };
        assert_eq!(reply.xid, -2);
    }
}

#[test]
fn a_refusal_is_sixteen_bytes() {
    let mut desk = Desk::default();
    let client = desk.client();
    desk.send_as(client, 9, &get("/missing"));
    let bytes = desk.bytes(client).unwrap();
    assert_eq!(bytes, [0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 0x9b]);
}

#[test]
fn bytes_behind_a_record_are_ignored() {
    let mut desk = Desk::default();
    let client = desk.client();
    let mut body = exists("/").body();
    body.extend([1, 2, 3, 4, 5]);
    assert_eq!(err(&mut desk, client, &Request::Raw { opcode: opcode::EXISTS, body }), 0);
}

#[test]
fn a_short_body_is_a_marshalling_error_and_the_connection_lives() {
    let mut desk = Desk::default();
    let client = desk.client();
    for request in [create("/a"), set("/", "x"), get("/"), children("/")] {
        let mut body = request.body();
        body.truncate(body.len() - 1);
        let request = Request::Raw { opcode: request.opcode(), body };
        let reply = desk.call(client, &request);
        assert_eq!(reply.err, -5, "{request:?}");
        // From 3.9 on such a write takes no place of its own.
        assert_eq!(reply.zxid, 1);
    }
    let empty = Request::Raw { opcode: opcode::MULTI, body: vec![] };
    let reply = desk.call(client, &empty);
    assert_eq!((reply.err, reply.zxid), (-5, 2), "a multi takes its place before it is read");
    assert!(!desk.is_closed(client));
}

#[test]
fn a_frame_without_header_ends_the_connection() {
    let mut desk = Desk::default();
    let client = desk.client();
    assert!(!desk.send_bytes(client, &[0, 0, 0, 1, 0, 0, 0]));
    assert!(!desk.send_bytes(client, &[]));
    let auth = Writer::new().i32(-4).i32(opcode::AUTH).i32(0).raw(&[0, 0, 0, 9]).finish();
    assert!(!desk.send_bytes(client, &auth), "an auth packet that cannot be read");
}

#[test]
fn an_unknown_operation_is_refused_and_ends_the_connection_not_the_session() {
    for opcode in [0, -1, 10, 13, 23, 99, 108, 1000, -12, i32::MIN, 20, -10] {
        let mut desk = Desk::default();
        let client = desk.client();
        let reply = desk.call(client, &Request::Raw { opcode, body: check("/", -1).body() });
        assert_eq!((reply.err, reply.zxid), (-6, -1), "{opcode}");
        assert!(desk.is_closed(client));
        assert_eq!(desk.server.sessions().len(), 1);
    }
}

#[test]
fn a_null_path_is_a_marshalling_error() {
    let mut desk = Desk::default();
    let client = desk.client();
    let path = || zoolab_tests::raw::Text::NULL;
    let requests = [
        Request::GetData { path: path(), watch: false },
        Request::Exists { path: path(), watch: true },
        Request::GetChildren { path: path(), watch: false },
        Request::GetChildren2 { path: path(), watch: false },
        Request::GetAcl { path: path() },
        Request::GetAllChildrenNumber { path: path() },
        Request::Delete { path: path(), version: -1 },
    ];
    for request in requests {
        assert_eq!(err(&mut desk, client, &request), -5, "{request:?}");
    }
    // Where the path is judged first, null is no path.
    let set = Request::SetData { path: path(), data: None, version: -1 };
    assert_eq!(err(&mut desk, client, &set), -8);
    // And where flags are judged before it, they are.
    for (flags, code) in [(0, -5), (3, -5), (5, -6), (9, -8)] {
        let (opcode, acl) = (opcode::CREATE, None);
        let create = Request::Create { opcode, path: path(), data: None, acl, flags };
        let zxid = desk.server.zxid_last().next();
        let reply = desk.call(client, &create);
        assert_eq!((reply.err, reply.zxid), (code, zxid.0), "{flags}");
    }
}

#[test]
fn replies_keep_the_order_of_requests_and_auth_overtakes() {
    let mut desk = Desk::default();
    let client = desk.client();
    desk.hold_disk();
    desk.send_as(client, 1, &create("/a"));
    desk.send_as(client, 2, &exists("/a"));
    desk.send_as(client, 3, &Request::Ping);
    desk.send_as(client, -4, &auth("digest", "u:p"));
    let overtaking = desk.frames(client);
    let [Frame::Reply(reply)] = &overtaking[..] else { panic!("{overtaking:?}") };
    assert_eq!((reply.xid, reply.zxid, reply.err), (-4, 0, 0));
    desk.release_disk();
    let xids: Vec<i32> = desk
        .frames(client)
        .into_iter()
        .map(|frame| match frame {
            Frame::Reply(reply) => {
                assert_eq!((reply.err, reply.zxid), (0, 2));
                reply.xid
            }
            Frame::Event(event) => panic!("{event}"),
        })
        .collect();
    assert_eq!(xids, [1, 2, -2]);
}

#[test]
fn reads_of_others_do_not_wait_for_a_disk() {
    let mut desk = Desk::default();
    let (writer, reader) = (desk.client(), desk.client());
    desk.hold_disk();
    desk.send_as(writer, 1, &create("/a"));
    assert_eq!(err(&mut desk, reader, &exists("/a")), -101);
    desk.release_disk();
    assert_eq!(err(&mut desk, reader, &exists("/a")), 0);
}

#[test]
fn sync_gives_any_path_back_and_takes_no_place() {
    let mut desk = Desk::default();
    let client = desk.client();
    for path in ["/", "", "no/slash", "/missing", "/a//b"] {
        let reply = desk.call(client, &Request::Sync { path: path.into() });
        assert_eq!((reply.err, reply.zxid), (0, 1));
        assert_eq!(reply.body, Body::Path(path.into()));
    }
}

#[test]
fn null_and_empty_data_are_returned_as_written() {
    let mut desk = Desk::default();
    let client = desk.client();
    for (path, data) in [("/null", None), ("/empty", Some(vec![])), ("/some", Some(vec![0, 255]))] {
        let acl = Some(zoolab_tests::raw::open_acl());
        let (opcode, data_sent) = (opcode::CREATE, data.clone());
        let path_sent = path.into();
        let request = Request::Create { opcode, path: path_sent, data: data_sent, acl, flags: 0 };
        all_fine(&mut desk, client, &[request]);
        let Body::Data(got, stat) = desk.call(client, &get(path)).body else { panic!() };
        assert_eq!(got, data);
        assert_eq!(stat.data_length, data.map_or(0, |data| data.len() as i32));
    }
}

#[test]
fn a_failed_disk_silences_the_server() {
    let mut desk = Desk::default();
    let client = desk.client();
    desk.hold_disk();
    desk.send_as(client, 1, &create("/a"));
    desk.input(Input::PersistFailed(zoolab_core::Token(1)));
    desk.send_as(client, 2, &exists("/"));
    assert_eq!(desk.frames(client), []);
}
