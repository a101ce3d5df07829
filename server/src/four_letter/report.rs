//! The answers, one function per word.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use zoolab_core::storage::{FileKind, FileName};
use zoolab_core::{ConnId, Millis, Now, SessionId};

use super::{VERSION, Word, date, machine};
use crate::client::Client;
use crate::connection::HANDSHAKE;
use crate::host::Host;
use crate::shared::Shared;
use crate::stats::{Latency, Totals};

/// A server that is looked at.
pub(super) struct Report<'a> {
    pub(super) shared: &'a Shared,
    pub(super) host: &'a mut Host,
    pub(super) now: Now,
}

impl Report<'_> {
    /// The answer to a word. Two of them forget something, the others only look.
    pub(super) fn tell(&mut self, word: Word) -> String {
        match word {
            Word::Conf => self.conf(),
            Word::Cons => self.clients(true) + "\n",
            Word::Crst => {
                self.host.reset_counts();
                "Connection stats reset.\n".to_owned()
            }
            Word::Dirs => {
                let (snapshots, logs) = self.bytes_on_disk();
                format!("datadir_size: {snapshots}\nlogdir_size: {logs}\n")
            }
            Word::Dump => self.dump(),
            Word::Envi => envi(),
            Word::Gtmk => self.host.trace_mask.to_string(),
            Word::Hash => self.hash(),
            Word::Isro if self.host.server().is_read_only() => "ro".to_owned(),
            Word::Isro => "rw".to_owned(),
            Word::Mntr => self.mntr(),
            Word::Ruok => "imok".to_owned(),
            Word::Srst => {
                self.host.totals = Totals::default();
                self.shared.sizes.reset();
                "Server stats reset.\n".to_owned()
            }
            Word::Srvr => format!("Zookeeper version: {VERSION}\n") + &self.summary(),
            Word::Stat => {
                let clients = self.clients(false);
                format!("Zookeeper version: {VERSION}\nClients:\n{clients}\n{}", self.summary())
            }
            Word::Stmk { mask } => {
                self.host.trace_mask = mask;
                mask.to_string()
            }
            Word::Wchc => self.watches_by_conn() + "\n",
            Word::Wchp => self.watches_by_path() + "\n",
            Word::Wchs => {
                let watches = self.host.server().watches();
                let (conns, paths) = (watches.conns_len(), watches.paths_len());
                let total = watches.len();
                format!("{conns} connections watching {paths} paths\nTotal watches:{total}\n")
            }
        }
    }

    fn conf(&self) -> String {
        let options = &self.shared.options;
        let settings = &options.settings;
        let memory = || "(memory)".to_owned();
        let data = self.shared.data.as_ref().map_or_else(memory, |it| it.display().to_string());
        let (snapshots, logs) = self.bytes_on_disk();
        lines(
            "=",
            &[
                ("clientPort", self.shared.address.port().to_string()),
                ("secureClientPort", "-1".to_owned()),
                ("dataDir", data.clone()),
                ("dataDirSize", snapshots.to_string()),
                ("dataLogDir", data),
                ("dataLogSize", logs.to_string()),
                ("tickTime", settings.tick_ms.to_string()),
                ("maxClientCnxns", options.connections_per_address_max.unwrap_or(0).to_string()),
                ("minSessionTimeout", settings.session_timeout_min_ms.to_string()),
                ("maxSessionTimeout", settings.session_timeout_max_ms.to_string()),
                ("clientPortListenBacklog", "-1".to_owned()),
                ("serverId", options.server_id.0.to_string()),
            ],
        )
    }

    /// How long snapshots are, and logs, as far as they can be seen. Nothing is, in memory.
    fn bytes_on_disk(&self) -> (u64, u64) {
        let (mut snapshots, mut logs) = (0, 0);
        let entries = self.shared.data.as_ref().and_then(|path| std::fs::read_dir(path).ok());
        for entry in entries.into_iter().flatten().flatten() {
            let length = || entry.metadata().map_or(0, |metadata| metadata.len());
            match entry.file_name().to_str().and_then(FileName::parse).map(|name| name.kind) {
                Some(FileKind::Log(_)) => logs += length(),
                Some(FileKind::Snapshot(_)) => snapshots += length(),
                Some(
                    FileKind::AcceptedEpoch
                    | FileKind::CurrentEpoch
                    | FileKind::Installing
                    | FileKind::Members,
                )
                | None => {}
            }
        }
        (snapshots, logs)
    }

    fn summary(&self) -> String {
        let Totals { received, sent, latency, .. } = self.host.totals;
        let server = self.host.server();
        format!(
            "Latency min/avg/max: {}/{}/{}\n\
             Received: {received}\n\
             Sent: {sent}\n\
             Connections: {}\n\
             Outstanding: {}\n\
             Zxid: {:#x}\n\
             Mode: standalone\n\
             Node count: {}\n",
            latency.min,
            latency.mean(),
            latency.max,
            self.host.conns_len(),
            server.outstanding(),
            server.zxid_last().0,
            self.nodes(),
        )
    }

    /// ZooKeeper counts its root twice, once as the empty path.
    fn nodes(&self) -> usize {
        self.host.server().tree().len() + 1
    }

    fn clients(&self, full: bool) -> String {
        let conns = self.host.conns();
        conns.into_iter().map(|conn| self.client(conn, full) + "\n").collect()
    }

    fn client(&self, conn: ConnId, full: bool) -> String {
        let client = self.host.client(conn);
        let counts = &client.counts;
        let mut text = format!(
            " /{}[{}](queued={},recved={},sent={}",
            client.address,
            interest(client),
            client.pending_len(),
            counts.received,
            counts.sent
        );
        let session = self.session(conn).filter(|_| full);
        if let Some(session) = session {
            let last = counts.last;
            let (est, to) = (client.since.wall.0, client.timeout_ms);
            text += &format!(",sid={session},lop={},est={est},to={to}", last.op);
            if let Some(xid) = last.xid {
                text += &format!(",lcxid={:#x}", xid.0);
            }
            text += &format!(
                ",lzxid={:#x},lresp={},llat={},minlat={},avglat={},maxlat={}",
                last.zxid.0,
                last.at.0,
                last.latency_ms,
                counts.latency.min,
                // ZooKeeper's mean of a connection is a whole number.
                counts.latency.sum.checked_div(counts.latency.count).unwrap_or(0),
                counts.latency.max,
            );
        }
        text + ")"
    }

    fn session(&self, conn: ConnId) -> Option<SessionId> {
        self.host.server().session_of(conn)
    }

    fn dump(&self) -> String {
        let server = self.host.server();
        let tick_ms = i64::from(self.shared.options.settings.tick_ms);
        let sessions: Vec<(Millis, Vec<SessionId>)> = server
            .sessions()
            .buckets()
            .into_iter()
            .map(|(tick, ids)| (Millis(tick.cast_signed() * tick_ms), ids))
            .collect();

        // A connection without a session has to say something in time; one with a session ends
        // with it.
        let mut connections: BTreeMap<Millis, Vec<String>> = BTreeMap::new();
        for conn in self.host.conns() {
            let client = self.host.client(conn);
            let session = self.session(conn).unwrap_or(SessionId::NONE);
            let bucket = sessions.iter().find(|(_, ids)| ids.contains(&session));
            let handshake = Millis(client.since.steady.0 + HANDSHAKE.as_millis() as i64);
            let due = bucket.map_or(handshake, |(due, _)| *due);
            connections.entry(due).or_default().push(connection_line(client.address, session));
        }
        let sessions = sessions
            .into_iter()
            .map(|(due, ids)| (due, ids.iter().map(ToString::to_string).collect()));

        let mut text = "SessionTracker dump:\nSession ".to_owned();
        text += &self.sets(sessions.collect());
        let ephemerals = server.ephemerals();
        text += "ephemeral nodes dump:\n";
        text += &format!("Sessions with Ephemerals ({}):\n", ephemerals.len());
        text += &grouped(ephemerals.iter().map(|(id, paths)| (format!("{id}:"), paths.clone())));
        text += "Connections dump:\nConnections ";
        text + &self.sets(connections)
    }

    /// What expires when.
    fn sets(&self, sets: BTreeMap<Millis, Vec<String>>) -> String {
        let all: usize = sets.values().map(Vec::len).sum();
        let mut text = format!("Sets ({})/({all}):\n", sets.len());
        for (due, members) in sets {
            let wall = Millis(self.now.wall.0 + due.0 - self.now.steady.0);
            let head = format!("{} expire at {}:", members.len(), date::text(wall));
            text += &grouped([(head, members)]);
        }
        text
    }

    fn hash(&self) -> String {
        let digests = self.host.digests();
        digests.map(|(zxid, digest)| format!("{:x}: {}\n", zxid.0, digest.cast_signed())).collect()
    }

    fn watches_by_conn(&self) -> String {
        let by_conn = self.host.server().watches().by_conn();
        grouped(by_conn.into_iter().map(|(conn, paths)| (self.session_hex(conn), paths)))
    }

    fn watches_by_path(&self) -> String {
        let by_path = self.host.server().watches().by_path();
        grouped(by_path.into_iter().map(|(path, conns)| {
            (path, conns.into_iter().map(|conn| self.session_hex(conn)).collect())
        }))
    }

    fn session_hex(&self, conn: ConnId) -> String {
        self.session(conn).unwrap_or(SessionId::NONE).to_string()
    }

    fn mntr(&self) -> String {
        let Totals {
            received,
            sent,
            latency,
            latency_reads,
            latency_writes,
            connects,
            drops,
            rejected,
            sessionless,
            sessions_expired,
            commits,
        } = self.host.totals;
        let server = self.host.server();
        let sizes = &self.shared.sizes;
        let mut facts: Vec<(&str, String)> = vec![
            ("version", VERSION.to_owned()),
            ("server_state", "standalone".to_owned()),
            ("avg_latency", latency.mean()),
            ("max_latency", latency.max.to_string()),
            ("min_latency", latency.min.to_string()),
            ("packets_received", received.to_string()),
            ("packets_sent", sent.to_string()),
            ("num_alive_connections", self.host.conns_len().to_string()),
            ("outstanding_requests", server.outstanding().to_string()),
            ("uptime", self.shared.clock.uptime_ms().to_string()),
            ("znode_count", self.nodes().to_string()),
            ("watch_count", server.watches().len().to_string()),
            ("ephemerals_count", server.tree().ephemerals_len().to_string()),
            ("approximate_data_size", server.tree().data_bytes().to_string()),
            ("global_sessions", server.sessions().len().to_string()),
            ("local_sessions", "0".to_owned()),
        ];
        let files = [
            ("open_file_descriptor_count", machine::open_files().map(|count| count.to_string())),
            ("max_file_descriptor_count", machine::open_files_max().map(|max| max.to_string())),
        ];
        facts.extend(files.into_iter().filter_map(|(name, value)| Some((name, value?))));
        let responses = sizes.responses();
        let size = |pick: fn((u64, u64, u64)) -> u64| {
            responses.map_or_else(|| "-1".to_owned(), |sizes| pick(sizes).to_string())
        };
        facts.extend([
            ("last_client_response_size", size(|(last, ..)| last)),
            ("min_client_response_size", size(|(_, min, _)| min)),
            ("max_client_response_size", size(|(.., max)| max)),
            ("bytes_received_count", sizes.received_bytes().to_string()),
            ("response_bytes", sizes.sent_bytes().to_string()),
            ("commit_count", commits.to_string()),
            ("connection_request_count", connects.to_string()),
            ("connection_drop_count", drops.to_string()),
            ("connection_rejected", rejected.to_string()),
            ("sessionless_connections_expired", sessionless.to_string()),
            ("stale_sessions_expired", sessions_expired.to_string()),
        ]);
        let facts: Vec<_> =
            facts.into_iter().map(|(name, value)| (format!("zk_{name}"), value)).collect();
        lines("\t", &facts)
            + &latencies("readlatency", &latency_reads)
            + &latencies("updatelatency", &latency_writes)
    }
}

