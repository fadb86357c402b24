//! A streamed answer on its way out: frames wait until all that is in them was looked at.
//!
//! Each part of an answer (its words, a thought, the arguments of a call) is a channel of its own, looked at as it comes. A
//! frame leaves when everything it says is decided, and everything before it has left; normally that is when the next
//! word begins. A frame in which nothing changes leaves as it came.
//!
//! Nobody waits for ever: when a stream falls silent in the middle of a word, what is plainly a word leaves
//! ([`Screen::next_in_a_lull`]). Should it turn out to have been the beginning of something, the rest of it is kept back.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use redaction::{Finding, Lexicon, Stream};
use wire::{Delta, Piece};

use super::outbound::Barred;
use super::{Discretion, Looked, Outward, Spelling};

/// The frames of one answer that are on their way.
pub(crate) struct Screen {
    pub(super) discretion: Arc<Discretion>,
    channels: Vec<Channel>,
    /// Frames in the order in which they came.
    waiting: VecDeque<Waiting>,
    /// How many bytes they have.
    weight: usize,
    findings: Vec<Finding>,
    /// Whether anything was changed so far.
    changed: bool,
    /// Whether all passes as it is.
    open: bool,
}

/// A frame on its way: what it says, and the bytes that said it.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    pub(crate) raw: Vec<u8>,
    pub(crate) deltas: Vec<Delta>,
    /// The texts that were changed in it, as they were.
    pub(crate) before: Vec<(String, String)>,
    /// Whether something was changed before it, so that what it repeats must be changed as well.
    pub(crate) after_change: bool,
}

struct Waiting {
    frame: Passed,
    slots: Vec<Slot>,
}

/// Where a text of a frame stands in its channel.
struct Slot {
    delta: usize,
    channel: usize,
    range: Range<usize>,
}

/// One part of an answer.
struct Channel {
    choice: u32,
    kind: Kind,
    stream: Stream,
    /// What came and is not decided, and where it begins.
    pending: String,
    base: usize,
    /// What is put in the place of what.
    edits: Vec<(Range<usize>, String)>,
    closed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Refusal,
    Arguments(u32),
}

impl Kind {
    fn spelling(self) -> Spelling {
        match self {
            Self::Text | Self::Refusal => Spelling::Plain,
            Self::Thinking => Spelling::Sealed,
            Self::Arguments(_) => Spelling::Json,
        }
    }
}

impl Screen {
    /// A screen for one answer. `open`: everything passes as it is, because the caller only observes.
    pub(crate) fn new(discretion: Arc<Discretion>, open: bool) -> Self {
        Self {
            discretion,
            channels: Vec::new(),
            waiting: VecDeque::new(),
            weight: 0,
            findings: Vec::new(),
            changed: false,
            open,
        }
    }

    /// Takes a frame. Nothing of it may leave before it is given back by [`Screen::next`].
    pub(crate) fn push(&mut self, raw: Vec<u8>, deltas: Vec<Delta>, lexicon: &Lexicon) -> Result<(), Barred> {
        let mut slots = Vec::new();
        if !self.open {
            for (index, delta) in deltas.iter().enumerate() {
                self.take(index, delta, &mut slots, lexicon)?;
            }
        }
        self.weight += raw.len();
        self.waiting.push_back(Waiting { frame: Passed { raw, deltas, ..Passed::default() }, slots });
        Ok(())
    }

    fn take(
        &mut self,
        index: usize,
        delta: &Delta,
        slots: &mut Vec<Slot>,
        lexicon: &Lexicon,
    ) -> Result<(), Barred> {
        match delta {
            Delta::Piece { choice, piece } => {
                let (kind, text) = match piece {
                    Piece::Text(text) => (Kind::Text, text),
                    Piece::Thinking(text) => (Kind::Thinking, text),
                    Piece::Refusal(text) => (Kind::Refusal, text),
                    Piece::Arguments { index, json } => (Kind::Arguments(*index), json),
                    Piece::Call { name, .. } => {
                        self.discretion.outgoing(name, Spelling::Plain, lexicon, &mut Looked::default())?;
                        return self.close(lexicon, |channel| {
                            channel.choice == *choice && !matches!(channel.kind, Kind::Arguments(_))
                        });
                    }
                    Piece::Signature(_) | Piece::RedactedThinking(_) => {
                        return self.close(lexicon, |channel| {
                            channel.choice == *choice && channel.kind == Kind::Thinking
                        });
                    }
                };
                // Pieces of one kind in a row belong together; one of another kind ends what was before.
                if !matches!(kind, Kind::Arguments(_)) {
                    self.close(lexicon, |channel| {
                        channel.choice == *choice
                            && channel.kind != kind
                            && !matches!(channel.kind, Kind::Arguments(_))
                    })?;
                }
                let channel = self.channel(*choice, kind);
                let range = self.feed(channel, text, lexicon)?;
                slots.push(Slot { delta: index, channel, range });
                Ok(())
            }
            Delta::Stop { choice, .. } => self.close(lexicon, |channel| channel.choice == *choice),
            Delta::End | Delta::Error { .. } => self.close(lexicon, |_| true),
            Delta::Start { .. } | Delta::Usage(_) | Delta::Logprobs { .. } => Ok(()),
        }
    }

    /// Nothing more comes: all that waits is decided.
    pub(crate) fn finish(&mut self, lexicon: &Lexicon) -> Result<(), Barred> {
        self.close(lexicon, |_| true)
    }

