//! Where scripts are performed: a server as a process, and clients of it.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use zoolab_client::{Builder, Client, CreateMode};

use super::{Outcome, wrong};

/// How long a server may take to start. Java takes its time.
const START: Duration = Duration::from_secs(60);

/// How long a session may go unheard of. Only where this is the point it is short.
const SESSION: Duration = Duration::from_secs(30);

/// A server that this owns: it can be killed and started again.
#[derive(Debug)]
pub struct Stage {
    address: String,
    command: Vec<String>,
    server: Option<Child>,
}

impl Stage {
    /// Starts a server by this command, which must stay in the foreground and listen on this
    /// address.
    ///
    /// # Errors
    /// If it cannot be started, or serves nobody.
    pub async fn new(address: String, command: Vec<String>) -> Result<Self, String> {
        let mut stage = Self { address, command, server: None };
        stage.start().await?;
        Ok(stage)
    }

    /// Starts the server, and waits for it to serve.
    pub(super) async fn start(&mut self) -> Outcome {
        let (program, arguments) = self.command.split_first().ok_or("no command")?;
        let started = Command::new(program).args(arguments).stdout(Stdio::null()).spawn();
        self.server = Some(started.map_err(|error| format!("{program}: {error}"))?);
        let client = Client::builder(&self.address).connect_within(START).connect().await;
        client.map_err(wrong)?.close().await.map_err(wrong)
    }

    /// The server is gone without a word.
    pub(super) fn kill(&mut self) -> Outcome {
        let Some(mut server) = self.server.take() else { return Ok(()) };
        server.kill().and_then(|()| server.wait()).map(drop).map_err(wrong)
    }

    /// Where the server listens.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// How to connect to a place of the script's own: below a node of this name, by way of this
    /// address.
    pub(super) fn builder(address: &str, chroot: &str) -> Builder {
        Client::builder(&format!("{address}/{chroot}")).session_timeout(SESSION)
    }

    /// A client below an empty node of this name.
    pub(super) async fn client(&self, chroot: &str) -> Result<Client, String> {
        let root = Client::connect(&self.address).await.map_err(wrong)?;
        root.create(&format!("/{chroot}"), b"", CreateMode::Persistent).await.map_err(wrong)?;
        root.close().await.map_err(wrong)?;
        self.another(chroot).await
    }

    /// Another one there.
    pub(super) async fn another(&self, chroot: &str) -> Result<Client, String> {
        Self::builder(&self.address, chroot).connect().await.map_err(wrong)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Nobody is left to be told if it is gone already.
        let _ = self.kill();
    }
}
