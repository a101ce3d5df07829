//! A client that speaks in bytes, and says exactly what it is told to.

use std::io::ErrorKind;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Duration, timeout};

/// A server that takes nothing for so long is taken to have stopped reading.
const SOON: Duration = Duration::from_millis(200);

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
}

impl Client {
    /// A connection, and nothing said.
    pub(crate) async fn dial(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream }
    }

    /// A connection with a session of 30 seconds.
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let mut client = Self::dial(address).await;
        client.open_session().await.expect("a session");
        client
    }

    /// Asks for a session of 30 seconds; `None` if the server has closed.
    pub(crate) async fn open_session(&mut self) -> Option<()> {
        self.send(&frame(&connect_request(30_000))).await;
        let response = self.frame().await?;
        assert_eq!(response.len(), 37);
        assert_eq!(response[4..8], 30_000_i32.to_be_bytes());
        Some(())
    }

    /// A session of 30 seconds: what the server said of it.
    #[allow(dead_code, reason = "not everybody goes on with one")]
    pub(crate) async fn new_session(&mut self) -> Vec<u8> {
        self.send(&frame(&connect_request(30_000))).await;
        self.frame().await.expect("a session")
    }

    /// Goes on with a session by what was said of it, and returns what is said of it now.
    #[allow(dead_code, reason = "not everybody goes on with one")]
    pub(crate) async fn resume_session(&mut self, session: &[u8]) -> Vec<u8> {
        let mut request = connect_request(30_000);
        // Its id and its password are in the same places after the timeout.
        let (timeout, known) = (12, 4);
        request[timeout..timeout + 32].copy_from_slice(&session[known..known + 32]);
        self.send(&frame(&request)).await;
        self.frame().await.expect("an answer")
    }

    /// Sends bytes. That the server may have closed already is found out by reading.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
        let _ = self.stream.flush().await;
    }

    /// Sends bytes if the server takes them all.
    pub(crate) async fn try_send(&mut self, bytes: &[u8]) -> bool {
        timeout(SOON, self.stream.write_all(bytes)).await.is_ok_and(|written| written.is_ok())
    }

    /// The next frame's payload, or `None` if the server has closed.
    pub(crate) async fn frame(&mut self) -> Option<Vec<u8>> {
        let mut length = [0; 4];
        self.fill(&mut length).await?;
        let mut payload = vec![0; usize::try_from(i32::from_be_bytes(length)).unwrap()];
        self.fill(&mut payload).await?;
        Some(payload)
    }

    async fn fill(&mut self, buffer: &mut [u8]) -> Option<()> {
        match self.stream.read_exact(buffer).await {
            Ok(_) => Some(()),
            Err(error) => {
                let closed = [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset];
                assert!(closed.contains(&error.kind()), "{error}");
                None
            }
        }
    }

    /// A reply's xid and error code.
    pub(crate) async fn reply(&mut self) -> Option<(i32, i32)> {
        let payload = self.frame().await?;
        let int = |at: usize| i32::from_be_bytes(payload[at..at + 4].try_into().unwrap());
        Some((int(0), int(12)))
    }

    /// Sends one request and expects this error code.
    pub(crate) async fn ask(&mut self, xid: i32, request: Vec<u8>, code: i32) {
        self.send(&frame(&request)).await;
        assert_eq!(self.reply().await, Some((xid, code)));
    }

    /// Whether the server still answers.
    pub(crate) async fn is_served(&mut self) -> bool {
        self.send(&frame(&ping())).await;
        self.reply().await == Some((-2, 0))
    }

    /// Everything until the server closes, as text.
    pub(crate) async fn text(&mut self) -> String {
        let mut text = Vec::new();
        // A server that has no room closes without looking, and TCP calls that a reset.
        let _ = self.stream.read_to_end(&mut text).await;
        String::from_utf8(text).unwrap()
    }
}

/// Asks a four-letter word.
pub(crate) async fn word(address: SocketAddr, letters: &str) -> String {
    let mut client = Client::dial(address).await;
    client.send(letters.as_bytes()).await;
    client.text().await
}

pub(crate) fn frame(payload: &[u8]) -> Vec<u8> {
    [&i32::try_from(payload.len()).unwrap().to_be_bytes()[..], payload].concat()
}

pub(crate) fn connect_request(timeout_ms: i32) -> Vec<u8> {
    let mut payload = vec![0; 12];
    payload.extend(timeout_ms.to_be_bytes());
    payload.extend([0; 8]);
    payload.extend(buffer(&[0; 16]));
    payload.push(0);
    payload
}

fn buffer(bytes: &[u8]) -> Vec<u8> {
    frame(bytes)
}

fn header(xid: i32, opcode: i32) -> Vec<u8> {
    [xid.to_be_bytes(), opcode.to_be_bytes()].concat()
}

pub(crate) fn ping() -> Vec<u8> {
    header(-2, 11)
}

pub(crate) fn close(xid: i32) -> Vec<u8> {
    header(xid, -11)
}

pub(crate) fn create(xid: i32, path: &str, data: &[u8]) -> Vec<u8> {
    let acl = [&31_i32.to_be_bytes()[..], &buffer(b"world"), &buffer(b"anyone")].concat();
    [
        header(xid, 1),
        buffer(path.as_bytes()),
        buffer(data),
        1_i32.to_be_bytes().to_vec(),
        acl,
        0_i32.to_be_bytes().to_vec(),
    ]
    .concat()
}

pub(crate) fn set_data(xid: i32, path: &str, data: &[u8]) -> Vec<u8> {
    let any = (-1_i32).to_be_bytes().to_vec();
    [header(xid, 5), buffer(path.as_bytes()), buffer(data), any].concat()
}

pub(crate) fn get_data(xid: i32, path: &str, watch: bool) -> Vec<u8> {
    [header(xid, 4), buffer(path.as_bytes()), vec![u8::from(watch)]].concat()
}

/// A persistent watch.
pub(crate) fn add_watch(xid: i32, path: &str) -> Vec<u8> {
    [header(xid, 106), buffer(path.as_bytes()), vec![0; 4]].concat()
}
