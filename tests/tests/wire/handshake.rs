//! The first frame in each direction.

use zoolab_core::Settings;
use zoolab_tests::desk::Desk;
use zoolab_tests::raw::{Hello, Request, derived_password};

use crate::ask::{create, exists, get};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_first_frame_of_a_new_session_is_the_known_one() {
    let hello = Hello { timeout_ms: 10_000, ..Hello::default() };
    let expected =
        format!("00000000{}00002710{}00000010{}00", "0".repeat(16), "0".repeat(16), "0".repeat(32));
    assert_eq!(hex(&hello.encode()), expected);
    assert_eq!(hello.encode().len(), 0x2d);
}

#[test]
fn the_answer_mentions_read_only_if_the_question_did() {
    let mut desk = Desk::default();
    for (read_only, length) in [(Some(false), 37), (Some(true), 37), (None, 36)] {
        let conn = desk.dial();
        desk.greet(conn, &Hello { read_only, ..Hello::default() });
        let bytes = desk.welcome_bytes(conn).unwrap();
        assert_eq!(bytes.len(), length);
        if length == 37 {
            assert_eq!(bytes[36], 0, "this server is never read-only");
        }
    }
}

#[test]
fn session_ids_begin_with_the_server_and_passwords_follow_from_them() {
    let mut desk = Desk::default();
    let conn = desk.dial();
    desk.greet(conn, &Hello::default());
    let welcome = desk.welcome(conn);
    assert_eq!(welcome.session_id >> 56, 1);
    assert_eq!(welcome.password.as_deref(), Some(&derived_password(welcome.session_id)[..]));
    assert_eq!(hex(&derived_password(0x0100_0010_1c38_0000)), "ba44017fbf9056ab2807fc73a0443faf");
}

#[test]
fn timeouts_are_clamped_to_2_and_20_ticks() {
    let mut desk = Desk::new(Settings::with_tick(2000));
    for (asked, granted) in
        [(1, 4000), (-5, 4000), (4000, 4000), (5001, 5001), (40_000, 40_000), (i32::MAX, 40_000)]
    {
        let conn = desk.dial();
        desk.greet(conn, &Hello { timeout_ms: asked, ..Hello::default() });
        assert_eq!(desk.welcome(conn).timeout_ms, granted, "{asked}");
    }
}

#[test]
fn a_client_that_has_seen_more_is_sent_away_without_a_word() {
    let mut desk = Desk::default();
    desk.client();
    let conn = desk.dial();
    desk.greet(conn, &Hello { last_zxid_seen: 2, ..Hello::default() });
    assert_eq!(desk.welcome_bytes(conn), None);
    assert!(desk.is_closed(conn));
    let conn = desk.dial();
    desk.greet(conn, &Hello { last_zxid_seen: 1, ..Hello::default() });
    assert!(!desk.welcome(conn).is_expired());
}

#[test]
fn a_session_goes_on_on_another_connection_with_another_timeout() {
    let mut desk = Desk::default();
    let first = desk.dial();
    desk.greet(first, &Hello { timeout_ms: 10_000, ..Hello::default() });
    let welcome = desk.welcome(first);
    let second = desk.dial();
    desk.greet(second, &Hello { timeout_ms: 6000, ..welcome.again() });
    let again = desk.welcome(second);
    assert_eq!(again.session_id, welcome.session_id);
    assert_eq!(again.timeout_ms, 6000);
    assert!(desk.is_closed(first), "a session is served in one place");
    // What is kept of the session is what was agreed when it began.
    assert_eq!(desk.server.sessions().list()[0].1, 10_000);
    // The new timeout is the one that counts.
    desk.pass(8001);
    assert!(desk.is_closed(second));
}

#[test]
fn a_wrong_password_is_told_expired_and_ends_the_rightful_connection() {
    let mut desk = Desk::default();
    let rightful = desk.dial();
    desk.greet(rightful, &Hello::default());
    let welcome = desk.welcome(rightful);
    let thief = desk.dial();
    desk.greet(thief, &Hello { password: Some(vec![1; 16]), ..welcome.again() });
    let answer = desk.welcome_bytes(thief).unwrap();
    assert_eq!(
        hex(&answer),
        format!("00000000{}{}00000010{}00", "0".repeat(8), "0".repeat(16), "0".repeat(32))
    );
    assert!(desk.is_closed(thief));
    assert!(desk.is_closed(rightful));
    // The session itself has not been harmed.
    desk.come_back(&welcome, 0);
}

#[test]
fn an_unknown_session_is_told_expired() {
    let mut desk = Desk::default();
    for password in [Some(derived_password(77).to_vec()), Some(vec![]), None] {
        let conn = desk.dial();
        desk.greet(conn, &Hello { session_id: 77, password, ..Hello::default() });
        assert!(desk.welcome(conn).is_expired());
        assert!(desk.is_closed(conn));
    }
}

#[test]
fn requests_behind_the_first_frame_are_served_once_the_session_is_there() {
    let mut desk = Desk::default();
    desk.hold_disk();
    let conn = desk.dial();
    desk.greet(conn, &Hello::default());
    desk.send_as(conn, 1, &create("/a"));
    desk.send_as(conn, 2, &exists("/a"));
    assert_eq!(desk.bytes(conn), None, "nothing before the session is on disk");
    desk.release_disk();
    assert!(!desk.welcome(conn).is_expired());
    let frames = desk.frames(conn);
    assert_eq!(frames.len(), 2, "{frames:?}");
}

#[test]
fn the_first_zxids_of_a_fresh_server_are_1_and_2() {
    let mut desk = Desk::default();
    let client = desk.client();
    assert_eq!(desk.call(client, &get("/")).zxid, 1);
    let refused = desk.call(client, &create("/missing/child"));
    assert_eq!((refused.err, refused.zxid), (-101, 2));
    assert_eq!(desk.call(client, &Request::Ping).zxid, 2);
}
