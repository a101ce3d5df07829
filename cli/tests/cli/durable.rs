//! `zoolab serve --data`: what was answered is there after a kill, and whoever cannot keep it
//! says so.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tokio::runtime::Builder;
use tokio::time::{Duration, timeout};
use zoolab_client::{Client, CreateMode, Failed, SessionState, Stat};

use crate::program::{Folder, Server, run};

const KEYS: u64 = 7;
const ROUNDS: u64 = 8;

/// More than any of this takes, on any machine.
const LONG: Duration = Duration::from_secs(60);

fn block_on<T>(story: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { timeout(LONG, story).await.expect("it takes too long") })
}

fn key(write: u64) -> String {
    format!("/key-{}", write % KEYS)
}

async fn read(zk: &Client, write: u64) -> Result<(u64, Stat), Failed> {
    let content = zk.get(&key(write)).await?;
    Ok((std::str::from_utf8(content.bytes()).unwrap().parse().unwrap(), content.stat))
}

/// One client writes numbers, one after the other and many on their way at a time, while its
/// server is killed over and over. Says what is not as it was answered.
async fn survives(arguments: &[&str]) -> Result<(), String> {
    let mut server = Server::start(arguments);
    let address = server.address.clone();
    let zk = Client::connect(&address).await.unwrap();
    let mut states = zk.states();
    for write in 0..KEYS {
        zk.create(&key(write), b"0", CreateMode::Persistent).await.unwrap();
    }
    zk.create("/mine", b"", CreateMode::Ephemeral).await.unwrap();
    let session = zk.session().unwrap();

    let mut asked = 0;
    for round in 0..ROUNDS {
        let sets: Vec<_> = (0..300)
            .map(|_| {
                asked += 1;
                (asked, zk.set(&key(asked), asked.to_string().as_bytes(), None))
            })
            .collect();
        // Another moment each time: before the first answer, after the last, and in between.
        let (mut patience, mut answered) = (round * 43, 0);
        for (write, set) in sets {
            match set.await {
                Ok(_) => answered = write,
                Err(Failed::ConnectionLoss) => break,
                Err(failed) => return Err(format!("round {round}: {failed:?}")),
            }
            patience = patience.saturating_sub(1);
            if patience == 0 {
                server.kill();
            }
        }
        server.kill();
        while states.next().await != Some(SessionState::Disconnected) {}
        server = Server::start_on(&address, arguments);

        // Somebody new looks: a client that has seen more than its server has is not let in.
        let other = Client::connect(&address).await.unwrap();
        let mut found = Vec::new();
        for write in 0..KEYS {
            let found_it = read(&other, write).await;
            found.push(found_it.map_err(|failed| format!("round {round}: lost: {failed:?}"))?);
        }
        let last = found.iter().map(|(write, _)| *write).max().unwrap();
        if !(answered..=asked).contains(&last) {
            return Err(format!("{answered} was answered, {asked} asked, and {last} is there"));
        }
        for (key, (write, stat)) in (0..).zip(found) {
            let expected = (0..=last).rev().find(|write| write % KEYS == key).unwrap();
            if write != expected {
                return Err(format!(
                    "key {key} has {write} where {last} is the last, not {expected}"
                ));
            }
            if stat.version == 0 && write > 0 {
                return Err(format!("key {key} was never set, and has {write}"));
            }
        }
        match states.next().await {
            Some(SessionState::SyncConnected) => {}
            other => return Err(format!("round {round}: the session is lost: {other:?}")),
        }
        let owner = other.exists("/mine").await.unwrap().map(|stat| stat.ephemeral_owner);
        if owner != Some(session.id) || zk.session() != Some(session) {
            return Err(format!("the ephemeral of {session:?} is of {owner:?}"));
        }
        other.close().await.unwrap();
        // What is there is safe now, and what comes next comes after it.
        asked = last.max(asked);
        for write in asked + 1..=asked + KEYS {
            zk.set(&key(write), write.to_string().as_bytes(), None).await.unwrap();
        }
        asked += KEYS;
    }
    zk.close().await.unwrap();
    Ok(())
}

#[test]
fn what_was_answered_is_there_after_a_kill() {
    let folder = Folder::new("killed");
    let data = folder.path().join("data");
    // So few that snapshots are in the making most of the time.
    let arguments = ["--data", data.to_str().unwrap(), "--snapshot-every", "53"];
    block_on(survives(&arguments)).unwrap();
    let names = names(&data.join("version-2"));
    let snapshots = names.iter().filter(|name| name.starts_with("snapshot.")).count();
    assert!((3..=4).contains(&snapshots), "{names:?}");
}

/// The same story where everything is in memory: the test would notice.
#[test]
fn a_server_that_forgets_is_found_out() {
    let lost = block_on(survives(&[])).unwrap_err();
    assert_eq!(lost, "round 0: lost: Code(NoNode)");
}

fn names(path: &Path) -> Vec<String> {
    fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_full_disk_ends_the_server_and_is_named() {
    let folder = Folder::new("full");
    let data = folder.path().join("data");
    let server = Server::start(&["--data", data.to_str().unwrap()]);
    // The first write begins the log, which is somewhere else now.
    symlink("/dev/full", data.join("version-2/log.1")).unwrap();
    let within = Duration::from_secs(1);
    let connected =
        async { Client::builder(&server.address).connect_within(within).connect().await.err() };
    assert!(block_on(connected).is_some(), "nothing is answered");
    let (code, out, log) = server.ended();
    let last = log.lines().last().unwrap();
    assert_eq!((code, out.as_str()), (Some(2), ""), "{log}");
    assert!(last.starts_with("zoolab: the disk has failed: "), "{last}");
    assert!(last.contains("data/version-2: write log.1 "), "{last}");
    assert!(last.contains("No space left on device"), "{last}");
}

#[test]
fn a_directory_that_cannot_be_had_or_believed_says_why() {
    let folder = Folder::new("unbelievable");
    let data = folder.path().join("data");
    let said = || {
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()];
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2));
        let log = String::from_utf8(output.stderr).unwrap();
        log.lines().last().unwrap().to_owned()
    };
    let server = Server::start(&["--data", data.to_str().unwrap()]);
    assert!(said().ends_with("data/version-2: another server uses it"), "{}", said());
    block_on(async {
        let zk = Client::connect(&server.address).await.unwrap();
        for write in 0..5 {
            zk.create(&key(write), b"", CreateMode::Persistent).await.unwrap();
        }
    });
    drop(server);

    let log = data.join("version-2/log.1");
    let mut bytes = fs::read(&log).unwrap();
    bytes[200] ^= 1;
    fs::write(&log, &bytes).unwrap();
    assert!(said().contains("data/version-2/log.1: byte "), "{}", said());

    fs::remove_dir_all(&data).unwrap();
    fs::write(&data, "").unwrap();
    assert!(said().contains("data/version-2: open: "), "{}", said());
}
