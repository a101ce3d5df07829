//! How many clients are let in.

use zoolab_server::Options;

use crate::Running;
use crate::client::{Client, close, frame, word};

#[tokio::test]
async fn one_more_than_an_address_may_have_is_closed() {
    let options = Options { connections_per_address_max: Some(2), ..Options::default() };
    let server = Running::start(options).await;
    let mut first = Client::connect(server.address).await;
    let mut second = Client::connect(server.address).await;
    assert_eq!(Client::dial(server.address).await.frame().await, None);
    assert!(first.is_served().await);
    assert!(second.is_served().await);
    server.end();
}

#[tokio::test]
async fn who_leaves_makes_room() {
    let options = Options { connections_max: Some(1), ..Options::default() };
    let server = Running::start(options).await;
    let mut client = Client::connect(server.address).await;
    assert_eq!(Client::dial(server.address).await.frame().await, None);

    client.send(&frame(&close(1))).await;
    assert_eq!(client.reply().await, Some((1, 0)));
    assert_eq!(client.frame().await, None);
    drop(client);
    // The server learns of it in its own time.
    while word(server.address, "srvr").await.is_empty() {}
    // And that one has to leave as well.
    let mut next = Client::dial(server.address).await;
    while next.open_session().await.is_none() {
        next = Client::dial(server.address).await;
    }
    assert!(next.is_served().await);
    server.end();
}
