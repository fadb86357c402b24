//! A streamed answer on its way to the caller: passed on as it comes, read as it passes, recorded before its last frame.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Frame;
use tokio::task::JoinHandle;
use wire::{Delta, Gather, Piece, Writer};

use super::open_run::{End, OpenRun, recorded};
use super::record::Saved;
use super::source::{Cut, Source};
use super::tongue::Tongue;
use crate::error::ApiError;

/// The body of a streamed answer.
///
/// The frame that ends it is held back until the run is recorded: whoever has the last byte can rely on the ledger having
/// the run. Dropped before that, the caller has hung up: the upstream's call ends with this, and the run is recorded with
/// what there was.
pub(crate) struct Relay {
    source: Source,
    voice: Voice,
    /// For errors, which are ours to phrase.
    tongue: Tongue,
    gather: Gather,
    /// Ready to go.
    out: Vec<u8>,
    /// Goes when the run is recorded.
    held: Vec<u8>,
    /// What the frame at hand says.
    deltas: Vec<Delta>,
    run: Option<OpenRun>,
    saved: Saved,
    /// Whether calls are kept back until all of them were judged.
    holds_calls: bool,
    /// Whether one has come.
    holding: bool,
    state: State,
}

/// How the stream is worded.
pub(crate) enum Voice {
    /// In the upstream's own bytes; its word on usage only if the caller wanted it.
    Own { usage: bool },
    /// Told anew in the caller's wire.
    Told(Box<Writer>),
}

enum State {
    Flowing,
    /// All was said; the run is being recorded.
    Ending {
        recording: JoinHandle<Result<(), ApiError>>,
        failed: bool,
    },
    Over,
}

impl Relay {
    pub(crate) fn new(source: Source, voice: Voice, tongue: Tongue, run: OpenRun, saved: Saved) -> Self {
        Self {
            source,
            voice,
            tongue,
            gather: Gather::default(),
            out: Vec::new(),
            held: Vec::new(),
            deltas: Vec::new(),
            run: Some(run),
            saved,
            holds_calls: false,
            holding: false,
            state: State::Flowing,
        }
    }

    /// With calls kept back until all of them were judged, or not.
    pub(crate) fn holding(mut self, holds_calls: bool) -> Self {
        self.holds_calls = holds_calls;
        self
    }

    /// Takes what came last: its bytes are in `out` from `from` on, its meaning in `deltas`.
    fn take(&mut self, from: usize) {
        let mut ends = false;
        for delta in &self.deltas {
            self.gather.take(delta);
            ends |= matches!(delta, Delta::End);
            let is_call =
                matches!(delta, Delta::Piece { piece: Piece::Call { .. } | Piece::Arguments { .. }, .. });
            self.holding |= self.holds_calls && is_call;
        }
        match &mut self.voice {
            Voice::Own { usage } => {
                let bare_usage = matches!(self.deltas.as_slice(), [Delta::Usage(_)]);
                if bare_usage && !*usage {
                    self.out.truncate(from);
                } else if ends || self.holding {
                    self.held.extend(self.out.drain(from..));
                }
            }
            Voice::Told(writer) => {
                self.out.truncate(from);
                for delta in &self.deltas {
                    let later = self.holding || matches!(delta, Delta::End);
                    let to = if later { &mut self.held } else { &mut self.out };
                    writer.write(delta, to);
                }
            }
        }
        let gave_up = self.deltas.iter().find_map(|delta| match delta {
            Delta::Error { kind, message } => Some(format!("{kind}: {message}")),
            _ => None,
        });
        self.deltas.clear();
        match gave_up {
            // The upstream's own words are on their way in its own bytes; elsewhere the writer has worded them.
            Some(message) => self.end(Err(("punk_upstream_gave_up", message))),
            None if ends => self.end(Ok(())),
            None => {}
        }
    }

