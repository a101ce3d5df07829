//! The format: what is written comes back, and what is none of it is refused by its place.

use std::io::Cursor;

use zoolab_sim::history::hex::Bytes;
use zoolab_sim::history::record::{Answer, Ask, Change, Kind, Mode, Part, SetWatches, Stat, State};
use zoolab_sim::history::{Header, Hex, HistoryError, Read, Reader, Record, Writer};

fn every_record() -> Vec<Record> {
    let path = || "/a".to_owned();
    let stat = Stat { czxid: Hex(0x1_0000_0002), ephemeral_owner: Hex(-7), ..Stat::default() };
    let asks = [
        Ask::AddWatch { path: path(), recursive: true },
        Ask::Close,
        Ask::Create {
            path: path(),
            data: Some(Bytes(vec![0xFF])),
            acl: Some(vec!["world:anyone:31".into()]),
            mode: Mode::Ephemeral,
            sequential: true,
        },
        Ask::Delete { path: path(), version: 3 },
        Ask::Exists { path: path(), watch: true },
        Ask::GetAcl { path: path() },
        Ask::GetChildren { path: path(), watch: false },
        Ask::GetData { path: path(), watch: false },
        Ask::Multi(vec![Ask::Check { path: path(), version: -1 }]),
        Ask::MultiRead(vec![]),
        Ask::Other { opcode: 103 },
        Ask::RemoveWatches { path: path(), kind: 3 },
        Ask::SetAcl { path: path(), acl: vec![], version: -1 },
        Ask::SetData { path: path(), data: Some(Bytes(b"x".to_vec())), version: -1 },
        Ask::SetWatches(SetWatches {
            relative: Hex(9),
            child: vec![path()],
            ..SetWatches::default()
        }),
        Ask::Sync { path: path() },
    ];
    let mut records = vec![
        Record::Connect { at: 1, conn: 1, client: Some(1), server: "3".into() },
        Record::Hello { at: 1, conn: 1, session: None, seen: Some(Hex(0)) },
        Record::Open { at: 2, conn: 1, session: Hex(0x10_0000), timeout_ms: 4000 },
        Record::State { at: 2, client: 1, state: State::Connected },
    ];
    records.extend((1..).zip(asks).map(|(xid, ask)| Record::Call { at: 3, conn: 1, xid, ask }));
    let answers = [
        Answer { path: Some(path()), stat: Some(stat), ..Answer::default() },
        Answer { data: Some(Bytes(vec![])), ..Answer::default() },
        Answer { children: Some(vec!["b".into()]), acl: Some(vec![]), ..Answer::default() },
        Answer {
            parts: Some(vec![Part { err: Some(0), ok: None }, Part::default()]),
            ..Answer::default()
        },
    ];
    records.extend((1..).zip(answers).map(|(xid, answer)| {
        let ok = Some(Box::new(answer));
        Record::Reply { at: 4, conn: 1, xid, zxid: Some(Hex(7)), err: None, ok }
    }));
    let changes = [
        Change::CreateSession { timeout_ms: 4000 },
        Change::CloseSession { paths: Some(vec![path()]) },
        Change::CloseSession { paths: None },
        Change::Create { path: path(), data: None, acl: None, mode: Mode::Ttl },
        Change::Error { code: -110 },
        Change::Multi(vec![Change::Check { path: path() }, Change::Delete { path: path() }]),
        Change::SetAcl { path: path(), acl: vec![], version: 1 },
        Change::SetData { path: path(), data: None, version: 1 },
    ];
    records.extend((1..).zip(changes).map(|(zxid, change)| Record::Txn {
        zxid: Hex(zxid),
        session: Hex(0),
        cxid: 0,
        change,
    }));
    records.extend([
        Record::Event { at: 5, conn: 1, kind: Kind::DataChanged, path: path(), zxid: Some(Hex(8)) },
        Record::Reply { at: 5, conn: 1, xid: 5, zxid: None, err: Some(-101), ok: None },
        Record::Lost { at: 6, conn: 1 },
        Record::Connect { at: 7, conn: 2, client: None, server: String::new() },
        Record::Expired { at: 8, conn: 2 },
        Record::Digest { server: "3".into(), zxid: Hex(8), digest: Hex(-1) },
        Record::Note { at: 9, text: "server 3 is gone".into() },
    ]);
    records
}

fn written(records: &[Record]) -> Vec<u8> {
    let mut writer = Writer::begin(Vec::new(), &Header::new("a test")).unwrap();
    records.iter().for_each(|record| writer.put(record).unwrap());
    writer.finish().unwrap()
}

fn read(bytes: &[u8]) -> Result<(Vec<Record>, Read), HistoryError> {
    let mut reader = Reader::new("h.jsonl", Box::new(Cursor::new(bytes.to_vec())))?;
    let mut records = Vec::new();
    loop {
        match reader.next()? {
            Read::Record(record) => records.push(record),
            end @ (Read::CutOff | Read::End) => return Ok((records, end)),
        }
    }
}

#[test]
fn every_record_comes_back() {
    let records = every_record();
    assert_eq!(read(&written(&records)).unwrap(), (records, Read::End));
}

#[test]
fn whatever_is_cut_off_is_a_history_up_to_there() {
    let records = every_record();
    let bytes = written(&records);
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in header..bytes.len() - 1 {
        let lines = bytes[header..cut].iter().filter(|byte| **byte == b'\n').count();
        let (found, end) = read(&bytes[..cut]).unwrap_or_else(|error| panic!("{cut}: {error}"));
        // A line that lacks nothing but its end is whole.
        assert!(found.len() == lines || found.len() == lines + 1, "{cut}");
        assert_eq!(found, records[..found.len()], "{cut}");
        let marked = bytes[cut] == b'\n' && lines == records.len();
        assert_eq!(end, if marked { Read::End } else { Read::CutOff }, "{cut}");
    }
}

#[test]
fn what_is_wrong_is_told_by_its_place() {
    let header = "{\"zoolab-history\":1}\n";
    let error = |text: &str| read(text.as_bytes()).unwrap_err().to_string();
    let after = |text: &str| error(&format!("{header}{text}\n"));
    assert_eq!(error(""), "h.jsonl:1:1: expected a header, found nothing");
    assert_eq!(
        error("{}\n"),
        "h.jsonl:1:1: expected the header of a history, with \"zoolab-history\""
    );
    assert_eq!(
        error("{\"zoolab-history\":9}\n"),
        "h.jsonl:1:1: expected format 1 of histories, found 9"
    );
    assert_eq!(
        after("{\"lost\":{\"at\":1,\"conn\":\"x\"}}"),
        "h.jsonl:2:26: expected a record of a history: invalid type: string \"x\", expected u64"
    );
    assert_eq!(
        after("{\"dance\":{}}"),
        "h.jsonl:2:8: expected a record of a history: unknown variant `dance`, expected one of \
         `call`, `connect`, `digest`, `end`, `event`, `expired`, `hello`, `lost`, `note`, `open`, \
         `reply`, `state`, `txn`"
    );
    assert_eq!(
        after("{\"end\":{\"records\":3}}"),
        "h.jsonl:2:1: expected 3 records before the end, found 0"
    );
    assert_eq!(
        after("{\"end\":{\"records\":0}}\n{}"),
        "h.jsonl:3:1: expected nothing after the end"
    );
}
