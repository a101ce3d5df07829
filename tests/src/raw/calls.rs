//! One method per opcode, for tests that have nothing to bend.

use super::{Acl, Raw, Reply, Request, Result, Text, WatchLists, flag, opcode};

/// One method per opcode: sends, waits, and puts events before the reply aside.
///
/// Null strings and buffers, odd flags and the like need [`Raw::call`] with a [`Request`].
impl Raw {
    /// create.
    pub fn create(
        &mut self,
        path: impl Into<Text>,
        data: &[u8],
        acl: &[Acl],
        flags: i32,
    ) -> Result<Reply> {
        self.call(&create(opcode::CREATE, path.into(), data, acl, flags))
    }

    /// create2.
    pub fn create2(
        &mut self,
        path: impl Into<Text>,
        data: &[u8],
        acl: &[Acl],
        flags: i32,
    ) -> Result<Reply> {
        self.call(&create(opcode::CREATE2, path.into(), data, acl, flags))
    }

    /// createContainer.
    pub fn create_container(
        &mut self,
        path: impl Into<Text>,
        data: &[u8],
        acl: &[Acl],
    ) -> Result<Reply> {
        self.call(&create(opcode::CREATE_CONTAINER, path.into(), data, acl, flag::CONTAINER))
    }

    /// createTTL.
    pub fn create_ttl(
        &mut self,
        path: impl Into<Text>,
        data: &[u8],
        acl: &[Acl],
        flags: i32,
        ttl: i64,
    ) -> Result<Reply> {
        let (path, data, acl) = (path.into(), Some(data.to_vec()), Some(acl.to_vec()));
        self.call(&Request::CreateTtl { path, data, acl, flags, ttl })
    }

    /// delete.
    pub fn delete(&mut self, path: impl Into<Text>, version: i32) -> Result<Reply> {
        self.call(&Request::Delete { path: path.into(), version })
    }

    /// exists.
    pub fn exists(&mut self, path: impl Into<Text>, watch: bool) -> Result<Reply> {
        self.call(&Request::Exists { path: path.into(), watch })
    }

    /// getData.
    pub fn get_data(&mut self, path: impl Into<Text>, watch: bool) -> Result<Reply> {
        self.call(&Request::GetData { path: path.into(), watch })
    }

    /// setData.
    pub fn set_data(&mut self, path: impl Into<Text>, data: &[u8], version: i32) -> Result<Reply> {
        self.call(&Request::SetData { path: path.into(), data: Some(data.to_vec()), version })
    }

    /// getACL.
    pub fn get_acl(&mut self, path: impl Into<Text>) -> Result<Reply> {
        self.call(&Request::GetAcl { path: path.into() })
    }

    /// setACL.
    pub fn set_acl(&mut self, path: impl Into<Text>, acl: &[Acl], version: i32) -> Result<Reply> {
        self.call(&Request::SetAcl { path: path.into(), acl: Some(acl.to_vec()), version })
    }

    /// getChildren.
    pub fn get_children(&mut self, path: impl Into<Text>, watch: bool) -> Result<Reply> {
        self.call(&Request::GetChildren { path: path.into(), watch })
    }

    /// getChildren2.
    pub fn get_children2(&mut self, path: impl Into<Text>, watch: bool) -> Result<Reply> {
        self.call(&Request::GetChildren2 { path: path.into(), watch })
    }

    /// sync.
    pub fn sync(&mut self, path: impl Into<Text>) -> Result<Reply> {
        self.call(&Request::Sync { path: path.into() })
    }

    /// ping.
    pub fn ping(&mut self) -> Result<Reply> {
        self.call(&Request::Ping)
    }

    /// check outside of multi.
    pub fn check(&mut self, path: impl Into<Text>, version: i32) -> Result<Reply> {
        self.call(&Request::Check { path: path.into(), version })
    }

    /// multi.
    pub fn multi(&mut self, ops: &[Request]) -> Result<Reply> {
        self.call(&Request::Multi(ops.to_vec()))
    }

    /// multiRead.
    pub fn multi_read(&mut self, ops: &[Request]) -> Result<Reply> {
        self.call(&Request::MultiRead(ops.to_vec()))
    }

    /// reconfig.
    pub fn reconfig(
        &mut self,
        joining: impl Into<Text>,
        leaving: impl Into<Text>,
        members: impl Into<Text>,
        config_id: i64,
    ) -> Result<Reply> {
        let (joining, leaving, members) = (joining.into(), leaving.into(), members.into());
        self.call(&Request::Reconfig { joining, leaving, members, config_id })
    }

    /// checkWatches.
    pub fn check_watches(&mut self, path: impl Into<Text>, kind: i32) -> Result<Reply> {
        self.call(&Request::CheckWatches { path: path.into(), kind })
    }

    /// removeWatches.
    pub fn remove_watches(&mut self, path: impl Into<Text>, kind: i32) -> Result<Reply> {
        self.call(&Request::RemoveWatches { path: path.into(), kind })
    }

    /// addWatch.
    pub fn add_watch(&mut self, path: impl Into<Text>, mode: i32) -> Result<Reply> {
        self.call(&Request::AddWatch { path: path.into(), mode })
    }

    /// setWatches.
    pub fn set_watches(&mut self, relative_zxid: i64, lists: WatchLists) -> Result<Reply> {
        self.call(&Request::SetWatches { relative_zxid, lists })
    }

    /// setWatches2.
    pub fn set_watches2(&mut self, relative_zxid: i64, lists: WatchLists) -> Result<Reply> {
        self.call(&Request::SetWatches2 { relative_zxid, lists })
    }

    /// auth.
    pub fn auth(&mut self, scheme: impl Into<Text>, auth: &[u8]) -> Result<Reply> {
        self.call(&Request::Auth { scheme: scheme.into(), auth: Some(auth.to_vec()) })
    }

    /// sasl.
    pub fn sasl(&mut self, token: &[u8]) -> Result<Reply> {
        self.call(&Request::Sasl { token: Some(token.to_vec()) })
    }

    /// getEphemerals.
    pub fn get_ephemerals(&mut self, prefix: impl Into<Text>) -> Result<Reply> {
        self.call(&Request::GetEphemerals { prefix: prefix.into() })
    }

    /// getAllChildrenNumber.
    pub fn get_all_children_number(&mut self, path: impl Into<Text>) -> Result<Reply> {
        self.call(&Request::GetAllChildrenNumber { path: path.into() })
    }

    /// whoAmI.
    pub fn who_am_i(&mut self) -> Result<Reply> {
        self.call(&Request::WhoAmI)
    }

    /// closeSession, and the end of the connection.
    pub fn close(mut self) -> Result<Reply> {
        let reply = self.call(&Request::CloseSession)?;
        self.closed()?;
        Ok(reply)
    }
}

fn create(opcode: i32, path: Text, data: &[u8], acl: &[Acl], flags: i32) -> Request {
    Request::Create { opcode, path, data: Some(data.to_vec()), acl: Some(acl.to_vec()), flags }
}
