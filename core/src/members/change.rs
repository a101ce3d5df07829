//! The next configuration, from the present one and what a client wishes.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{Hierarchy, Members, MembersError, Part, Spec, id};
use crate::ids::{ServerId, Zxid};

impl Members {
    /// Some servers leave, then some join, or change where they are or whether they vote.
    ///
    /// # Errors
    /// If a wish cannot be read, or two servers would use the same address. Without a plain
    /// majority nobody could say in which group a new server is.
    pub fn changed(
        &self,
        joining: Option<&str>,
        leaving: Option<&str>,
        version: Zxid,
    ) -> Result<Self, MembersError> {
        if self.hierarchy.is_some() {
            return Err(MembersError::NoMajority);
        }
        let mut servers = self.servers.clone();
        for leaver in list(leaving) {
            servers.remove(&id(leaver)?);
        }
        for joiner in list(joining) {
            let wrong = || MembersError::Spec { found: joiner.into() };
            let parts: Vec<&str> =
                joiner.split('=').map(str::trim).filter(|part| !part.is_empty()).collect();
            let [key, text] = parts[..] else { return Err(wrong()) };
            let server = id(key.rsplit('.').next().unwrap_or(key))?;
            let spec = Spec::parse(text)?;
            if spec.client.is_none() {
                return Err(wrong());
            }
            servers.remove(&server);
            let taken = servers
                .iter()
                .find_map(|(other, theirs)| spec.clash(theirs).map(|address| (*other, address)));
            if let Some((other, address)) = taken {
                return Err(MembersError::Clash { server, other, address });
            }
            servers.insert(server, spec);
        }
        Self::of(servers, None, version)
    }

    /// All servers anew, by lines or commas: `server.1=…`, and `group.1=1:2:3`, `weight.1=2` for
    /// a hierarchy.
    ///
    /// # Errors
    /// If it cannot be read, or cannot be an ensemble.
    pub fn from_list(text: &str, version: Zxid) -> Result<Self, MembersError> {
        let lines = text.split([',', '\n']).map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '!']));
        let mut servers = BTreeMap::new();
        let mut groups: BTreeMap<i64, BTreeSet<ServerId>> = BTreeMap::new();
        let mut weights: BTreeMap<ServerId, u64> = BTreeMap::new();
        let mut is_hierarchy = false;
        for line in lines {
            let unknown = || MembersError::Line { found: line.into() };
            let number = || MembersError::Number { found: line.into() };
            let (key, value) = line.split_once('=').ok_or_else(unknown)?;
            let (key, value) = (key.trim(), value.trim());
            match key.split_once('.') {
                Some(("server", server)) => {
                    servers.insert(id(server)?, Spec::parse(value)?);
                }
                Some(("group", group)) => {
                    is_hierarchy = true;
                    let group = group.parse().map_err(|_| number())?;
                    for member in value.split(':') {
                        let member = id(member.trim())?;
                        if groups.values().any(|group| group.contains(&member)) {
                            return Err(MembersError::Group { server: member });
                        }
                        groups.entry(group).or_default().insert(member);
                    }
                }
                Some(("weight", server)) => {
                    is_hierarchy = true;
                    weights.insert(id(server)?, value.parse().map_err(|_| number())?);
                }
                None if key == "version" => {
                    i64::from_str_radix(value, 16).map_err(|_| number())?;
                }
                Some(_) | None => return Err(unknown()),
            }
        }
        let hierarchy = is_hierarchy.then_some(Hierarchy { groups, weights });
        let participants = servers.values().filter(|spec| spec.part == Part::Participant).count();
        // With one server and nobody else ZooKeeper goes on, and refuses it later as too few.
        if participants < 2 && participants < servers.len() {
            return Err(MembersError::ObserversAlone);
        }
        Self::of(servers, hierarchy, version)
    }
}

