//! The core behind real sockets.
