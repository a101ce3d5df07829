//! Quotas: counted by each server for itself, enforced only when hard and told to.

use zoolab_core::Settings;
use zoolab_tests::desk::Desk;
use zoolab_tests::raw::{Body, Request, opcode, open_acl};

use crate::ask::{all_fine, create, delete, err, get, set, set_version, stat};

const LIMITS: &str = "/zookeeper/quota/q/zookeeper_limits";
const COUNTS: &str = "/zookeeper/quota/q/zookeeper_stats";

fn create_data(path: &str, data: &str) -> Request {
    let (opcode, acl) = (opcode::CREATE, Some(open_acl()));
    Request::Create { opcode, path: path.into(), data: Some(data.into()), acl, flags: 0 }
}

fn with_quota(settings: Settings, limits: &str) -> (Desk, zoolab_tests::desk::Client) {
    let mut desk = Desk::new(settings);
    let client = desk.client();
    all_fine(
        &mut desk,
        client,
        &[
            create_data("/q", "12345"),
            create("/q/child"),
            create("/zookeeper/quota/q"),
            create_data(LIMITS, limits),
            create_data(COUNTS, "count=0,bytes=0"),
        ],
    );
    (desk, client)
}

fn counts(desk: &mut Desk, client: zoolab_tests::desk::Client) -> String {
    let Body::Data(Some(data), _) = desk.call(client, &get(COUNTS)).body else { panic!() };
    String::from_utf8(data).unwrap()
}

#[test]
fn counts_follow_every_change_without_a_trace() {
    let (mut desk, client) = with_quota(Settings::default(), "count=-1,bytes=-1");
    assert_eq!(
        counts(&mut desk, client),
        "count=2,bytes=5",
        "counted when the counts node appears"
    );
    let before = stat(&mut desk, client, COUNTS);
    all_fine(&mut desk, client, &[create_data("/q/a", "abc"), set("/q", "1"), delete("/q/child")]);
    assert_eq!(counts(&mut desk, client), "count=2,bytes=4");
    let after = stat(&mut desk, client, COUNTS);
    assert_eq!(
        (after.version, after.mzxid, after.mtime),
        (before.version, before.mzxid, before.mtime)
    );
    all_fine(&mut desk, client, &[delete(LIMITS), create("/q/b")]);
    assert_eq!(counts(&mut desk, client), "count=2,bytes=4", "without limits nothing is counted");
}

#[test]
fn soft_limits_refuse_nothing() {
    let settings = Settings { enforce_quota: true, ..Settings::default() };
    let (mut desk, client) = with_quota(settings, "count=1,bytes=1");
    all_fine(&mut desk, client, &[create_data("/q/a", "abc"), set("/q", "a longer text")]);
}

#[test]
fn hard_limits_refuse_only_when_enforced() {
    let limits = "count=-1,bytes=-1=;byteHardLimit=8;countHardLimit=3";
    let (mut desk, client) = with_quota(Settings::default(), limits);
    all_fine(&mut desk, client, &[set("/q", "far too long for it")]);

    let settings = Settings { enforce_quota: true, ..Settings::default() };
    let (mut desk, client) = with_quota(settings, limits);
    assert_eq!(err(&mut desk, client, &set("/q", "123456789")), -125);
    assert_eq!(
        err(&mut desk, client, &set_version("/q", "123456789", 99)),
        -125,
        "before the version"
    );
    all_fine(&mut desk, client, &[set("/q", "12345678")]);
    assert_eq!(err(&mut desk, client, &create_data("/q/a", "x")), -125);
    all_fine(&mut desk, client, &[create("/q/a")]);
    assert_eq!(err(&mut desk, client, &create("/q/b")), -125);
    all_fine(&mut desk, client, &[delete("/q/a"), create("/q/b"), create("/elsewhere")]);
}

#[test]
fn nonsense_in_quota_nodes_harms_nobody() {
    let settings = Settings { enforce_quota: true, ..Settings::default() };
    let (mut desk, client) = with_quota(settings, "nonsense");
    all_fine(&mut desk, client, &[set(COUNTS, "\u{1}=;,="), set("/q", "x"), create("/q/x")]);
    all_fine(&mut desk, client, &[delete(COUNTS), create("/q/y")]);
}