    /// The next frame that may leave.
    pub(crate) fn next(&mut self) -> Option<Passed> {
        let first = self.waiting.front()?;
        let settled = |slot: &Slot| self.channels[slot.channel].settled() >= slot.range.end;
        if first.slots.iter().all(settled) { self.pass() } else { None }
    }

    /// Whether anything waits.
    pub(crate) fn holds(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// How many bytes wait.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// The next frame that may leave because nothing has come for a while, and what it ends with is plainly a word.
    pub(crate) fn next_in_a_lull(&mut self) -> Option<Passed> {
        let first = self.waiting.front()?;
        let harmless = |slot: &Slot| {
            let channel = &self.channels[slot.channel];
            channel.settled() >= slot.range.end || is_plain_word(&channel.pending)
        };
        if first.slots.iter().all(harmless) { self.pass() } else { None }
    }

    /// Lets the first frame go, with what was decided about it.
    fn pass(&mut self) -> Option<Passed> {
        let Waiting { mut frame, slots } = self.waiting.pop_front()?;
        self.weight -= frame.raw.len();
        for slot in &slots {
            let edits = &self.channels[slot.channel].edits;
            let Some(text) = text_mut(&mut frame.deltas[slot.delta]) else { continue };
            if let Some(told) = edited(text, &slot.range, edits) {
                frame.before.push((std::mem::replace(text, told.clone()), told));
            }
        }
        self.changed |= !frame.before.is_empty();
        frame.after_change = self.changed;
        if self.waiting.is_empty() && self.channels.iter().all(|channel| channel.closed) {
            self.channels.clear();
        }
        Some(frame)
    }

    /// The open channel of this kind; a new one, if there is none.
    fn channel(&mut self, choice: u32, kind: Kind) -> usize {
        let same = |channel: &Channel| channel.choice == choice && channel.kind == kind && !channel.closed;
        if let Some(place) = self.channels.iter().position(same) {
            return place;
        }
        let stream = self.discretion.detectors.stream();
        let (pending, edits) = (String::new(), Vec::new());
        self.channels.push(Channel { choice, kind, stream, pending, base: 0, edits, closed: false });
        self.channels.len() - 1
    }

    fn feed(&mut self, place: usize, text: &str, lexicon: &Lexicon) -> Result<Range<usize>, Barred> {
        let channel = &mut self.channels[place];
        let start = channel.base + channel.pending.len();
        channel.pending.push_str(text);
        self.findings.clear();
        channel.stream.push(text, &mut self.findings);
        channel.decide(&self.findings, &self.discretion, lexicon)?;
        Ok(start..start + text.len())
    }

    fn close(&mut self, lexicon: &Lexicon, which: impl Fn(&Channel) -> bool) -> Result<(), Barred> {
        for channel in self.channels.iter_mut().filter(|channel| !channel.closed && which(channel)) {
            channel.closed = true;
            self.findings.clear();
            channel.stream.finish(&mut self.findings);
            channel.decide(&self.findings, &self.discretion, lexicon)?;
        }
        Ok(())
    }
}

impl Channel {
    /// Up to where everything is decided.
    fn settled(&self) -> usize {
        if self.closed { usize::MAX } else { self.stream.settled() }
    }

    /// Decides about what was found.
    fn decide(
        &mut self,
        findings: &[Finding],
        discretion: &Discretion,
        lexicon: &Lexicon,
    ) -> Result<(), Barred> {
        for finding in findings {
            let range = finding.range.clone();
            let found = &self.pending[range.start - self.base..range.end - self.base];
            match discretion.outward(finding, found, self.kind.spelling(), lexicon) {
                Outward::Keep => {}
                Outward::Put(told) => self.edits.push((range, told)),
                Outward::Bar(name) => return Err(Barred(name)),
            }
        }
        let decided = self.stream.settled().min(self.base + self.pending.len());
        self.pending.drain(..decided - self.base);
        self.base = decided;
        Ok(())
    }
}

/// What the part of a channel that a frame has becomes; nothing, if it stays.
fn edited(text: &str, at: &Range<usize>, edits: &[(Range<usize>, String)]) -> Option<String> {
    let touching = |(range, _): &&(Range<usize>, String)| range.end > at.start && range.start < at.end;
    let mut told: Option<String> = None;
    let mut from = at.start;
    for (range, other) in edits.iter().filter(touching) {
        let told = told.get_or_insert_default();
        if range.start >= at.start {
            told.push_str(&text[from - at.start..range.start - at.start]);
            // What takes its place is told where it began.
            told.push_str(other);
        }
        from = range.end.min(at.end);
    }
    let mut told = told?;
    told.push_str(&text[from - at.start..]);
    Some(told)
}

/// Whether a text is a word as people write them, with the sign behind it that ends a clause: no digits, and nothing that
/// keys, addresses and numbers are made with.
fn is_plain_word(text: &str) -> bool {
    let word = text.trim_end_matches([',', '.', ';', '!', '?', ')', '"']);
    text.len() <= 24
        && text.len() - word.len() <= 1
        && word.chars().all(|letter| letter.is_alphabetic() || letter == '\'')
}

/// The text of a piece.
fn text_mut(delta: &mut Delta) -> Option<&mut String> {
    let Delta::Piece { piece, .. } = delta else { return None };
    match piece {
        Piece::Text(text) | Piece::Thinking(text) | Piece::Refusal(text) => Some(text),
        Piece::Arguments { json, .. } => Some(json),
        Piece::Signature(_) | Piece::RedactedThinking(_) | Piece::Call { .. } => None,
    }
}