fn envi() -> String {
    let mut facts = vec![("zookeeper.version", VERSION.to_owned())];
    facts.extend(machine::environment());
    "Environment:\n".to_owned() + &lines("=", &facts)
}

fn latencies(name: &str, latency: &Latency) -> String {
    let Latency { count, sum, min, max } = latency;
    let avg = latency.mean();
    format!(
        "zk_avg_{name}\t{avg}\nzk_min_{name}\t{min}\nzk_max_{name}\t{max}\n\
         zk_cnt_{name}\t{count}\nzk_sum_{name}\t{sum}\n"
    )
}

/// What the connection waits for, in Java's numbers: 1 the client's bytes, 4 the client's
/// reading, 0 nothing any more.
fn interest(client: &Client) -> u8 {
    if client.word || client.closing.is_some() {
        0
    } else if client.outbox().is_empty() {
        1
    } else {
        4
    }
}

fn connection_line(address: SocketAddr, session: SessionId) -> String {
    format!("ip: /{address} sessionId: {session}")
}

fn lines<N: AsRef<str>>(between: &str, facts: &[(N, String)]) -> String {
    facts.iter().map(|(name, value)| format!("{}{between}{value}\n", name.as_ref())).collect()
}

/// Heads at the margin, members indented.
fn grouped<H: AsRef<str>, M: AsRef<str>>(groups: impl IntoIterator<Item = (H, Vec<M>)>) -> String {
    let mut text = String::new();
    for (head, members) in groups {
        text += head.as_ref();
        text += "\n";
        for member in members {
            text += "\t";
            text += member.as_ref();
            text += "\n";
        }
    }
    text
}
