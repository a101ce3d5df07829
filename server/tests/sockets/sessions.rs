//! What time does to connections.

use tokio::time::{Duration, Instant, pause, resume, sleep};
use zoolab_core::Settings;
use zoolab_server::Options;

use crate::Running;
use crate::client::{Client, add_watch, connect_request, create, frame, get_data, set_data, word};

#[tokio::test]
async fn who_says_nothing_is_closed_after_ten_seconds() {
    let server = Running::start(Options::default()).await;
    for bytes in [&b""[..], b"ruo", b"stmk", &[0, 0, 0, 45, 0, 0]] {
        let mut client = Client::dial(server.address).await;
        client.send(bytes).await;
        // Whoever asks after it knows that the server has let it in.
        assert!(word(server.address, "srvr").await.contains("Connections: 2\n"));
        let start = Instant::now();
        pause();
        assert_eq!(client.frame().await, None);
        let waited = start.elapsed().as_millis();
        resume();
        assert!((9000..=10_010).contains(&waited), "{waited} ms after {bytes:?}");
    }
    server.end();
}

#[tokio::test]
async fn a_session_that_says_nothing_expires_and_its_connection_is_closed() {
    let settings = Settings::with_tick(1000);
    let server = Running::start(Options { settings, ..Options::default() }).await;
    for timeout_ms in [2000, 5000, 20_000] {
        let mut client = Client::dial(server.address).await;
        client.send(&frame(&connect_request(timeout_ms))).await;
        assert!(client.frame().await.is_some());
        let start = Instant::now();
        pause();
        assert_eq!(client.frame().await, None);
        let lived = i32::try_from(start.elapsed().as_millis()).unwrap();
        resume();
        // What went by before the answer was here does not count, but it is little.
        let expected = timeout_ms - 500..=timeout_ms + 1000 + 10;
        assert!(expected.contains(&lived), "{lived} ms of {timeout_ms}");
    }
    server.end();
}

#[tokio::test]
async fn a_session_that_pings_lives_on() {
    let server = Running::start(Options::default()).await;
    let mut client = Client::connect(server.address).await;
    for _ in 0..20 {
        pause();
        sleep(Duration::from_secs(29)).await;
        resume();
        assert!(client.is_served().await);
    }
    server.end();
}

#[tokio::test]
async fn requests_behind_the_first_frame_are_served_in_order() {
    let server = Running::start(Options::default()).await;
    let mut client = Client::dial(server.address).await;
    let mut bytes = frame(&connect_request(30_000));
    bytes.extend(frame(&create(1, "/a", b"")));
    for xid in 2..500 {
        bytes.extend(frame(&get_data(xid, "/a", false)));
    }
    // One byte at a time at first, then all that is left.
    for byte in bytes.drain(..100).collect::<Vec<_>>() {
        client.send(&[byte]).await;
    }
    client.send(&bytes).await;
    assert_eq!(client.frame().await.map(|response| response.len()), Some(37));
    for xid in 1..500 {
        assert_eq!(client.reply().await, Some((xid, 0)));
    }
    server.end();
}

#[tokio::test]
async fn others_are_told_what_they_watch() {
    const EVENT: i32 = -1;
    let server = Running::start(Options::default()).await;
    let mut writer = Client::connect(server.address).await;
    writer.ask(1, create(1, "/a", b""), 0).await;
    let mut watchers = Vec::new();
    for _ in 0..20 {
        let mut watcher = Client::connect(server.address).await;
        watcher.ask(1, add_watch(1, "/a"), 0).await;
        watchers.push(watcher);
    }
    for xid in 2..12 {
        writer.ask(xid, set_data(xid, "/a", b"x"), 0).await;
    }
    for mut watcher in watchers {
        for _ in 2..12 {
            assert_eq!(watcher.reply().await, Some((EVENT, 0)));
        }
        assert!(watcher.is_served().await);
    }
    server.end();
}
