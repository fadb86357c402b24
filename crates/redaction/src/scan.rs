//! One pass over text that comes in pieces.
//!
//! [`Scan::push`] finds the places that are worth looking at and looks at them; whoever sees too little waits and is asked again when
//! more has come. What was found goes to [`Candidates`], which reports it once nothing can begin before its end any more.
//!
//! What always holds:
//! - Every place is judged by what stands around it, and the answer of a detector that does not wait is final. So findings do not depend
//!   on where the text was cut.
//! - `settled` never goes back, and at most [`MAX_HELD`] bytes lie behind it.
//! - Text is kept as long as somebody may look at it and no longer.

use std::ops::Range;

use crate::detector::{Class, Digits, LOOK_AHEAD, LOOK_BEHIND, Sight, View};
use crate::detectors::{Detectors, Job};
use crate::encoded::{self, DEEPEST};
use crate::finding::{Candidate, Candidates, Finding, MAX_MATCH, Rule};
use crate::ids::is_id;
use crate::masks::{self, Answers, BLOCK, between, block_at, rows};
use crate::run::{self, LONG_RUN, MAX_RUN, SHORTEST_RUN};
use crate::table;
use crate::words::{self, MAX_WORD};

/// How many bytes can be held back at most.
pub const MAX_HELD: usize = 2 * MAX_MATCH;

/// How much is scanned at a time: what is kept of a long text stays small.
const PIECE: usize = 16 * 1024;

/// Who is asked about a place.
#[derive(Debug, Clone, Copy)]
enum Asked {
    /// Somebody who was called there for certain.
    Job(Job),
    /// Whoever this word concerns, if what stands around it fits.
    Word(u32),
}

/// Somebody who has to see more.
#[derive(Debug, Clone)]
struct Waiting {
    asked: Asked,
    at: usize,
    /// Nothing it finds begins before this.
    low: usize,
}

/// The state of a scan between two pieces.
#[derive(Debug)]
pub(crate) struct Scan {
    /// The text from `base` on.
    text: Vec<u8>,
    base: usize,
    /// Up to where words were heard.
    words: usize,
    /// Where the run of token characters begins that is not over.
    run: usize,
    waiting: Vec<Waiting>,
    /// How far each of the tenant's patterns has come.
    patterns: Vec<usize>,
    canaries: u32,
    candidates: Candidates,
    settled: usize,
    ended: bool,
    /// How many encodings lie around this text.
    depth: u8,
}

impl Scan {
    pub(crate) fn new(detectors: &Detectors, depth: u8) -> Self {
        Self {
            text: Vec::new(),
            base: 0,
            words: 0,
            run: 0,
            waiting: Vec::new(),
            patterns: vec![0; detectors.patterns.len()],
            canaries: 0,
            candidates: Candidates::default(),
            settled: 0,
            ended: false,
            depth,
        }
    }

    pub(crate) fn settled(&self) -> usize {
        self.settled
    }

    pub(crate) fn push(&mut self, detectors: &Detectors, mut text: &str, found: &mut Vec<Finding>) {
        while !text.is_empty() {
            let (piece, rest) = text.split_at(text.floor_char_boundary(PIECE));
            self.push_bytes(detectors, piece.as_bytes(), found);
            text = rest;
        }
    }

    /// Takes in a piece that is not too large, and need not be text.
    pub(crate) fn push_bytes(&mut self, detectors: &Detectors, piece: &[u8], found: &mut Vec<Finding>) {
        self.forget();
        let from = self.text.len();
        self.text.extend_from_slice(piece);
        self.ask_again(detectors);
        self.hear_words(detectors);
        self.read_blocks(detectors, from);
        self.try_patterns(detectors);
        self.read_canaries(detectors, from);
        self.settle(detectors, found);
    }

