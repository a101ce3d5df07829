//! A server on a real socket, and clients that speak in bytes.
//!
//! Where a test is about deadlines, it pauses the clock once everybody is quiet. Time then jumps
//! from one deadline to the next, and seconds cost nothing.
#![cfg(not(madsim))]

mod client;
mod hostile;
mod limits;
mod sessions;
mod slow;
mod stop;
mod words;

use std::net::SocketAddr;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use zoolab_server::{Options, Serving, Whitelist};

/// A server that runs beside the test.
struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Running {
    async fn start(options: Options) -> Self {
        let serving = Serving::bind(options).await.unwrap();
        let address = serving.local_addr();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(serving.run(async {
            let _ = stopped.await;
        }));
        Self { address, stop, task }
    }

    /// With every four-letter word answered, and otherwise as by default.
    async fn talkative() -> Self {
        Self::start(Options { four_letter_words: Whitelist::all(), ..Options::default() }).await
    }

    /// Stops it as a signal would.
    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap().unwrap();
    }

    /// The test is over; a server that has ended by itself has panicked.
    fn end(self) {
        assert!(!self.task.is_finished(), "the server is gone");
        self.task.abort();
    }
}
