//! A streamed answer on its way to the caller: passed on as it comes, read as it passes, recorded before its last frame.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use tokio::time::{Sleep, sleep};
use wire::{Broken, Delta, Gather, Piece, Writer};

use super::open_run::{End, OpenRun, recorded};
use super::record::Saved;
use super::recording::Recording;
use super::source::{Cut, Source};
use super::tongue::Tongue;
use crate::discretion::{Barred, Passed, Screen};
use crate::error::ApiError;

/// After so long without a word, a word that waits for the next is told.
const LULL: Duration = Duration::from_millis(250);

/// So much goes at once: an upstream that is faster than we are must not keep what is ready from its caller.
const ENOUGH: usize = 64 * 1024;
/// So much may wait behind what is not decided. Nothing that a model writes comes near it.
const MAX_WAITING: usize = 8 * 1024 * 1024;

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
    /// Frames wait here until all that is in them was looked at.
    screen: Screen,
    /// How long nothing has come while something waits: the time that is left, or that it is over.
    lull: Option<Option<Pin<Box<Sleep>>>>,
    run: Option<Box<OpenRun>>,
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
        recording: Recording,
        failed: bool,
    },
    Over,
}

impl Relay {
    pub(crate) fn new(source: Source, voice: Voice, tongue: Tongue, run: Box<OpenRun>, saved: Saved) -> Self {
        let screen = Screen::new(run.discretion(), run.observes());
        Self {
            source,
            voice,
            tongue,
            screen,
            lull: None,
            gather: Gather::default(),
            out: Vec::new(),
            held: Vec::new(),
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

    /// Takes what came last: its bytes and what they say.
    fn take(&mut self, raw: Vec<u8>, deltas: Vec<Delta>) {
        // What says nothing, such as a comment that keeps a connection alive, is no end of a silence.
        if !deltas.is_empty() {
            self.lull = None;
        }
        deltas.iter().for_each(|delta| self.gather.take(delta));
        let Some(run) = &self.run else { return };
        match self.screen.push(raw, deltas, &run.lexicon) {
            Ok(()) => self.tell(),
            Err(barred) => return self.bar(barred),
        }
        if self.screen.weight() > MAX_WAITING {
            let message = format!("more than {MAX_WAITING} bytes came without an end to what was being said");
            self.cut(Some(Cut::Broken(Broken::new(message))));
        }
    }

    /// Tells what may be told by now.
    fn tell(&mut self) {
        while let Some(passed) = self.screen.next() {
            self.pass(passed);
        }
    }

    /// Tells one frame.
    fn pass(&mut self, mut passed: Passed) {
        let mut ends = false;
        for delta in &passed.deltas {
            ends |= matches!(delta, Delta::End);
            let is_call =
                matches!(delta, Delta::Piece { piece: Piece::Call { .. } | Piece::Arguments { .. }, .. });
            self.holding |= self.holds_calls && is_call;
        }
        match &mut self.voice {
            Voice::Own { usage } => {
                // An upstream that gives up may say anything.
                passed.after_change |= passed.deltas.iter().any(|delta| matches!(delta, Delta::Error { .. }));
                let bare_usage = matches!(passed.deltas.as_slice(), [Delta::Usage(_)]);
                if *usage || !bare_usage {
                    let Some(run) = &self.run else { return };
                    match self.screen.frame(&mut passed, &run.lexicon) {
                        Ok(bytes) if ends || self.holding => self.held.extend(bytes),
                        Ok(bytes) => self.out.extend(bytes),
                        Err(barred) => return self.bar(barred),
                    }
                }
            }
            Voice::Told(writer) => {
                for delta in &passed.deltas {
                    let later = self.holding || matches!(delta, Delta::End);
                    let to = if later { &mut self.held } else { &mut self.out };
                    writer.write(delta, to);
                }
            }
        }
        let gave_up = passed.deltas.iter().find_map(|delta| match delta {
            Delta::Error { kind, message } => Some(format!("{kind}: {message}")),
            _ => None,
        });
        match gave_up {
            // The upstream's own words are on their way in its own bytes; elsewhere the writer has worded them.
            Some(message) => self.end(Err(("punk_upstream_gave_up", message))),
            None if ends => self.end(Ok(())),
            None => {}
        }
    }

    /// Ends the run because something came that must not leave. What was told before it cannot be taken back.
    fn bar(&mut self, barred: Barred) {
        let Some(mut run) = self.run.take() else { return };
        let answer = std::mem::take(&mut self.gather).into_answer();
        run.used(&answer);
        self.held.clear();
        let tasks = run.app.tasks.clone();
        let recording =
            Recording::begin(&tasks, Box::pin(async move { Err(run.bar(barred, &answer).await) }));
        self.state = State::Ending { recording, failed: false };
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
                Recording::begin(&tasks, Box::pin(async move { run.answered(&answer, saved).await }))
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
        // What is decided by now is told; what is not may be the beginning of something else, and nothing more comes.
        if let Some(run) = &self.run
            && self.screen.finish(&run.lexicon).is_ok()
        {
            self.tell();
        }
        self.tongue.write_cut(code, &message, &mut self.out);
        self.end(Err((code, message)));
    }

    /// Ready once, when something has waited for long and nothing came.
    fn poll_lull(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.screen.holds() {
            return Poll::Pending;
        }
        let lull = self.lull.get_or_insert_with(|| Some(Box::pin(sleep(LULL))));
        let Some(left) = lull else { return Poll::Pending };
        ready!(left.as_mut().poll(cx));
        *lull = None;
        Poll::Ready(())
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            match &mut self.state {
                State::Flowing if self.out.len() >= ENOUGH => {
                    return Poll::Ready(Some(std::mem::take(&mut self.out).into()));
                }
                State::Flowing => {
                    let (mut raw, mut deltas) = (Vec::new(), Vec::new());
                    match self.source.poll_next(cx, &mut deltas, &mut raw) {
                        // What is ready goes at once; a frame is never kept back for the next.
                        Poll::Pending if self.out.is_empty() => {
                            ready!(self.poll_lull(cx));
                            while let Some(passed) = self.screen.next_in_a_lull() {
                                self.pass(passed);
                            }
                            if self.out.is_empty() {
                                // What waits is no plain word; it is waited for however long it takes.
                                return Poll::Pending;
                            }
                        }
                        Poll::Pending => return Poll::Ready(Some(std::mem::take(&mut self.out).into())),
                        Poll::Ready(Some(Ok(()))) => self.take(raw, deltas),
                        Poll::Ready(Some(Err(cut))) => self.cut(Some(cut)),
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
                        Ok(()) if failed => {}
                        Ok(()) => self.out = std::mem::take(&mut self.held),
                        Err(error @ ApiError::Blocked { .. }) => {
                            let (code, mut message) = error.in_brief();
                            // There are no headers any more to name it.
                            if let ApiError::Blocked { approval: Some(id), .. } = error {
                                message.push_str(&format!(": {id}"));
                            }
                            self.tongue.write_cut(&code, &message, &mut self.out);
                        }
                        Err(_) => {
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
