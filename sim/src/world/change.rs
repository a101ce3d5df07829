//! Other members, wished for by a leader's host.

use std::fmt::Write as _;

use zoolab_core::members::{Part, Spec};
use zoolab_core::{Input, Request, ServerId, Text};

use super::{Outcome, World};

/// Who is to vote, who to observe, and who to leave.
#[must_use]
pub fn request(join: &[ServerId], observe: &[ServerId], leave: &[ServerId]) -> Request {
    let mut joining = String::new();
    let comes = [(join, Part::Participant), (observe, Part::Observer)];
    for (servers, part) in comes {
        for server in servers {
            let comma = if joining.is_empty() { "" } else { "," };
            let spec = Spec::usual(&format!("zk{server}"), part);
            write!(joining, "{comma}server.{server}={spec}").expect("text takes everything");
        }
    }
    let leaving: Vec<String> = leave.iter().map(ToString::to_string).collect();
    let text = |text: String| Some(text).filter(|text| !text.is_empty()).map(Text::from);
    let (joining, leaving) = (text(joining), text(leaving.join(",")));
    Request::Reconfig { joining, leaving, members: None, config_id: -1 }
}

impl World {
    pub(super) fn change(&mut self, server: ServerId, request: Request, outcome: &mut Outcome) {
        self.input(server, outcome, || Input::Own(request));
    }
}
