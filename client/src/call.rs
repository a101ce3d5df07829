//! The way to a call's result.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::sync::oneshot;
use zoolab_core::client::Failed;
use zoolab_core::request::Body;

/// What the result of a call comes to, which may also be a refusal that is an answer.
type Read<T> = Box<dyn FnOnce(Result<Body, Failed>) -> Result<T, Failed> + Send>;

/// A call that has been made. Its result comes to whoever awaits this.
///
/// # Cancel safety
///
/// The call is on its way to the server, or waits for the next connection, from the moment its
/// method was called. Dropping this does not take it back: it is performed, or not, as if its
/// result were awaited, its place among the other calls is the same, and no other call gets its
/// result. A watch that it would have set is given up. Waiting with
/// [`select!`](tokio::select) or [`timeout`](tokio::time::timeout) on `&mut call` keeps the result
/// for the next time.
#[must_use = "the call is made anyway, but how it went is not known"]
pub struct Call<T> {
    reply: oneshot::Receiver<Result<Body, Failed>>,
    read: Option<Read<T>>,
}

impl<T> Call<T> {
    pub(crate) fn new(
        reply: oneshot::Receiver<Result<Body, Failed>>,
        read: impl FnOnce(Result<Body, Failed>) -> Result<T, Failed> + Send + 'static,
    ) -> Self {
        Self { reply, read: Some(Box::new(read)) }
    }
}

impl<T> Future for Call<T> {
    type Output = Result<T, Failed>;

    /// # Panics
    /// If it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let reply = ready!(Pin::new(&mut self.reply).poll(cx));
        // The task that drives the client ends only with its runtime, while anybody can ask.
        let result = reply.unwrap_or(Err(Failed::ConnectionLoss));
        let read = self.read.take().expect("not polled after it was ready");
        Poll::Ready(read(result))
    }
}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").finish_non_exhaustive()
    }
}
