//! The nodes. Each two of them have one message under way, which goes back and forth.
//!
//! On connections it is one byte, the least that can be sent; between endpoints it is an empty
//! box, and no name is looked up.

use std::net::SocketAddr;
use std::time::Duration;

use madsim::net::{Endpoint, TcpListener, TcpStream};
use madsim::runtime::{NodeHandle, Runtime};
use madsim::task::JoinHandle;
use nix::time::{ClockId, clock_gettime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const NODES: u8 = 5;
const PAIRS: u64 = NODES as u64 * (NODES as u64 - 1) / 2;
/// When everybody listens.
const READY: Duration = Duration::from_secs(1);

/// A node, and how often it has to send to each of its peers.
pub(crate) struct Node {
    number: u8,
    handle: NodeHandle,
    rounds: u64,
}

/// How many messages arrive per second of the processor, of about so many in all.
pub(crate) fn rate(messages: u64, play: fn(&Node) -> JoinHandle<()>) -> f64 {
    // Some of the chance of a process belongs to its threads.
    let thread = std::thread::spawn(move || {
        let rounds = messages.div_ceil(PAIRS * 2);
        let start = worked();
        let runtime = Runtime::new();
        let nodes = (0..NODES).map(|number| {
            let handle = runtime.create_node().ip(address(number).ip()).build();
            Node { number, handle, rounds }
        });
        let games: Vec<JoinHandle<()>> = nodes.map(|node| play(&node)).collect();
        runtime.block_on(async {
            for game in games {
                game.await.expect("nobody stops it");
            }
        });
        (PAIRS * 2 * rounds) as f64 / (worked() - start).as_secs_f64()
    });
    thread.join().expect("nothing in it fails")
}

/// How long this thread has been running. Within the simulation there is no such clock.
fn worked() -> Duration {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    Duration::from(time.expect("the kernel counts the time of threads"))
}

fn address(number: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, number + 1], 1))
}

/// Plays on connections: every node dials those before it, and they begin.
pub(crate) fn over_tcp(node: &Node) -> JoinHandle<()> {
    let Node { number, rounds, .. } = *node;
    node.handle.spawn(async move {
        let listener = TcpListener::bind(address(number)).await.expect("the port is free");
        madsim::time::sleep(READY).await;
        let mut games = Vec::new();
        for peer in 0..number {
            let stream = TcpStream::connect(address(peer)).await.expect("it listens");
            games.push(madsim::task::spawn(pass(stream, rounds, false)));
        }
        for _ in number + 1..NODES {
            let (stream, _) = listener.accept().await.expect("somebody dials");
            games.push(madsim::task::spawn(pass(stream, rounds, true)));
        }
        for game in games {
            game.await.expect("nobody stops it");
        }
    })
}

async fn pass(mut stream: TcpStream, rounds: u64, begins: bool) {
    let mut message = [0];
    if begins {
        stream.write_all(&message).await.expect("it is open");
        stream.flush().await.expect("it is open");
    }
    for round in 1..=rounds {
        stream.read_exact(&mut message).await.expect("it is open");
        // Whoever has begun does not answer the last.
        if round < rounds || !begins {
            stream.write_all(&message).await.expect("it is open");
            stream.flush().await.expect("it is open");
        }
    }
}

/// Plays between endpoints, one for each node; the tag says which game a message belongs to.
pub(crate) fn over_udp(node: &Node) -> JoinHandle<()> {
    let Node { number, rounds, .. } = *node;
    node.handle.spawn(async move {
        let endpoint = Endpoint::bind(address(number)).await.expect("the port is free");
        madsim::time::sleep(READY).await;
        let mut games = Vec::new();
        for peer in (0..NODES).filter(|peer| *peer != number) {
            games.push(madsim::task::spawn(throw(endpoint.clone(), number, peer, rounds)));
        }
        for game in games {
            game.await.expect("nobody stops it");
        }
    })
}

async fn throw(endpoint: Endpoint, me: u8, peer: u8, rounds: u64) {
    let tag = u64::from(me.min(peer)) << 8 | u64::from(me.max(peer));
    let begins = me < peer;
    if begins {
        endpoint.send_to_raw(address(peer), tag, Box::new(())).await.expect("it is bound");
    }
    for round in 1..=rounds {
        let (message, _) = endpoint.recv_from_raw(tag).await.expect("it is bound");
        if round < rounds || !begins {
            endpoint.send_to_raw(address(peer), tag, message).await.expect("it is bound");
        }
    }
}
