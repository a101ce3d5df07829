//! The protocol's numbers: what can be asked, what can go wrong, what can happen.

/// Opcodes of requests.
pub mod opcode {
    macro_rules! opcodes {
        ($($name:ident = $number:literal, $text:literal;)*) => {
            $(#[doc = concat!("`", $text, "`.")] pub const $name: i32 = $number;)*

            /// The protocol's name of an opcode; `?` for a number without a meaning.
            pub fn name(opcode: i32) -> &'static str {
                match opcode {
                    $($number => $text,)*
                    _ => "?",
                }
            }
        };
    }

    opcodes! {
        CREATE = 1, "create";
        DELETE = 2, "delete";
        EXISTS = 3, "exists";
        GET_DATA = 4, "getData";
        SET_DATA = 5, "setData";
        GET_ACL = 6, "getACL";
        SET_ACL = 7, "setACL";
        GET_CHILDREN = 8, "getChildren";
        SYNC = 9, "sync";
        PING = 11, "ping";
        GET_CHILDREN2 = 12, "getChildren2";
        CHECK = 13, "check";
        MULTI = 14, "multi";
        CREATE2 = 15, "create2";
        RECONFIG = 16, "reconfig";
        CHECK_WATCHES = 17, "checkWatches";
        REMOVE_WATCHES = 18, "removeWatches";
        CREATE_CONTAINER = 19, "createContainer";
        DELETE_CONTAINER = 20, "deleteContainer";
        CREATE_TTL = 21, "createTTL";
        MULTI_READ = 22, "multiRead";
        AUTH = 100, "auth";
        SET_WATCHES = 101, "setWatches";
        SASL = 102, "sasl";
        GET_EPHEMERALS = 103, "getEphemerals";
        GET_ALL_CHILDREN_NUMBER = 104, "getAllChildrenNumber";
        SET_WATCHES2 = 105, "setWatches2";
        ADD_WATCH = 106, "addWatch";
        WHO_AM_I = 107, "whoAmI";
        CREATE_SESSION = -10, "createSession";
        CLOSE_SESSION = -11, "closeSession";
    }
}

/// Error codes of replies.
pub mod code {
    macro_rules! codes {
        ($($name:ident = $number:literal, $text:literal;)*) => {
            $(#[doc = concat!("`", $text, "`.")] pub const $name: i32 = $number;)*

            /// The protocol's name of an error code; `?` for a number without a meaning.
            pub fn name(code: i32) -> &'static str {
                match code {
                    $($number => $text,)*
                    _ => "?",
                }
            }
        };
    }

    codes! {
        OK = 0, "ok";
        SYSTEM_ERROR = -1, "SYSTEMERROR";
        RUNTIME_INCONSISTENCY = -2, "RUNTIMEINCONSISTENCY";
        DATA_INCONSISTENCY = -3, "DATAINCONSISTENCY";
        CONNECTION_LOSS = -4, "CONNECTIONLOSS";
        MARSHALLING_ERROR = -5, "MARSHALLINGERROR";
        UNIMPLEMENTED = -6, "UNIMPLEMENTED";
        OPERATION_TIMEOUT = -7, "OPERATIONTIMEOUT";
        BAD_ARGUMENTS = -8, "BADARGUMENTS";
        UNKNOWN_SESSION = -12, "UNKNOWNSESSION";
        NEW_CONFIG_NO_QUORUM = -13, "NEWCONFIGNOQUORUM";
        RECONFIG_IN_PROGRESS = -14, "RECONFIGINPROGRESS";
        API_ERROR = -100, "APIERROR";
        NO_NODE = -101, "NONODE";
        NO_AUTH = -102, "NOAUTH";
        BAD_VERSION = -103, "BADVERSION";
        NO_CHILDREN_FOR_EPHEMERALS = -108, "NOCHILDRENFOREPHEMERALS";
        NODE_EXISTS = -110, "NODEEXISTS";
        NOT_EMPTY = -111, "NOTEMPTY";
        SESSION_EXPIRED = -112, "SESSIONEXPIRED";
        INVALID_CALLBACK = -113, "INVALIDCALLBACK";
        INVALID_ACL = -114, "INVALIDACL";
        AUTH_FAILED = -115, "AUTHFAILED";
        SESSION_MOVED = -118, "SESSIONMOVED";
        NOT_READ_ONLY = -119, "NOTREADONLY";
        EPHEMERAL_ON_LOCAL_SESSION = -120, "EPHEMERALONLOCALSESSION";
        NO_WATCHER = -121, "NOWATCHER";
        REQUEST_TIMEOUT = -122, "REQUESTTIMEOUT";
        RECONFIG_DISABLED = -123, "RECONFIGDISABLED";
        SESSION_CLOSED_REQUIRE_SASL_AUTH = -124, "SESSIONCLOSEDREQUIRESASLAUTH";
        QUOTA_EXCEEDED = -125, "QUOTAEXCEEDED";
        THROTTLED_OP = -127, "THROTTLEDOP";
    }
}

/// Types of watch events.
pub mod event {
    /// A node came to be.
    pub const NODE_CREATED: i32 = 1;
    /// A node is gone.
    pub const NODE_DELETED: i32 = 2;
    /// A node's data was set.
    pub const NODE_DATA_CHANGED: i32 = 3;
    /// A node has a child more or less.
    pub const NODE_CHILDREN_CHANGED: i32 = 4;

    /// The protocol's name of an event type; `?` for a number servers do not send.
    pub fn name(kind: i32) -> &'static str {
        match kind {
            NODE_CREATED => "NodeCreated",
            NODE_DELETED => "NodeDeleted",
            NODE_DATA_CHANGED => "NodeDataChanged",
            NODE_CHILDREN_CHANGED => "NodeChildrenChanged",
            _ => "?",
        }
    }
}

/// Create flags: an enumeration on the wire, not a set of bits.
pub mod flag {
    /// Stays until deleted.
    pub const PERSISTENT: i32 = 0;
    /// Goes with its session.
    pub const EPHEMERAL: i32 = 1;
    /// Stays, with a counter appended to its name.
    pub const SEQUENTIAL: i32 = 2;
    /// Goes with its session, with a counter appended to its name.
    pub const EPHEMERAL_SEQUENTIAL: i32 = 3;
    /// Goes some time after its last child.
    pub const CONTAINER: i32 = 4;
    /// Goes some time after its last change.
    pub const TTL: i32 = 5;
    /// Goes some time after its last change, with a counter appended to its name.
    pub const TTL_SEQUENTIAL: i32 = 6;
}

/// Permission bits of ACL entries.
pub mod perm {
    /// See data and children.
    pub const READ: i32 = 1;
    /// Set data.
    pub const WRITE: i32 = 2;
    /// Create children.
    pub const CREATE: i32 = 4;
    /// Delete children.
    pub const DELETE: i32 = 8;
    /// Set the ACL.
    pub const ADMIN: i32 = 16;
    /// All of them.
    pub const ALL: i32 = 31;
}

/// Watcher types of checkWatches and removeWatches.
pub mod watcher {
    /// Child watches.
    pub const CHILDREN: i32 = 1;
    /// Data watches.
    pub const DATA: i32 = 2;
    /// All of them.
    pub const ANY: i32 = 3;
    /// Persistent watches.
    pub const PERSISTENT: i32 = 4;
    /// Persistent recursive watches.
    pub const PERSISTENT_RECURSIVE: i32 = 5;
}
