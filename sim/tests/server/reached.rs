//! Whether the runs came to where it matters: a comparison of nothing is no comparison.

use std::collections::BTreeSet;

use zoolab_core::request::{Body, EventKind, OpResult};
use zoolab_core::{Code, Note, Output};

/// What servers have put out, by name.
#[derive(Debug, Default)]
pub(crate) struct Reached(BTreeSet<String>);

/// Not put out by a server that is alone, has no read-only mode, no SASL and nothing to
/// reconfigure, and never finds a session closing that it has not dropped requests of.
const ELSEWHERE: [Code; 9] = [
    Code::UnknownSession,
    Code::NewConfigNoQuorum,
    Code::ReconfigInProgress,
    Code::SessionExpired,
    Code::SessionMoved,
    Code::NotReadOnly,
    Code::EphemeralOnLocalSession,
    Code::SessionClosedRequireSaslAuth,
    Code::ThrottledOp,
];

impl Reached {
    pub(crate) fn note(&mut self, outputs: &[Output]) {
        for output in outputs {
            match output {
                Output::Close { .. } => self.mark("a connection closed"),
                Output::Connected { response, .. } if response.timeout_ms == 0 => {
                    self.mark("a session refused");
                }
                Output::Connected { .. } => self.mark("a session served"),
                Output::Halt { .. } => self.mark("a halt"),
                Output::Notify { event, .. } => {
                    let whose = if event.zxid.0 < 0 { "missed" } else { "heard of" };
                    self.mark(&format!("{:?} {whose}", event.kind));
                }
                Output::Reply { reply, .. } => {
                    if let Some(code) = reply.err {
                        self.mark(&format!("{code:?}"));
                    }
                    self.note_body(&reply.body);
                }
                Output::Arm { .. } | Output::Note(Note::Reached(_)) | Output::Persist { .. } => {}
                Output::Dial { .. }
                | Output::Disarm { .. }
                | Output::HangUp { .. }
                | Output::Note(_)
                | Output::Reload
                | Output::Send { .. }
                | Output::Tell { .. }
                | Output::Wake { .. } => panic!("an ensemble of one has no peers: {output:?}"),
            }
        }
    }

    fn note_body(&mut self, body: &Body) {
        let Body::Multi(results) = body else { return };
        for result in results {
            if let OpResult::Error(Some(code)) = result {
                self.mark(&format!("{code:?} in a multi"));
            }
        }
        let failed = results.iter().position(|result| matches!(result, OpResult::Error(Some(_))));
        match failed {
            Some(place @ (0..=2)) => self.mark(&format!("a multi failed at {place}")),
            None if results.len() > 2 => self.mark("a multi of several"),
            Some(_) | None => {}
        }
    }

    fn mark(&mut self, what: &str) {
        if !self.0.contains(what) {
            self.0.insert(what.to_owned());
        }
    }

    pub(crate) fn assert_all(&self) {
        let mut wanted: Vec<String> = Vec::new();
        let codes = Code::ALL.into_iter().filter(|code| !ELSEWHERE.contains(code));
        // Those two are for parts of a multi only, or never.
        let alone = codes.clone().filter(|code| *code != Code::RuntimeInconsistency);
        wanted.extend(alone.map(|code| format!("{code:?}")));
        for code in [
            Code::BadArguments,
            Code::BadVersion,
            Code::InvalidAcl,
            Code::NoAuth,
            Code::NoChildrenForEphemerals,
            Code::NoNode,
            Code::NodeExists,
            Code::NotEmpty,
            Code::QuotaExceeded,
            Code::RuntimeInconsistency,
            Code::Unimplemented,
        ] {
            wanted.push(format!("{code:?} in a multi"));
        }
        for kind in [
            EventKind::Created,
            EventKind::Deleted,
            EventKind::DataChanged,
            EventKind::ChildrenChanged,
        ] {
            wanted.extend([format!("{kind:?} heard of"), format!("{kind:?} missed")]);
        }
        let rest = [
            "a connection closed",
            "a halt",
            "a multi failed at 0",
            "a multi failed at 1",
            "a multi failed at 2",
            "a multi of several",
            "a session refused",
            "a session served",
        ];
        wanted.extend(rest.map(ToOwned::to_owned));
        wanted.retain(|what| !self.0.contains(what));
        assert!(wanted.is_empty(), "never reached: {wanted:?}");
    }
}
