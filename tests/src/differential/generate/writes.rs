//! The requests that change something.

use super::{Generator, Place, create};
use crate::differential::pool;
use crate::raw::{Acl, Request, Text, flag, opcode, open_acl};

impl Generator {
    pub(super) fn create(&mut self, place: Place) -> Request {
        let opcodes = [
            (50, opcode::CREATE),
            (30, opcode::CREATE2),
            (12, opcode::CREATE_CONTAINER),
            (if self.setting.extended_types { 25 } else { 6 }, opcode::CREATE_TTL),
        ];
        match *self.chance.weighted(&opcodes) {
            opcode::CREATE_TTL => self.create_ttl(),
            // What a flag means under the wrong opcode is decided twice, once when the request is
            // prepared and once when it is applied; in a row both may be seen.
            opcode::CREATE_CONTAINER if place == Place::Pipelined || self.chance.percent(80) => {
                self.create_as(opcode::CREATE_CONTAINER, flag::CONTAINER)
            }
            opcode => {
                let flags = self.flags(place);
                self.create_as(opcode, flags)
            }
        }
    }

    pub(super) fn flags(&mut self, place: Place) -> i32 {
        let flags = [
            (40, flag::PERSISTENT),
            (20, flag::EPHEMERAL),
            (14, flag::SEQUENTIAL),
            (10, flag::EPHEMERAL_SEQUENTIAL),
        ];
        let odd = [flag::CONTAINER, flag::TTL, flag::TTL_SEQUENTIAL, 7, 8, -1, 99, i32::MIN];
        if place == Place::Alone && self.chance.percent(12) {
            *self.chance.one(&odd)
        } else {
            *self.chance.weighted(&flags)
        }
    }

    pub(super) fn create_as(&mut self, opcode: i32, flags: i32) -> Request {
        let sequential = [flag::SEQUENTIAL, flag::EPHEMERAL_SEQUENTIAL].contains(&flags);
        let path: Text = match self.chance.below(100) {
            0..70 if sequential => self.paths.prefix(&mut self.chance).into(),
            0..2 => "/".into(),
            2..4 => format!("/zookeeper{}", self.paths.base()).into(),
            // The newer kind of address is accepted or not; where the parent is missing, nothing
            // comes of it either way.
            4..6 => {
                let path = self.paths.orphan();
                let (data, acl) = (pool::data(&mut self.chance), Some(pool::ipv6_acls()));
                return Request::Create { opcode, path, data, acl, flags: flag::PERSISTENT };
            }
            _ => self.paths.write(&mut self.chance),
        };
        let data = pool::data(&mut self.chance);
        let acl = self.acls(&path);
        Request::Create { opcode, path, data, acl, flags }
    }

    /// The sequence's own root stays open to all, or too little would happen below it; so does
    /// the root, which other sequences need.
    pub(super) fn acls(&mut self, path: &Text) -> Option<Vec<Acl>> {
        if *path == *self.paths.base() || *path == "/" || path.is_null() {
            Some(open_acl())
        } else {
            pool::acls(&mut self.chance, path)
        }
    }

    pub(super) fn create_ttl(&mut self) -> Request {
        let path = self.paths.write(&mut self.chance);
        let (data, acl) = (pool::data(&mut self.chance), self.acls(&path));
        let ttls = [600_000, 3_600_000, (1 << 40) - 1, 1 << 40, 0, -1, i64::MIN, i64::MAX];
        let (flags, ttl) = match self.chance.below(10) {
            0..8 => {
                let flags = *self.chance.one(&[flag::TTL, flag::TTL, flag::TTL_SEQUENTIAL]);
                let sane = self.chance.percent(75);
                (flags, if sane { ttls[self.chance.below(3)] } else { *self.chance.one(&ttls) })
            }
            // Without a time to live a real server prepares it and fails to apply it.
            _ => (self.flags(Place::Alone).rem_euclid(5), ttls[self.chance.below(5)]),
        };
        Request::CreateTtl { path, data, acl, flags, ttl }
    }

    pub(super) fn delete(&mut self) -> Request {
        let path = match self.chance.below(100) {
            0..6 => self.paths.preset(&mut self.chance).into(),
            _ => self.paths.write(&mut self.chance),
        };
        Request::Delete { path, version: pool::version(&mut self.chance) }
    }

    pub(super) fn set_data(&mut self) -> Request {
        let path = match self.chance.below(100) {
            0..2 => "/".into(),
            2..3 => "/zookeeper".into(),
            3..4 => "/zookeeper/config".into(),
            _ => self.paths.write(&mut self.chance),
        };
        let (data, version) = (pool::data(&mut self.chance), pool::version(&mut self.chance));
        Request::SetData { path, data, version }
    }

    pub(super) fn set_acl(&mut self) -> Request {
        let path = match self.chance.below(100) {
            0..2 => "/".into(),
            2..5 => {
                let path = self.paths.orphan();
                return Request::SetAcl { path, acl: Some(pool::ipv6_acls()), version: -1 };
            }
            _ => self.paths.write(&mut self.chance),
        };
        let acl = self.acls(&path);
        Request::SetAcl { path, acl, version: pool::version(&mut self.chance) }
    }