fn list(text: Option<&str>) -> impl Iterator<Item = &str> {
    let all = text.unwrap_or_default().split(',').map(str::trim);
    all.filter(|item| !item.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use alloc::format;
    use alloc::string::String;

    fn three() -> Members {
        let text = "server.1=a:1:2;9,server.2=b:1:2;9,server.3=c:1:2:observer;9";
        Members::from_list(text, Zxid(0x1_0000_0000)).unwrap()
    }

    fn lines(members: &Members) -> Vec<String> {
        format!("{members}").lines().map(String::from).collect()
    }

    #[test]
    fn the_text_is_zookeepers() {
        let expected = [
            "server.1=a:1:2:participant;0.0.0.0:9",
            "server.2=b:1:2:participant;0.0.0.0:9",
            "server.3=c:1:2:observer;0.0.0.0:9",
            "version=100000000",
        ];
        assert_eq!(lines(&three()), expected);
        assert!(!format!("{}", three()).ends_with('\n'));
    }

    #[test]
    fn leavers_go_before_joiners_come() {
        let next = three();
        // Server 4 takes the place that server 1 leaves.
        let next = next.changed(Some("server.4=a:1:2;9"), Some("1"), Zxid(0x1_0000_0007)).unwrap();
        assert_eq!(next.quorum().voters(), [2, 4].map(ServerId).into());
        assert_eq!(next.observers(), [3].map(ServerId).into());
        assert_eq!(next.version(), Zxid(0x1_0000_0007));
        let votes = three().changed(Some("server.3=c:1:2;9"), None, Zxid(1)).unwrap();
        assert_eq!(votes.quorum().voters(), [1, 2, 3].map(ServerId).into());
        assert!(votes.observers().is_empty());
        let same = three().changed(None, Some("77"), three().version()).unwrap();
        assert_eq!(same, three(), "whoever is not there has left already");
    }

    #[test]
    fn wishes_are_refused_with_the_code_that_zookeeper_has() {
        let refused = |joining: &str, leaving: &str| {
            three().changed(Some(joining), Some(leaving), Zxid(9)).unwrap_err().code()
        };
        for (joining, leaving, code) in [
            ("server.4=d:1:2", "", Code::BadArguments),
            ("server.4", "", Code::BadArguments),
            ("server.4=d:1:2;9=", "x", Code::MarshallingError),
            ("server.x=d:1:2;9", "", Code::MarshallingError),
            ("server.4=a:7:2;9", "", Code::BadArguments),
            ("server.4=d:1:99999;9", "", Code::MarshallingError),
            ("", "1,2", Code::BadArguments),
        ] {
            assert_eq!(refused(joining, leaving), code, "{joining:?} {leaving:?}");
        }
    }

    #[test]
    fn a_list_may_have_groups_and_then_nobody_joins_one_by_one() {
        let text = "server.1=a:1:2;9\nserver.2=b:1:2;9\nserver.3=c:1:2;9\n\
                    group.1=1:2\ngroup.2=3\nweight.2=0\nversion=5";
        let members = Members::from_list(text, Zxid(0x10)).unwrap();
        assert!(members.quorum().is_enough(&[1, 3].map(ServerId).into()));
        assert!(!members.quorum().is_enough(&[2, 3].map(ServerId).into()));
        assert_eq!(Members::parse(&format!("{members}")), Ok(members.clone()));
        let next = members.changed(Some("server.4=d:1:2;9"), None, Zxid(0x11));
        assert_eq!(next.unwrap_err(), MembersError::NoMajority);
        for (wrong, code) in [
            ("server.1=a:1:2;9,group.1=2", Code::BadArguments),
            ("server.1=a:1:2,group.1=1,group.2=1", Code::BadArguments),
            ("server.1=a:1:2,color=red", Code::BadArguments),
            ("server.1=a:1:2,server.2=b:1:2:observer", Code::MarshallingError),
            ("", Code::BadArguments),
        ] {
            assert_eq!(Members::from_list(wrong, Zxid(1)).unwrap_err().code(), code, "{wrong}");
        }
    }
}
