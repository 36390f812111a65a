//! The body of an answer on its way: whole, in drips, or broken off in the middle.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

/// The connection ends here, because a fault wants it.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("a fault of the double closes the connection")]
pub(crate) struct Closed;

#[derive(Debug)]
pub(crate) struct Body {
    left: Bytes,
    pace: Pace,
}

#[derive(Debug)]
enum Pace {
    Whole,
    /// So many bytes at a time, with a pause between.
    Drip {
        bytes: usize,
        every: Duration,
        pause: Option<Pin<Box<Sleep>>>,
    },
    /// So many bytes, then the end of the connection.
    Cut {
        bytes: usize,
        sent: bool,
        flushed: bool,
    },
}

impl Body {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self { left: bytes.into(), pace: Pace::Whole }
    }

    pub(crate) fn drip(bytes: impl Into<Bytes>, piece: usize, every: Duration) -> Self {
        Self { left: bytes.into(), pace: Pace::Drip { bytes: piece.max(1), every, pause: None } }
    }

    /// Half of it. The client was told the whole length, so it knows that the rest is missing.
    pub(crate) fn cut(bytes: impl Into<Bytes>) -> Self {
        let left = bytes.into();
        let half = left.len() / 2;
        Self { left, pace: Pace::Cut { bytes: half, sent: false, flushed: false } }
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Closed;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let Self { left, pace } = self.get_mut();
        if left.is_empty() {
            return Poll::Ready(None);
        }
        let size = match pace {
            Pace::Whole => left.len(),
            Pace::Drip { bytes, every, pause } => {
                if let Some(pause) = pause {
                    ready!(pause.as_mut().poll(context));
                }
                *pause = Some(Box::pin(sleep(*every)));
                *bytes
            }
            Pace::Cut { bytes, sent: sent @ false, .. } => {
                *sent = true;
                *bytes
            }
            Pace::Cut { flushed: flushed @ false, .. } => {
                // The server writes out what it has before it asks again; an error at once would take that along.
                *flushed = true;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Pace::Cut { .. } => return Poll::Ready(Some(Err(Closed))),
        };
        let piece = left.split_to(size.min(left.len()));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn drips_make_the_whole() {
        let body = Body::drip("abcdefg", 3, Duration::from_millis(1));
        assert_eq!(body.size_hint().exact(), Some(7));
        assert_eq!(body.collect().await.unwrap().to_bytes(), "abcdefg");
    }

    #[tokio::test]
    async fn a_cut_gives_half_and_then_the_end() {
        let mut body = Body::cut("abcdefg");
        assert_eq!(body.size_hint().exact(), Some(7), "the whole length is promised");
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "abc");
        assert!(body.frame().await.unwrap().is_err());
    }
}
