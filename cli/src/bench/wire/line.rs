//! One connection of a load: bytes that wait to be sent, bytes that came, requests on their way.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use zoolab_core::Xid;
use zoolab_core::request::Request;
use zoolab_core::wire::jute::{Reader, Writer};

use super::mix::Kind;
use crate::bench::clock::now;
use crate::bench::frame::frame;

/// How long a server may take to say anything.
const PATIENCE: Duration = Duration::from_secs(30);

/// What came back for one request.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) kind: Kind,
    pub(super) asked: Instant,
    /// 0 if all went well.
    pub(super) err: i32,
    /// What follows the header.
    pub(super) body: &'a [u8],
}

#[derive(Debug)]
pub(super) struct Line {
    stream: TcpStream,
    xid: i32,
    /// Written so far of `out`.
    written: usize,
    out: Vec<u8>,
    inbox: Vec<u8>,
    /// Asked and not answered, in order.
    due: VecDeque<(Kind, Instant)>,
}

impl Line {
    /// Connects and opens a session.
    pub(super) fn open(address: SocketAddr) -> Result<Self, String> {
        let cannot = |error: std::io::Error| format!("{address}: {error}");
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(cannot)?;
        stream.set_nodelay(true).map_err(cannot)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(cannot)?;
        let mut hello = Vec::new();
        let mut first = Writer::frame(&mut hello);
        first.int(0);
        first.long(0);
        first.int(60_000);
        first.long(0);
        first.buffer(Some(&[0; 16]));
        first.bool(false);
        first.finish();
        stream.write_all(&hello).map_err(cannot)?;
        let mut length = [0; 4];
        let no_session = |error| format!("{address}: no session: {error}");
        stream.read_exact(&mut length).map_err(no_session)?;
        let length = u32::from_be_bytes(length) as usize;
        if !(36..=64).contains(&length) {
            return Err(format!(
                "{address}: no ZooKeeper: an answer of {length} bytes, 37 expected"
            ));
        }
        let mut welcome = vec![0; length];
        stream.read_exact(&mut welcome).map_err(no_session)?;
        stream.set_nonblocking(true).map_err(cannot)?;
        let (out, inbox, due) = (Vec::new(), Vec::new(), VecDeque::new());
        Ok(Self { stream, xid: 0, written: 0, out, inbox, due })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Whether bytes wait to be sent.
    pub(super) fn is_sending(&self) -> bool {
        self.written < self.out.len()
    }

    /// How many requests are on their way.
    pub(super) fn due(&self) -> usize {
        self.due.len()
    }

    /// Adds a request to the next write.
    pub(super) fn ask(&mut self, kind: Kind, request: &Request, asked: Instant) {
        self.xid = self.xid.wrapping_add(1).max(1);
        frame(Xid(self.xid), request, &mut self.out);
        self.due.push_back((kind, asked));
    }

    /// Sends as much as the socket takes.
    pub(super) fn send(&mut self) -> Result<(), String> {
        while self.is_sending() {
            match self.stream.write(&self.out[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(format!("while sending: {error}")),
            }
        }
        self.out.clear();
        self.written = 0;
        Ok(())
    }

    /// Takes what has come, and hands over each answer.
    pub(super) fn receive(&mut self, mut each: impl FnMut(Answer<'_>)) -> Result<(), String> {
        let mut chunk = [0; 64 * 1024];
        match self.stream.read(&mut chunk) {
            Ok(0) => return Err("the server closed the connection".into()),
            Ok(count) => self.inbox.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(format!("while receiving: {error}")),
        }
        let mut at = 0;
        while let Some((length, rest)) = self.inbox[at..].split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            let Some(payload) = rest.get(..length) else { break };
            at += 4 + length;
            let mut reader = Reader::new(payload, length);
            let header = (reader.int(), reader.long(), reader.int());
            let (Ok(_), Ok(_), Ok(err)) = header else {
                return Err(format!("a reply of {length} bytes, at least 16 expected"));
            };
            let Some((kind, asked)) = self.due.pop_front() else {
                return Err("an answer to nothing".into());
            };
            each(Answer { kind, asked, err, body: &payload[16..] });
        }
        self.inbox.drain(..at);
        Ok(())
    }

    /// Asks everything and waits for all answers, with so many on their way at a time.
    pub(super) fn all(
        &mut self,
        requests: impl IntoIterator<Item = Request>,
        depth: usize,
        mut each: impl FnMut(Answer<'_>),
    ) -> Result<(), String> {
        let mut requests = requests.into_iter();
        loop {
            let asked = now();
            while self.due() < depth
                && let Some(request) = requests.next()
            {
                self.ask(Kind::Create, &request, asked);
            }
            if self.due() == 0 {
                return Ok(());
            }
            self.send()?;
            super::load::wait(std::iter::once(&*self), PATIENCE)?;
            self.receive(&mut each)?;
        }
    }
}