    pub(crate) fn finish(&mut self, detectors: &Detectors, found: &mut Vec<Finding>) {
        if self.ended {
            return;
        }
        self.ended = true;
        self.ask_again(detectors);
        self.hear_words(detectors);
        self.end_run(detectors, self.run - self.base, self.text.len());
        self.try_patterns(detectors);
        self.settle(detectors, found);
    }

    /// Lets go of text that nobody can look at any more.
    fn forget(&mut self) {
        let needed = self.settled.saturating_sub(LOOK_BEHIND + MAX_WORD).saturating_sub(self.base);
        if needed > PIECE / 4 {
            self.text.drain(..needed);
            self.base += needed;
        }
    }

    /// The words that can be told of now.
    fn hear_words(&mut self, detectors: &Detectors) {
        let mut heard: Vec<(usize, u32)> = Vec::new();
        let text = &self.text;
        let next = detectors.words.hear(text, self.words - self.base, self.ended, |at, number| {
            if words::fits(detectors.words.word(number), text, at, false) != Some(false) {
                heard.push((at, number));
            }
        });
        self.words = self.base + next;
        for (at, number) in heard {
            self.ask(detectors, Asked::Word(number), at);
        }
    }

    /// What is new, in blocks: the bytes that somebody looks at, the first digits of numbers, and the runs of token characters that end.
    fn read_blocks(&mut self, detectors: &Detectors, from: usize) {
        let mut after_digit = from > 0 && self.text[from - 1].is_ascii_digit();
        let mut run = self.run - self.base;
        for at in (from..self.text.len()).step_by(BLOCK) {
            let block = block_at(&self.text, at);
            for place in Answers::of(&block, is_noted).places() {
                self.note_byte(detectors, block[place], at + place);
            }
            let digits = Answers::of(&block, |byte| between(byte, b'0', b'9'));
            if !detectors.digits.is_empty() {
                let starts = (digits & !digits.before(after_digit)).in_order();
                let ordered = digits.in_order();
                for place in masks::places(starts) {
                    let length = (ordered >> place).trailing_ones() as usize;
                    self.note_number(detectors, at + place, length);
                }
            }
            after_digit = digits.last();
            // Without a digit, only what is longer can be anything but a word.
            let shortest = if digits.is_none() { LONG_RUN } else { SHORTEST_RUN };
            run = self.find_runs(detectors, run, at, table::runs(&block), shortest);
        }
        self.run = self.base + run;
    }

    /// The runs of token characters that end in the block at `at`, of which `runs` tells. `start` is where the run begins that goes on from
    /// the block before; gives where the one begins that goes on behind this one.
    fn find_runs(
        &mut self,
        detectors: &Detectors,
        mut start: usize,
        at: usize,
        runs: u64,
        shortest: usize,
    ) -> usize {
        let width = BLOCK.min(self.text.len() - at);
        let mut end = runs.trailing_ones() as usize;
        loop {
            while at + end - start >= MAX_RUN {
                self.end_run(detectors, start, start + MAX_RUN);
                start += MAX_RUN;
            }
            if end >= width {
                return start;
            }
            if at + end - start >= SHORTEST_RUN {
                self.end_run(detectors, start, at + end);
            }
            let behind = runs & (u64::MAX << end);
            let long = rows(behind, shortest);
            if long == 0 {
                // The last run may go on.
                let ones = (behind << (BLOCK - width)).leading_ones() as usize;
                return at + width - ones;
            }
            let last = long.trailing_zeros() as usize;
            start = at + last + 1 - shortest;
            end = last + (runs >> last).trailing_ones() as usize;
        }
    }

    fn note_byte(&mut self, detectors: &Detectors, byte: u8, at: usize) {
        for &job in &detectors.bytes[usize::from(byte)] {
            let is_plain =
                matches!(job, Job::Escaped) && (self.depth >= DEEPEST || encoded::is_plain(&self.text[at..]));
            if !is_plain {
                self.ask(detectors, Asked::Job(job), at);
            }
        }
    }

