//! Clients that do not read.

use tokio::time::{Duration, pause, resume, sleep};
use zoolab_server::{Options, Whitelist};

use crate::Running;
use crate::client::{Client, add_watch, create, frame, get_data, set_data, word};

/// Sends requests for a large node, without reading, until the server takes no more.
async fn stuff(client: &mut Client, path: &str) -> i32 {
    let mut xid = 1;
    while client.try_send(&frame(&get_data(xid, path, false))).await {
        xid += 1;
        assert!(xid < 1_000_000, "the server reads on and on");
    }
    xid
}

#[tokio::test]
async fn who_does_not_read_is_not_read_from_and_gets_everything_later() {
    let server = Running::start(Options::default()).await;
    let mut other = Client::connect(server.address).await;
    other.ask(1, create(1, "/large", &vec![7; 20_000]), 0).await;

    let mut client = Client::connect(server.address).await;
    let blocked = stuff(&mut client, "/large").await;
    assert!(other.is_served().await);

    // The request that blocked may have been sent in part; all before it are answered.
    for xid in 1..blocked {
        assert_eq!(client.reply().await, Some((xid, 0)));
    }
    assert!(other.is_served().await);
    server.end();
}

#[tokio::test]
async fn events_pile_up_only_so_far() {
    let options = Options {
        unsent_events_max: 10,
        four_letter_words: Whitelist::all(),
        ..Options::default()
    };
    let server = Running::start(options).await;
    let mut other = Client::connect(server.address).await;
    other.ask(1, create(1, "/large", &vec![7; 20_000]), 0).await;
    other.ask(2, create(2, "/watched", b""), 0).await;

    let mut client = Client::connect(server.address).await;
    client.ask(1, add_watch(1, "/watched"), 0).await;
    stuff(&mut client, "/large").await;
    // Some events may still fit into the sockets; then they wait, and then there are too many.
    let mut xid = 2;
    while word(server.address, "srvr").await.contains("Connections: 3\n") {
        xid += 1;
        other.ask(xid, set_data(xid, "/watched", b"x"), 0).await;
        assert!(xid < 1_000_000, "events are kept for ever");
    }
    assert!(xid > 2 + 10, "closed after {} events", xid - 2);

    // The connection is gone, the session is not.
    assert!(word(server.address, "mntr").await.contains("zk_global_sessions\t2\n"));
    while client.frame().await.is_some() {}
    assert!(other.is_served().await);
    server.end();
}

#[tokio::test]
async fn a_session_that_does_not_read_expires_like_any_other() {
    let server = Running::start(Options::default()).await;
    let mut other = Client::connect(server.address).await;
    other.ask(1, create(1, "/large", &vec![7; 20_000]), 0).await;
    let mut client = Client::connect(server.address).await;
    stuff(&mut client, "/large").await;
    for _ in 0..5 {
        pause();
        sleep(Duration::from_secs(10)).await;
        resume();
        assert!(other.is_served().await);
    }
    assert!(word(server.address, "srvr").await.contains("Connections: 2\n"), "one and the word");
    while client.frame().await.is_some() {}
    server.end();
}
