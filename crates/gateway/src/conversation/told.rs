//! A streamed turn: the answer as it comes, then the turn as it was kept, then the end.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http_body::{Body as _, Frame};
use schema::{ConversationId, RunId};
use serde_json::json;
use tokio::task::JoinHandle;

use super::turn;
use crate::app::App;
use crate::identity::Caller;

/// The last word of a stream of chat completions.
const DONE: &[u8] = b"data: [DONE]";

/// The same response, whose last word comes when the conversation knows of the run.
pub(super) fn until_kept(
    response: Response,
    app: App,
    caller: Caller,
    id: ConversationId,
    run: RunId,
) -> Response {
    response.map(|body| {
        Body::new(Told {
            state: State::Telling { body, app, caller: Box::new(caller), id, run },
            done: Bytes::new(),
        })
    })
}

struct Told {
    state: State,
    /// The last word, as it came; without one the answer is not whole.
    done: Bytes,
}

enum State {
    Telling {
        body: Body,
        app: App,
        caller: Box<Caller>,
        id: ConversationId,
        run: RunId,
    },
    /// It goes on though nobody listens any more: the answer was made, and belongs to the conversation.
    Keeping(JoinHandle<Option<Bytes>>),
    Over,
}

impl Told {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            match &mut self.state {
                State::Telling { body, app, caller, id, run } => {
                    match ready!(Pin::new(&mut *body).poll_frame(context)) {
                        Some(Ok(frame)) => {
                            let Ok(bytes) = frame.into_data() else { continue };
                            let (now, done) = split(&bytes);
                            if !done.is_empty() {
                                self.done = done;
                            }
                            if !now.is_empty() {
                                return Poll::Ready(Some(now));
                            }
                        }
                        // A body of ours that breaks off has said so itself.
                        Some(Err(_)) => self.state = State::Over,
                        None => {
                            let kept = announced(app.clone(), (**caller).clone(), *id, *run);
                            self.state = State::Keeping(app.tasks.spawn(kept));
                        }
                    }
                }
                State::Keeping(kept) => {
                    let kept = ready!(Pin::new(kept).poll(context)).ok().flatten();
                    self.state = State::Over;
                    let mut last = kept.map(|bytes| bytes.to_vec()).unwrap_or_default();
                    last.extend_from_slice(&std::mem::take(&mut self.done));
                    return Poll::Ready((!last.is_empty()).then(|| last.into()));
                }
                State::Over => return Poll::Ready(None),
            }
        }
    }
}

/// What can be told at once, and the last word, if it has come.
fn split(bytes: &Bytes) -> (Bytes, Bytes) {
    if bytes.trim_ascii_end().ends_with(DONE) {
        let at = bytes.trim_ascii_end().len() - DONE.len();
        return (bytes.slice(..at), bytes.slice(at..));
    }
    (bytes.clone(), Bytes::new())
}

/// The event that tells of the turn as it was kept. Nothing for a run that is none.
async fn announced(app: App, caller: Caller, id: ConversationId, run: RunId) -> Option<Bytes> {
    let (event, data) = match turn::keep(&app, &caller, id, run).await {
        Ok(turn) => ("turn", json!({ "turn": turn? })),
        Err(error) => {
            let (code, message) = error.in_brief();
            ("error", json!({ "error": { "code": code, "message": message } }))
        }
    };
    Some(format!("event: {event}\ndata: {data}\n\n").into())
}

impl http_body::Body for Told {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.get_mut().poll(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_told_apart_from_what_is_before_it() {
        for (given, now, done) in [
            ("data: {}\n\ndata: [DONE]\n\n", "data: {}\n\n", "data: [DONE]\n\n"),
            ("data: [DONE]\r\n\r\n", "", "data: [DONE]\r\n\r\n"),
            ("data: {\"a\":\"data: [DONE] \"}\n\n", "data: {\"a\":\"data: [DONE] \"}\n\n", ""),
            ("", "", ""),
        ] {
            assert_eq!(
                split(&Bytes::from_static(given.as_bytes())),
                (Bytes::from(now), Bytes::from(done)),
                "{given}"
            );
        }
    }
}