    /// The first digit of a number stands at `at`. Its neighbours tell most of those who could ask for it that there is nothing.
    /// `within` are those of its digits that stand in the block.
    fn note_number(&mut self, detectors: &Detectors, at: usize, within: usize) {
        // What goes on behind the block is counted one by one.
        let behind = self.text[at + within..].iter();
        let length = within + behind.take_while(|byte| byte.is_ascii_digit()).count();
        let before = match self.text[..at] {
            [.., earlier, before] => [earlier, before],
            [before] => [b' ', before],
            [] => [b' '; 2],
        };
        let after = self.text[at + length..].first_chunk();
        let digits = after.map(|after| Digits {
            before,
            first: self.text[at],
            length: length.try_into().unwrap_or(u8::MAX),
            after: *after,
        });
        if digits.as_ref().is_some_and(Digits::are_of_nobody) {
            return;
        }
        for &(job, may_be) in &detectors.digits {
            if digits.is_none_or(may_be) {
                self.ask(detectors, Asked::Job(job), at);
            }
        }
    }

    /// The tenant's own patterns.
    fn try_patterns(&mut self, detectors: &Detectors) {
        let base = self.base;
        for (pattern, next) in detectors.patterns.iter().zip(&mut self.patterns) {
            let mut index = *next - base;
            pattern.search(&self.text, self.ended, &mut index, |mut candidate| {
                let range = whole_characters(&self.text, candidate.range);
                candidate.range = base + range.start..base + range.end;
                self.candidates.add(candidate);
            });
            *next = base + index;
        }
    }

    /// What was planted.
    fn read_canaries(&mut self, detectors: &Detectors, from: usize) {
        if let Some(canaries) = &detectors.canaries {
            canaries.read(&mut self.canaries, &self.text, from, |mut candidate| {
                let range = whole_characters(&self.text, candidate.range);
                candidate.range = self.base + range.start..self.base + range.end;
                self.candidates.add(candidate);
            });
        }
    }

    /// A run of token characters is over.
    fn end_run(&mut self, detectors: &Detectors, start: usize, end: usize) {
        let start = (start + run::escape(&self.text, start)).min(end);
        let length = end - start;
        if run::is_worth_a_look(&self.text[start..end]) {
            self.ask(detectors, Asked::Job(Job::Run { length: length as u16 }), start);
        }
    }

    /// Asks everybody who waits.
    fn ask_again(&mut self, detectors: &Detectors) {
        for Waiting { asked, at, .. } in std::mem::take(&mut self.waiting) {
            self.ask(detectors, asked, at - self.base);
        }
    }

    fn ask(&mut self, detectors: &Detectors, asked: Asked, at: usize) {
        let job = match asked {
            Asked::Job(job) => job,
            Asked::Word(number) => {
                let word = detectors.words.word(number);
                match words::fits(word, &self.text, at, self.ended) {
                    Some(true) => word.job,
                    Some(false) => return,
                    None => return self.wait(asked, at),
                }
            }
        };
        let from = at.saturating_sub(LOOK_BEHIND);
        let to = self.text.len().min(at + LOOK_AHEAD);
        let view =
            View { text: &self.text[from..to], at: at - from, ended: self.ended && to == self.text.len() };
        match detectors.look(job, view, self.depth) {
            Seen::Nothing => {}
            Seen::Wait if view.ended || to == at + LOOK_AHEAD => {}
            Seen::Wait => self.wait(asked, at),
            Seen::Found(candidates) => {
                for candidate in candidates {
                    self.take(candidate, from, at);
                }
            }
        }
    }

    fn wait(&mut self, asked: Asked, at: usize) {
        let low = self.base + word_start(&self.text, at);
        self.waiting.push(Waiting { asked, at: self.base + at, low });
    }

