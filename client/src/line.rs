//! A connection that is up: bytes in, bytes out.

use std::future::pending;
use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::net::TcpStream;
use tokio::select;
use tokio::time::{Duration, timeout};
use zoolab_core::client::{Frame, Line};
use zoolab_core::wire::{self, Inbox};

/// What is left to be sent when a line is hung up has this long.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Wire {
    /// What the machine calls it.
    pub(crate) line: Line,
    reader: ReadHalf<TcpStream>,
    writer: WriteHalf<TcpStream>,
    /// What came and was not taken.
    pub(crate) inbox: Inbox,
    unsent: Vec<u8>,
    /// How much of `unsent` was written. Invariant: less than all of it, or nothing.
    written: usize,
}

/// What happened on a line.
#[derive(Debug)]
pub(crate) enum Traffic {
    /// Bytes came, and are in the inbox.
    Came,
    /// Nothing more will come.
    Ended(Option<io::Error>),
    /// Bytes went.
    Went,
}

impl Wire {
    pub(crate) fn new(line: Line, stream: TcpStream, frame_max: usize) -> Self {
        let (reader, writer) = split(stream);
        let inbox = Inbox::new(frame_max);
        Self { line, reader, writer, inbox, unsent: Vec::new(), written: 0 }
    }

    /// Has a frame sent as soon as there is room for it.
    pub(crate) fn send(&mut self, frame: &Frame) {
        wire::encode_frame(frame, &mut self.unsent);
    }

    /// Waits for something to happen. Dropping the future loses nothing.
    pub(crate) async fn traffic(&mut self) -> Traffic {
        let Self { reader, writer, inbox, unsent, written, .. } = self;
        let left = &unsent[*written..];
        let write = async {
            if left.is_empty() {
                return pending().await;
            }
            let count = writer.write(left).await?;
            // Here nothing waits: flushing a socket has nothing to do, and in a simulated network
            // it is at once. Otherwise being dropped in between would send the same bytes again.
            writer.flush().await?;
            Ok::<_, io::Error>(count)
        };
        select! {
            biased;
            count = write => match count {
                Ok(count) => {
                    *written += count;
                    if *written == unsent.len() {
                        unsent.clear();
                        *written = 0;
                    }
                    Traffic::Went
                }
                Err(error) => Traffic::Ended(Some(error)),
            },
            count = reader.read(inbox.space()) => match count {
                Ok(0) => Traffic::Ended(None),
                Ok(count) => {
                    inbox.filled(count);
                    Traffic::Came
                }
                Err(error) => Traffic::Ended(Some(error)),
            },
        }
    }

    /// Closes it once everything is sent, or could not be for a while.
    pub(crate) fn hang_up(self) {
        let Self { mut writer, unsent, written, reader, .. } = self;
        if unsent.is_empty() {
            return;
        }
        tokio::spawn(async move {
            let last = async {
                writer.write_all(&unsent[written..]).await?;
                writer.flush().await
            };
            // However this ends, the line is over.
            let _ = timeout(LAST_WRITE, last).await;
            drop(reader);
        });
    }
}
