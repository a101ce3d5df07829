//! How a server ends.

use tokio::join;
use tokio::time::{Duration, pause, resume, timeout};
use zoolab_server::Options;

use crate::Running;
use crate::client::{Client, create, frame, get_data};

#[tokio::test]
async fn a_stop_closes_all_connections_and_lets_nobody_in() {
    let server = Running::start(Options::default()).await;
    let address = server.address;
    let mut silent = Client::dial(address).await;
    let mut half = Client::dial(address).await;
    half.send(&[0, 0]).await;
    let mut client = Client::connect(address).await;
    assert!(client.is_served().await);
    let clients = async {
        assert_eq!(client.frame().await, None);
        assert_eq!(silent.frame().await, None);
        assert_eq!(half.frame().await, None);
        drop((client, silent, half));
    };
    join!(server.stop(), clients);
    let refused = tokio::net::TcpStream::connect(address).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn what_was_answered_is_sent_before_the_end() {
    let server = Running::start(Options::default()).await;
    let mut client = Client::connect(server.address).await;
    client.ask(1, create(1, "/large", &vec![7; 1_000_000]), 0).await;
    // More than the sockets hold, so that the server is still writing when it is told to stop.
    let requests: Vec<u8> =
        (2..12).flat_map(|xid| frame(&get_data(xid, "/large", false))).collect();
    client.send(&requests).await;
    assert_eq!(client.reply().await, Some((2, 0)));
    let Running { stop, task, .. } = server;
    stop.send(()).unwrap();
    let mut answered = 2;
    while let Some((xid, code)) = client.reply().await {
        answered += 1;
        assert_eq!((xid, code), (answered, 0));
    }
    assert!(answered > 2, "{answered}");
    drop(client);
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_does_not_read_cannot_hold_up_a_stop() {
    let server = Running::start(Options::default()).await;
    let mut client = Client::connect(server.address).await;
    client.ask(1, create(1, "/large", &vec![7; 1_000_000]), 0).await;
    let requests: Vec<u8> =
        (2..50).flat_map(|xid| frame(&get_data(xid, "/large", false))).collect();
    client.send(&requests).await;
    assert_eq!(client.reply().await, Some((2, 0)));
    pause();
    timeout(Duration::from_secs(20), server.stop()).await.unwrap();
    resume();
    while client.frame().await.is_some() {}
}
