//! Whatever bytes come, reading them ends well; and what clients write is what servers read.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestRunner;
use zoolab_core::request::ConnectRequest;
use zoolab_core::wire::{MAX_FRAME, decode_connect, decode_request};
use zoolab_core::{Request, SessionId, Xid, Zxid};

use crate::config;
use crate::encode;
use crate::generate;
use crate::places::Places;

fn requests() -> impl Strategy<Value = Request> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).into()).collect();
    let places = Places {
        nodes: texts(&["/", "/a", "/a/b", "/zookeeper", "/zookeeper/quota"]),
        watched: texts(&["/a", "/c"]),
        in_flight: Vec::new(),
        zxid: 77,
    };
    generate::request().prop_map(move |request| places.resolve(request))
}

fn connects() -> impl Strategy<Value = ConnectRequest> {
    (any::<i64>(), any::<i32>(), any::<i64>(), any::<Option<Vec<u8>>>(), any::<Option<bool>>())
        .prop_map(|(seen, timeout_ms, session, password, read_only)| ConnectRequest {
            last_zxid_seen: Zxid(seen),
            timeout_ms,
            session: SessionId(session),
            password: password.map(Into::into),
            read_only,
        })
}

/// Payloads as a client would send them.
fn payloads() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        9 => (any::<i32>(), requests())
            .prop_map(|(xid, request)| encode::request(Xid(xid), &request)),
        1 => connects().prop_map(|request| encode::connect(&request)),
    ]
}

/// One way to spoil a payload.
#[derive(Clone, Debug)]
enum Damage {
    Flip(Index, u8),
    Insert(Index, Vec<u8>),
    /// A number that lengths and counts should not have.
    Number(Index, i32),
    /// Another payload from here on.
    Splice(Index, Index, Vec<u8>),
    Truncate(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let numbers = select(vec![
        i32::MIN,
        i32::MIN + 1,
        -2,
        -1,
        0,
        1,
        0x7F,
        0xFFFF,
        0xF_FFFF,
        0x10_0000,
        0x1F_FFFF,
        i32::MAX - 1,
        i32::MAX,
    ]);
    let at = any::<Index>;
    prop_oneof![
        3 => (at(), any::<u8>()).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        1 => (at(), vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        4 => (at(), numbers).prop_map(|(at, number)| Damage::Number(at, number)),
        2 => (at(), at(), payloads()).prop_map(|(at, from, other)| Damage::Splice(at, from, other)),
        2 => at().prop_map(Damage::Truncate),
    ]
}

fn spoil(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        let place = |at: &Index, len: usize| if len == 0 { 0 } else { at.index(len) };
        match damage {
            Damage::Flip(at, bits) => {
                let at = place(at, bytes.len());
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bits);
            }
            Damage::Insert(at, more) => {
                let at = place(at, bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
            Damage::Number(at, number) => {
                let at = place(at, bytes.len());
                let end = bytes.len().min(at + 4);
                bytes.splice(at..end, number.to_be_bytes());
            }
            Damage::Splice(at, from, other) => {
                let (at, from) = (place(at, bytes.len()), place(from, other.len()));
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            Damage::Truncate(at) => bytes.truncate(place(at, bytes.len())),
        }
    }
    bytes
}

/// Reads bytes both ways. What they say, if they say anything, is the same when said properly.
fn read(bytes: &[u8], max_buffer: usize) -> Result<(), TestCaseError> {
    if let Ok(request) = decode_connect(bytes) {
        let again = decode_connect(&encode::connect(&request));
        prop_assert_eq!(again, Ok(request));
    }
    if let Ok((xid, request)) = decode_request(bytes, max_buffer) {
        // There are more ways to be unreadable than the encoder knows.
        if !matches!(request, Request::Unreadable { .. }) {
            let again = decode_request(&encode::request(xid, &request), max_buffer);
            prop_assert_eq!(again, Ok((xid, request)));
        }
    }
    Ok(())
}

fn check<S: Strategy>(strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    if let Err(error) = TestRunner::new(config(10_000)).run(&strategy, test) {
        panic!("{error}");
    }
}

#[test]
fn what_clients_write_is_what_servers_read() {
    check((any::<i32>(), requests()), |(xid, request)| {
        let bytes = encode::request(Xid(xid), &request);
        prop_assert_eq!(decode_request(&bytes, MAX_FRAME), Ok((Xid(xid), request)));
        Ok(())
    });
    check(connects(), |request| {
        prop_assert_eq!(decode_connect(&encode::connect(&request)), Ok(request));
        Ok(())
    });
}

#[test]
fn trailing_bytes_mean_nothing() {
    check((any::<i32>(), requests(), vec(any::<u8>(), 1..20)), |(xid, request, more)| {
        let mut bytes = encode::request(Xid(xid), &request);
        // A record that ends too soon would go on in them.
        if !matches!(request, Request::Unreadable { .. }) {
            bytes.extend(more);
        }
        prop_assert_eq!(decode_request(&bytes, MAX_FRAME), Ok((Xid(xid), request)));
        Ok(())
    });
}

#[test]
fn random_bytes_are_read_or_refused() {
    let sizes = || select(vec![0, 1, 100, MAX_FRAME, usize::MAX]);
    check((vec(any::<u8>(), 0..200), sizes()), |(bytes, max_buffer)| read(&bytes, max_buffer));
    // With a header that makes sense, so that it comes to the body.
    let numbers = select((-11..=107).collect::<Vec<i32>>());
    check((numbers, vec(any::<u8>(), 0..200), sizes()), |(opcode, body, max_buffer)| {
        let header = [1_i32.to_be_bytes(), opcode.to_be_bytes()].concat();
        read(&[header, body].concat(), max_buffer)
    });
}

#[test]
fn damaged_requests_are_read_or_refused() {
    check((payloads(), vec(damage(), 1..6)), |(bytes, damages)| {
        read(&spoil(bytes, &damages), MAX_FRAME)
    });
}