    /// Ends the run, well or badly.
    fn end(&mut self, how: Result<(), (&'static str, String)>) {
        let Some(mut run) = self.run.take() else { return };
        let answer = std::mem::take(&mut self.gather).into_answer();
        run.used(&answer);
        let failed = how.is_err();
        let recording = match how {
            Ok(()) => {
                let (tasks, saved) = (run.app.tasks.clone(), self.saved);
                tasks.spawn(async move { run.answered(&answer, saved).await })
            }
            Err((code, message)) => {
                // What was kept back is not told any more, and neither is the upstream's own word in it.
                if self.holding {
                    self.tongue.write_cut(code, &message, &mut self.out);
                }
                run.end(End::Failed { code: code.to_owned(), message, answer: Some(recorded(&answer)) })
            }
        };
        self.state = State::Ending { recording, failed };
    }

    /// The upstream stopped in the middle. The caller is told so, in its own wire: a cut must not look like an end.
    fn cut(&mut self, cut: Option<Cut>) {
        let (code, message) = match cut {
            None => ("punk_upstream_cut", "the upstream closed its answer before it was complete".to_owned()),
            Some(cut @ Cut::Transport(_)) => ("punk_upstream_cut", cut.to_string()),
            Some(cut @ Cut::Broken(_)) => ("punk_upstream_broken", cut.to_string()),
        };
        self.tongue.write_cut(code, &message, &mut self.out);
        self.end(Err((code, message)));
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            match &mut self.state {
                State::Flowing => {
                    let from = self.out.len();
                    match self.source.poll_next(cx, &mut self.deltas, &mut self.out) {
                        // What is ready goes at once; a frame is never kept back for the next.
                        Poll::Pending if self.out.is_empty() => return Poll::Pending,
                        Poll::Pending => return Poll::Ready(Some(std::mem::take(&mut self.out).into())),
                        Poll::Ready(Some(Ok(()))) => self.take(from),
                        Poll::Ready(Some(Err(cut))) => {
                            self.out.truncate(from);
                            self.cut(Some(cut));
                        }
                        Poll::Ready(None) => self.cut(None),
                    }
                }
                State::Ending { recording, failed } => {
                    if !self.out.is_empty() {
                        return Poll::Ready(Some(std::mem::take(&mut self.out).into()));
                    }
                    // Reading on while we wait lets the connection be used again.
                    let _ = self.source.poll_drained(cx);
                    let recorded = ready!(Pin::new(recording).poll(cx));
                    let failed = *failed;
                    self.state = State::Over;
                    match recorded {
                        Ok(Ok(())) if failed => {}
                        Ok(Ok(())) => self.out = std::mem::take(&mut self.held),
                        Ok(Err(error @ ApiError::Blocked { .. })) => {
                            let (code, mut message) = error.in_brief();
                            // There are no headers any more to name it.
                            if let ApiError::Blocked { approval: Some(id), .. } = error {
                                message.push_str(&format!(": {id}"));
                            }
                            self.tongue.write_cut(&code, &message, &mut self.out);
                        }
                        Ok(Err(_)) | Err(_) => {
                            let message = "the run could not be recorded, so its answer is not complete";
                            self.tongue.write_cut("punk_ledger_unavailable", message, &mut self.out);
                        }
                    }
                }
                State::Over if self.out.is_empty() => return Poll::Ready(None),
                State::Over => return Poll::Ready(Some(std::mem::take(&mut self.out).into())),
            }
        }
    }
}

impl http_body::Body for Relay {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.get_mut().poll(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let Some(mut run) = self.run.take() else { return };
        let answer = std::mem::take(&mut self.gather).into_answer();
        run.used(&answer);
        run.end(End::Cancelled { answer: Some(recorded(&answer)) });
    }
}

/// Whether a piece says something to the caller, so that there is no way back.
pub(crate) fn says_something(delta: &Delta) -> bool {
    match delta {
        Delta::Start { .. } | Delta::Usage(_) | Delta::Error { .. } => false,
        Delta::Piece { piece: Piece::Text(text) | Piece::Thinking(text), .. } => !text.is_empty(),
        Delta::Piece { .. } | Delta::Logprobs { .. } | Delta::Stop { .. } | Delta::End => true,
    }
}
