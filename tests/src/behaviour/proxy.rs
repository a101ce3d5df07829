//! A way to a server that can be cut.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::select;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{Outcome, wrong};

/// Passes bytes on, both ways, until it is cut. Then every connection ends, also each new one.
pub(super) struct Proxy {
    address: SocketAddr,
    is_open: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// A way to this address.
    pub(super) async fn to(address: &str) -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(wrong)?;
        let (is_open, open) = watch::channel(true);
        let here = listener.local_addr().map_err(wrong)?;
        let task = tokio::spawn(pass(listener, address.to_owned(), open));
        Ok(Self { address: here, is_open, task })
    }

    /// Where it begins.
    pub(super) fn address(&self) -> String {
        self.address.to_string()
    }

    /// Nothing comes through any more.
    pub(super) fn cut(&self) -> Outcome {
        self.is_open.send(false).map_err(wrong)
    }

    /// Everything comes through again.
    pub(super) fn heal(&self) -> Outcome {
        self.is_open.send(true).map_err(wrong)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(listener: TcpListener, address: String, open: watch::Receiver<bool>) {
    while let Ok((mut near, _)) = listener.accept().await {
        let mut open = open.clone();
        if !*open.borrow_and_update() {
            continue;
        }
        let Ok(mut far) = TcpStream::connect(&address).await else { continue };
        tokio::spawn(async move {
            select! {
                _ = copy_bidirectional(&mut near, &mut far) => {}
                _ = open.wait_for(|open| !open) => {}
            }
        });
    }
}
