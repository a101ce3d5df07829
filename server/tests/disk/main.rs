//! A server and its disk: when it answers, what a power loss leaves, how it ends.
#![cfg(not(madsim))]

#[allow(dead_code, reason = "these clients say less")]
#[path = "../sockets/client.rs"]
mod client;
mod memory;

use std::io;
use std::net::SocketAddr;

use client::{Client, create, frame, get_data, set_data};
use memory::Memory;
use tokio::task::JoinHandle;
use tokio::time::{Duration, timeout};
use zoolab_server::{Options, Serving};

const NO_NODE: i32 = -101;

async fn start(disk: &Memory) -> (SocketAddr, JoinHandle<io::Result<()>>) {
    // The files are copied over and over; they should not be long.
    let options = Options { log_grows_by: 0, ..Options::default() };
    let serving = Serving::recover(options, Box::new(disk.clone())).await.unwrap();
    let address = serving.local_addr();
    (address, tokio::spawn(serving.run(std::future::pending())))
}

/// Without a word to anybody.
async fn lose_power(disk: &Memory, server: JoinHandle<io::Result<()>>) {
    server.abort();
    assert!(server.await.unwrap_err().is_cancelled());
    disk.lose_power();
}

/// A node that was answered for, after a power loss.
async fn answered_and_lost_power(disk: &Memory) -> (i32, i32) {
    let (address, server) = start(disk).await;
    let mut client = Client::connect(address).await;
    client.ask(1, create(1, "/a", b"one"), 0).await;
    lose_power(disk, server).await;
    let (address, _server) = start(disk).await;
    let mut client = Client::connect(address).await;
    client.send(&frame(&get_data(1, "/a", false))).await;
    client.reply().await.unwrap()
}

#[tokio::test]
async fn what_was_answered_survives_a_power_loss() {
    assert_eq!(answered_and_lost_power(&Memory::default()).await, (1, 0));
}

/// The same on a disk that syncs nothing: the test would notice.
#[tokio::test]
async fn a_disk_that_lies_is_found_out() {
    let disk = Memory::default();
    drop(start(&disk).await);
    disk.lie();
    assert_eq!(answered_and_lost_power(&disk).await, (1, NO_NODE));
}

#[tokio::test]
async fn nothing_is_answered_before_it_is_synced() {
    let disk = Memory::default();
    let (address, _server) = start(&disk).await;
    let mut client = Client::connect(address).await;
    let before = disk.syncs();
    disk.sync_takes(Duration::from_secs(3600));
    client.send(&frame(&create(1, "/a", b""))).await;
    // Neither the write, nor a read that comes after it, nor anybody else's.
    client.send(&frame(&get_data(2, "/a", false))).await;
    assert!(timeout(Duration::from_millis(100), client.reply()).await.is_err());
    assert_eq!(disk.syncs(), before);
}

#[tokio::test]
async fn what_comes_while_the_disk_is_busy_shares_a_sync() {
    let disk = Memory::default();
    let (address, _server) = start(&disk).await;
    let mut clients = Vec::new();
    for name in ["/a", "/b", "/c", "/d"] {
        let mut client = Client::connect(address).await;
        client.ask(1, create(1, name, b""), 0).await;
        clients.push((name, client));
    }
    let before = disk.syncs();
    disk.sync_takes(Duration::from_millis(200));
    for (name, client) in &mut clients {
        let sets: Vec<u8> = (2..252).flat_map(|xid| frame(&set_data(xid, name, b"x"))).collect();
        client.send(&sets).await;
    }
    for (_, client) in &mut clients {
        for xid in 2..252 {
            assert_eq!(client.reply().await, Some((xid, 0)));
        }
    }
    let syncs = disk.syncs() - before;
    assert!((1..20).contains(&syncs), "{syncs} syncs for 1000 writes");
}

#[tokio::test]
async fn a_disk_that_fails_ends_the_server_and_the_write_is_not_answered() {
    let disk = Memory::default();
    let (address, server) = start(&disk).await;
    let mut client = Client::connect(address).await;
    disk.fail();
    client.send(&frame(&create(1, "/a", b""))).await;
    let error = server.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("the disk is broken"), "{error}");
    // Nobody serves the connection any more, and nothing had been said on it.
    assert!(timeout(Duration::from_millis(100), client.reply()).await.is_err());
}

#[tokio::test]
async fn a_client_far_ahead_of_the_disk_is_not_read_from() {
    let disk = Memory::default();
    let (address, _server) = start(&disk).await;
    let mut client = Client::connect(address).await;
    client.ask(1, create(1, "/a", b""), 0).await;
    disk.sync_takes(Duration::from_secs(3600));
    let set = frame(&set_data(2, "/a", &[7; 10_000]));
    let mut taken = 0;
    while taken < 10_000 && client.try_send(&set).await {
        taken += 1;
    }
    assert!(taken < 10_000, "100 MB and more are taken");
}

#[tokio::test]
async fn sessions_and_their_ephemerals_go_on() {
    let disk = Memory::default();
    let (address, server) = start(&disk).await;
    let mut client = Client::dial(address).await;
    let session = client.new_session().await;
    let mut ephemeral = create(1, "/e", b"");
    *ephemeral.last_mut().unwrap() = 1;
    client.ask(1, ephemeral, 0).await;
    lose_power(&disk, server).await;
    let (address, _server) = start(&disk).await;
    let mut client = Client::dial(address).await;
    assert_eq!(client.resume_session(&session).await, session, "with its id and its timeout");
    client.ask(2, get_data(2, "/e", false), 0).await;
}
