//! Four-letter words over the socket.

use insta::assert_snapshot;
use zoolab_server::{Options, Word};

use crate::Running;
use crate::client::{Client, add_watch, create, get_data, set_data, word};

/// Text without what differs from run to run: the port behind each address, ids, times.
fn steady(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let markers = ["127.0.0.1:", "clientPort=", "0x1", "est=", "lresp=", " expire at "];
    while let Some((at, marker)) =
        markers.iter().filter_map(|marker| Some((rest.find(marker)?, marker))).min()
    {
        let (before, behind) = rest.split_at(at + marker.len());
        out += before;
        out += "_";
        let end = if *marker == " expire at " { ":\n" } else { "[,):\n " };
        rest = match *marker {
            " expire at " => &behind[behind.find(end).unwrap()..],
            _ => &behind[behind.find(|c| end.contains(c)).unwrap_or(behind.len())..],
        };
    }
    out + rest
}

#[tokio::test]
async fn by_default_only_srvr_is_answered() {
    let server = Running::start(Options::default()).await;
    for known in Word::ALL.map(Word::letters) {
        let answer = word(server.address, &format!("{known}\0\0\0\0\0\0\0\0")).await;
        if known == "srvr" {
            assert!(answer.starts_with("Zookeeper version: 3.9.0-zoolab-"), "{answer}");
        } else {
            let expected = format!("{known} is not executed because it is not in the whitelist.\n");
            assert_eq!(answer, expected);
        }
    }
    server.end();
}

#[tokio::test]
async fn words_are_understood_however_they_arrive() {
    let server = Running::talkative().await;
    assert_eq!(word(server.address, "ruok\n").await, "imok");
    assert_eq!(word(server.address, "ruok and more\r\n").await, "imok");
    let mut client = Client::dial(server.address).await;
    for letter in b"ruok" {
        client.send(&[*letter]).await;
    }
    assert_eq!(client.text().await, "imok");
    server.end();
}

#[tokio::test]
async fn the_trace_mask_is_remembered() {
    let server = Running::talkative().await;
    assert_eq!(word(server.address, "gtmk").await, "306");
    assert_eq!(word(server.address, "stmk\0\0\0\0\0\0\x01\x02").await, "258");
    assert_eq!(word(server.address, "gtmk").await, "258");
    server.end();
}

#[tokio::test]
async fn answers_read_as_zookeepers() {
    let server = Running::talkative().await;
    let mut client = Client::connect(server.address).await;
    client.ask(1, create(1, "/a", b"12345"), 0).await;
    client.ask(2, get_data(2, "/a", true), 0).await;
    client.ask(3, add_watch(3, "/b"), 0).await;
    client.ask(4, set_data(4, "/nowhere", b""), -101).await;
    assert!(client.is_served().await);

    let mut all = String::new();
    for letters in ["srvr", "stat", "cons", "conf", "dirs", "dump", "isro", "wchs", "wchc", "wchp"]
    {
        let answer = word(server.address, letters).await;
        all += &format!("---- {letters}\n{}\n", steady(&answer));
    }
    assert_snapshot!(all);
    server.end();
}

#[tokio::test]
async fn counts_can_be_forgotten() {
    let server = Running::talkative().await;
    let mut client = Client::connect(server.address).await;
    assert!(client.is_served().await);
    assert!(word(server.address, "stat").await.contains("(queued=0,recved=2,sent=2)"));
    assert_eq!(word(server.address, "crst").await, "Connection stats reset.\n");
    assert!(word(server.address, "stat").await.contains("(queued=0,recved=0,sent=0)"));
    assert_eq!(word(server.address, "srst").await, "Server stats reset.\n");
    // The answer to srst is counted, and the question is not yet when it is put.
    assert!(word(server.address, "srvr").await.contains("Received: 1\nSent: 1\n"));
    server.end();
}

#[tokio::test]
async fn digests_are_told_every_128_transactions() {
    let server = Running::talkative().await;
    let mut client = Client::connect(server.address).await;
    assert_eq!(word(server.address, "hash").await, "");
    client.ask(1, create(1, "/a", b""), 0).await;
    for xid in 2..300 {
        client.ask(xid, set_data(xid, "/a", b"x"), 0).await;
    }
    let hash = word(server.address, "hash").await;
    let zxids: Vec<_> = hash.lines().map(|line| line.split_once(": ").unwrap().0).collect();
    assert_eq!(zxids, ["80", "100"]);
    server.end();
}

#[tokio::test]
async fn mntr_counts_what_happened() {
    let server = Running::talkative().await;
    let mut client = Client::connect(server.address).await;
    client.ask(1, create(1, "/a", b"12345"), 0).await;
    client.ask(2, get_data(2, "/a", true), 0).await;
    let answer = word(server.address, "mntr").await;
    for line in [
        "zk_server_state\tstandalone",
        "zk_packets_received\t4",
        "zk_packets_sent\t3",
        "zk_num_alive_connections\t2",
        "zk_outstanding_requests\t0",
        "zk_znode_count\t6",
        "zk_watch_count\t1",
        "zk_global_sessions\t1",
        "zk_commit_count\t2",
        "zk_connection_request_count\t1",
        "zk_cnt_readlatency\t1",
        "zk_cnt_updatelatency\t2",
    ] {
        assert!(answer.lines().any(|found| found == line), "no {line:?} in\n{answer}");
    }
    server.end();
}
