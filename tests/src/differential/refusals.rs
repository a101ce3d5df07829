//! What ours refuses and a server of 3.8 does not survive, answers badly, or can do.
//!
//! These cannot be compared: they are asked of the right server alone, each on a connection of its
//! own, and judged by what the protocol's description says.

use std::net::SocketAddr;
use std::time::Duration;

use crate::raw::{Raw, Request, Result, code, opcode, open_acl};

/// One thing that must be refused.
#[derive(Debug)]
struct Refusal {
    name: &'static str,
    request: Request,
    /// The code it must be refused with.
    err: i32,
    /// Whether the server hangs up afterwards.
    closes: bool,
}

/// A node each of them would like to harm.
const NODE: &str = "/refusals";

fn refusals() -> Vec<Refusal> {
    let (path, acl) = (NODE.into(), Some(open_acl()));
    vec![
        Refusal {
            name: "check outside of multi",
            request: Request::Check { path, version: -1 },
            err: code::UNIMPLEMENTED,
            closes: true,
        },
        Refusal {
            name: "deleteContainer from a client",
            request: Request::DeleteContainer { path: NODE.into() },
            err: code::UNIMPLEMENTED,
            closes: true,
        },
        Refusal {
            name: "deleteContainer from a client, in the form of 3.8",
            request: Request::Raw { opcode: opcode::DELETE_CONTAINER, body: NODE.into() },
            err: code::UNIMPLEMENTED,
            closes: true,
        },
        Refusal {
            name: "createSession from a client",
            request: Request::Raw { opcode: opcode::CREATE_SESSION, body: vec![0, 0, 39, 16] },
            err: code::UNIMPLEMENTED,
            closes: true,
        },
        Refusal {
            name: "sasl, which is not built",
            request: Request::Sasl { token: Some(b"x".to_vec()) },
            err: code::AUTH_FAILED,
            closes: true,
        },
        Refusal {
            name: "createTTL with the flag of a plain node and no time to live",
            request: Request::CreateTtl {
                path: format!("{NODE}/ttl").into(),
                data: None,
                acl,
                flags: 0,
                ttl: -1,
            },
            err: code::BAD_ARGUMENTS,
            closes: false,
        },
    ]
}

/// Asks for each; the sentences say what was not refused as it should be. Also returns how many
/// were asked.
pub fn ask_all(address: SocketAddr) -> Result<(usize, Vec<String>)> {
    let mut owner = Raw::connect(address)?;
    owner.create(NODE, b"", &open_acl(), 0)?;
    let refusals = refusals();
    let mut complaints = vec![];
    for refusal in &refusals {
        if let Some(complaint) = ask(address, refusal)? {
            complaints.push(format!("{}: {complaint}", refusal.name));
        }
        let reply = owner.get_children(NODE, false)?;
        if reply.err != code::OK || reply.body.children().is_some_and(|names| !names.is_empty()) {
            complaints.push(format!("{}: the node is not as before: {reply}", refusal.name));
        }
    }
    owner.delete(NODE, -1)?;
    owner.close()?;
    Ok((refusals.len(), complaints))
}

fn ask(address: SocketAddr, refusal: &Refusal) -> Result<Option<String>> {
    let mut raw = Raw::connect(address)?;
    raw.set_patience(Duration::from_secs(3));
    let session = raw.welcome().expect("it was just welcomed").again();
    let complaint = match raw.call(&refusal.request) {
        Ok(reply) if reply.err != refusal.err => Some(format!("not refused so: {reply}")),
        // This code ends a connection, and then comes without a zxid.
        Ok(reply) if reply.err == code::UNIMPLEMENTED && reply.zxid != -1 => {
            Some(format!("refused with a zxid other than -1: {reply}"))
        }
        Ok(_) => match (refusal.closes, raw.fence()) {
            (true, Ok(_)) => Some("the connection stays open".to_owned()),
            (false, Err(error)) => Some(format!("the connection does not stay: {error}")),
            (true, Err(_)) | (false, Ok(_)) => None,
        },
        Err(error) => Some(format!("no answer: {error}")),
    };
    drop(raw);
    // The session survived all of this.
    Raw::connect_with(address, &session)?.close()?;
    Ok(complaint)
}