    pub(super) fn multi(&mut self) -> Request {
        if self.chance.percent(50) {
            return self.multi_life();
        }
        let count = self.chance.below(6);
        let mut ops = vec![];
        while ops.len() < count {
            let op = self.multi_op();
            // At a null path a real server trips before it has begun: it answers like an empty
            // multi that failed, and the zxid it had set aside is never seen again.
            if !has_null_path(&op) {
                ops.push(op);
            }
        }
        Request::Multi(ops)
    }

    /// Steps that mostly succeed together: a node's life, or a part of it.
    pub(super) fn multi_life(&mut self) -> Request {
        let parent = self.paths.parent(&mut self.chance);
        let path = Text::from(format!("{parent}/{}", self.chance.one(&["m", "n", "x"])));
        let (born, parent) = (self.chance.percent(80), Text::from(parent));
        let opcodes = [opcode::CREATE, opcode::CREATE, opcode::CREATE2, opcode::CREATE_CONTAINER];
        let mut ops = vec![];
        if self.chance.percent(40) {
            ops.push(Request::Check { path: parent.clone(), version: -1 });
        }
        if born {
            let opcode = *self.chance.one(&opcodes);
            let flags = match opcode {
                opcode::CREATE_CONTAINER => flag::CONTAINER,
                _ => self.flags(Place::Pipelined),
            };
            ops.push(create(opcode, path.clone(), pool::data(&mut self.chance), flags));
        }
        if self.chance.percent(50) {
            let (target, data) = (self.chance.percent(60), pool::data(&mut self.chance));
            let path = if target { path.clone() } else { parent.clone() };
            ops.push(Request::SetData { path, data, version: -1 });
        }
        if self.chance.percent(40) {
            let version = i32::from(self.chance.percent(30)) - 1;
            ops.push(Request::Check { path: path.clone(), version });
        }
        if self.chance.percent(35) {
            ops.push(Request::Delete { path: path.clone(), version: -1 });
        }
        if self.chance.percent(30) {
            ops.push(create(opcode::CREATE, parent, None, flag::SEQUENTIAL));
        }
        Request::Multi(ops)
    }

    pub(super) fn multi_op(&mut self) -> Request {
        match self.chance.below(100) {
            0..40 => {
                let opcodes = [
                    (40, opcode::CREATE),
                    (30, opcode::CREATE2),
                    (10, opcode::CREATE_CONTAINER),
                    (8, opcode::CREATE_TTL),
                ];
                let opcode = *self.chance.weighted(&opcodes);
                let bad = self.chance.percent(6);
                let flags = self.flags(if bad { Place::Alone } else { Place::Pipelined });
                match opcode {
                    opcode::CREATE_TTL => self.create_ttl(),
                    opcode::CREATE_CONTAINER => self.create_as(opcode, flag::CONTAINER),
                    _ => self.create_as(opcode, flags),
                }
            }
            40..58 => self.delete(),
            58..78 => self.set_data(),
            78..97 => {
                let path = self.paths.write(&mut self.chance);
                Request::Check { path, version: pool::version(&mut self.chance) }
            }
            97 => self.set_acl(),
            98 => Request::GetData { path: self.paths.read(&mut self.chance), watch: false },
            _ => Request::Exists { path: self.paths.read(&mut self.chance), watch: false },
        }
    }

    /// Something below the quota node: limits come and go, and statistics with them.
    pub(super) fn quota_write(&mut self) -> Request {
        let node = format!("/zookeeper/quota{}", self.paths.limited(&mut self.chance));
        let limits = pool::limits(&mut self.chance).into_bytes();
        let (limits_path, stats_path) =
            (format!("{node}/zookeeper_limits"), format!("{node}/zookeeper_stats"));
        match self.chance.below(10) {
            0 | 1 => create(opcode::CREATE, node.into(), Some(vec![]), flag::PERSISTENT),
            2 | 3 => create(opcode::CREATE, limits_path.into(), Some(limits), flag::PERSISTENT),
            4 | 5 => {
                let data = Some(b"count=0,bytes=0".to_vec());
                create(opcode::CREATE, stats_path.into(), data, flag::PERSISTENT)
            }
            6 | 7 => Request::SetData { path: limits_path.into(), data: Some(limits), version: -1 },
            8 => Request::Delete { path: limits_path.into(), version: -1 },
            _ => Request::Delete { path: stats_path.into(), version: -1 },
        }
    }
}

fn has_null_path(op: &Request) -> bool {
    if let Request::Create { path, .. }
    | Request::CreateTtl { path, .. }
    | Request::Delete { path, .. }
    | Request::SetData { path, .. }
    | Request::SetAcl { path, .. }
    | Request::Check { path, .. } = op
    {
        path.is_null()
    } else {
        false
    }
}
