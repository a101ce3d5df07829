//! Reaching servers: names become addresses, addresses connections.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Duration, timeout};
use zoolab_core::client::Address;
use zoolab_core::wire;

use crate::luck::Luck;

/// How long a server may think about whether it can write.
const PROBE: Duration = Duration::from_secs(1);

/// The answer is `rw` or `ro` and a line feed. Whoever says more is no server of ours.
const PROBE_BYTES: usize = 16;

/// Connects to one of the addresses that a name stands for, tried in an order of luck.
pub(crate) async fn dial(host: Address, mut luck: Luck) -> io::Result<TcpStream> {
    let mut addresses: Vec<SocketAddr> = lookup_host((&*host.host, host.port)).await?.collect();
    luck.shuffle(&mut addresses);
    let mut last = None;
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::new(io::ErrorKind::NotFound, "a name of no address")))
}

/// Asks a server whether it can write. No answer is the same as no.
pub(crate) async fn probe(host: Address, luck: Luck) -> bool {
    let asked = async {
        let mut stream = dial(host, luck).await?;
        stream.write_all(wire::ISRO).await?;
        stream.flush().await?;
        let mut answer = Vec::new();
        let mut room = [0; PROBE_BYTES];
        while answer.len() < PROBE_BYTES {
            match stream.read(&mut room).await? {
                0 => break,
                count => answer.extend_from_slice(&room[..count]),
            }
        }
        Ok::<_, io::Error>(answer)
    };
    matches!(timeout(PROBE, asked).await, Ok(Ok(answer)) if wire::is_read_write(&answer))
}
