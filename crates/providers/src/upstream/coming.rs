//! What is still to come of an answer, and who brings it.

use super::error::BoxError;
use super::flow::Flow;
use super::kept::Kept;
use super::shelf::Shelf;
use bytes::Bytes;
use http::Response;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The body of an answer, on its way.
#[derive(Debug)]
pub(super) enum Coming {
    /// By a connection that has no other call, and where that goes afterwards.
    Kept(Incoming, Box<Kept>, Arc<Shelf>),
    /// The same, of which nothing is left but the stream that flows through it.
    Flow(Box<Flow>, Arc<Shelf>),
    /// By a connection that others use as well.
    Shared(Incoming),
}

impl Coming {
    /// An answer whose head came by `kept`.
    pub(super) fn alone(answer: Response<Incoming>, kept: Box<Kept>, shelf: &Arc<Shelf>) -> Response<Self> {
        let shelf = Arc::clone(shelf);
        let (head, incoming) = answer.into_parts();
        let coming = match Flow::begin(kept, &head) {
            Ok(flow) => Self::Flow(Box::new(flow), shelf),
            Err(kept) => Self::Kept(incoming, kept, shelf),
        };
        Response::from_parts(head, coming)
    }

    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self {
            Self::Kept(incoming, kept, _) => kept.poll_frame(incoming, cx).map_err(Into::into),
            Self::Flow(flow, _) => flow.poll_data(cx).map_ok(Frame::data),
            Self::Shared(incoming) => Pin::new(incoming).poll_frame(cx).map_err(Into::into),
        }
    }

    /// All of it has come: its connection is there for the next call.
    pub(super) fn over(self, cx: &mut Context<'_>) {
        let free = match self {
            Self::Kept(_, mut kept, shelf) => kept.is_free(cx).then_some((kept, shelf)),
            Self::Flow(flow, shelf) => flow.over(cx).map(|kept| (kept, shelf)),
            Self::Shared(_) => None,
        };
        if let Some((kept, shelf)) = free {
            shelf.put(kept);
        }
    }

    /// Whether it is known that nothing more comes.
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Kept(incoming, ..) | Self::Shared(incoming) => incoming.is_end_stream(),
            Self::Flow(flow, _) => flow.is_over(),
        }
    }

    pub(super) fn size_hint(&self) -> SizeHint {
        match self {
            Self::Kept(incoming, ..) | Self::Shared(incoming) => incoming.size_hint(),
            Self::Flow(..) => SizeHint::default(),
        }
    }
}
