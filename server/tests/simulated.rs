//! The same server, unchanged, in a simulated network.
//!
//! ```text
//! RUSTFLAGS="--cfg madsim" cargo test -p zoolab-server --test simulated --target-dir target/madsim
//! ```
#![cfg(madsim)]

#[allow(dead_code, reason = "these clients say less")]
#[path = "sockets/client.rs"]
mod client;

use std::net::SocketAddr;

use client::{Client, create, get_data};
use madsim::net::NetSim;
use madsim::plugin::simulator;
use madsim::runtime::Handle;
use tokio::time::{Duration, sleep};
use zoolab_server::{Options, Serving};

const NO_NODE: i32 = -101;

fn server_address() -> SocketAddr {
    "10.0.0.1:2181".parse().unwrap()
}

fn ephemeral(xid: i32, path: &str) -> Vec<u8> {
    let mut request = create(xid, path, b"");
    *request.last_mut().unwrap() = 1;
    request
}

#[tokio::test]
async fn a_session_that_is_cut_off_expires_and_its_ephemeral_goes() {
    let handle = Handle::current();
    let server = handle.create_node().name("server").ip("10.0.0.1".parse().unwrap()).build();
    server.spawn(async {
        let options = Options { listen: server_address(), ..Options::default() };
        Serving::bind(options).await.unwrap().run(std::future::pending()).await.unwrap();
    });
    sleep(Duration::from_secs(1)).await;

    let lost = handle.create_node().name("lost").ip("10.0.0.2".parse().unwrap()).build();
    let _client = lost
        .spawn(async {
            let mut client = Client::connect(server_address()).await;
            client.ask(1, ephemeral(1, "/e"), 0).await;
            client
        })
        .await
        .unwrap();
    simulator::<NetSim>().clog_node(lost.id());

    let other = handle.create_node().name("other").ip("10.0.0.3".parse().unwrap()).build();
    let task = other.spawn(async {
        let mut client = Client::connect(server_address()).await;
        client.ask(1, get_data(1, "/e", false), 0).await;
        // Its timeout of 30 s, and a tick.
        for _ in 0..4 {
            sleep(Duration::from_secs(8)).await;
            assert!(client.is_served().await);
        }
        client.ask(2, get_data(2, "/e", false), NO_NODE).await;
    });
    task.await.unwrap();
}