    /// Takes in what was found in the view that begins at `from`, for a trigger at `at`.
    fn take(&mut self, mut candidate: Candidate, from: usize, at: usize) {
        let first = word_start(&self.text, at);
        let range = whole_characters(&self.text, from + candidate.range.start..from + candidate.range.end);
        // Whatever it is called, an id is told freely.
        let is_id = candidate.class == Class::Secret && is_id(&self.text[range.clone()]);
        candidate.range = self.base + range.start.max(first)..self.base + range.end;
        if !candidate.range.is_empty() && !is_id {
            self.candidates.add(candidate);
        }
    }

    /// Reports what is complete, and moves `settled` on.
    fn settle(&mut self, detectors: &Detectors, found: &mut Vec<Finding>) {
        let end = self.base + self.text.len();
        let low = if self.ended {
            end
        } else {
            let run = self.base + word_start(&self.text, self.run - self.base);
            let waiting = self.waiting.iter().map(|waiting| waiting.low).min().unwrap_or(end);
            let word = self.base + current_word(&self.text);
            let patterns = self.patterns.iter().copied().min().unwrap_or(end);
            let canaries = detectors
                .canaries
                .as_ref()
                .map_or(end, |canaries| self.base + canaries.under_way(self.canaries, &self.text));
            self.floor(run.min(waiting).min(word).min(patterns).min(canaries))
        };
        self.candidates.settle(low, found);
        let settled = self.candidates.begin().map_or(low, |begin| begin.min(low));
        debug_assert!(settled >= self.settled, "settled goes back");
        self.settled = settled;
    }

    /// The character boundary at or before an absolute place.
    fn floor(&self, place: usize) -> usize {
        let mut index = place - self.base;
        while index > 0 && self.text.get(index).is_some_and(|&byte| is_continuation(byte)) {
            index -= 1;
        }
        self.base + index
    }
}

/// Whether somebody can ask for a byte. All but the quotes of typographers stand seldom.
#[inline(always)]
fn is_noted(byte: u8) -> bool {
    (byte == b'@') | (byte == b':') | (byte == b'%') | (byte == b'\\') | (byte >= 0x80)
}

/// Where the word begins that is not over, or as far back as anything in it can begin.
fn current_word(text: &[u8]) -> usize {
    let from = text.len().saturating_sub(LOOK_BEHIND + MAX_WORD);
    text[from..].iter().rposition(u8::is_ascii_whitespace).map_or(from, |space| from + space + 1)
}

/// What somebody says of a place, with ranges in the view.
pub(crate) enum Seen {
    Nothing,
    Found(Vec<Candidate>),
    Wait,
}

impl From<Sight> for Seen {
    fn from(sight: Sight) -> Self {
        match sight {
            Sight::Nothing => Self::Nothing,
            Sight::Wait => Self::Wait,
            Sight::Found { range, class, rule } => {
                Self::Found(vec![Candidate { range, class, rule: Rule::BuiltIn(rule), encoding: None }])
            }
        }
    }
}

/// Where the word around `at` begins, or as far back as a match may.
pub(crate) fn word_start(text: &[u8], at: usize) -> usize {
    let from = at.saturating_sub(LOOK_BEHIND);
    let start =
        text[from..at].iter().rposition(u8::is_ascii_whitespace).map_or(from, |space| from + space + 1);
    // A look that goes as far back as it may can land within a character.
    (start..at).find(|&index| !is_continuation(text[index])).unwrap_or(at)
}

fn whole_characters(text: &[u8], range: Range<usize>) -> Range<usize> {
    let (mut start, mut end) = (range.start, range.end);
    while start > 0 && text.get(start).is_some_and(|&byte| is_continuation(byte)) {
        start -= 1;
    }
    while text.get(end).is_some_and(|&byte| is_continuation(byte)) {
        end += 1;
    }
    start..end
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detector::Trigger;

    #[test]
    fn every_byte_that_somebody_asks_for_is_noted() {
        let asked = crate::rules::built_in().filter_map(|detector| match detector.trigger {
            Trigger::Byte(byte) => Some(byte),
            _ => None,
        });
        assert!(asked.chain(encoded::BEGINNINGS).all(is_noted));
    }
}
