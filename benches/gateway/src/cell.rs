//! The cells of the table: what is asked, by how many at once. One line each.

use crate::load::{Prompt, Shape, Wire};

/// One question of the comparison.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) connections: usize,
    pub(crate) shape: Shape,
    /// Which of a target's models is asked.
    pub(crate) of: Of,
}

/// What a target must be able to do for a cell. Those who cannot are left out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// The wire of the caller is the wire of the upstream.
    Chat,
    Messages,
    /// The same question again is answered without asking anybody.
    Cached,
    /// The caller speaks chat completions, the upstream messages.
    Translated,
}

const ASKED: Shape = Shape { wire: Wire::Chat, stream: false, prompt: Prompt::Distinct, prompt_bytes: 800 };
const STREAMED: Shape = Shape { stream: true, ..ASKED };

const fn cell(name: &'static str, about: &'static str, connections: usize, shape: Shape, of: Of) -> Cell {
    Cell { name, about, connections, shape, of }
}

pub(crate) const C1: Cell = cell("c1", "one connection", 1, ASKED, Of::Chat);
pub(crate) const SAT: Cell = cell("sat", "64 connections, flat out", 64, ASKED, Of::Chat);
pub(crate) const BIG: Cell =
    cell("big", "a prompt of 64 KB, 8 connections", 8, Shape { prompt_bytes: 65_536, ..ASKED }, Of::Chat);
pub(crate) const S1: Cell = cell("s1", "one stream of 32 chunks at a time", 1, STREAMED, Of::Chat);
pub(crate) const SSAT: Cell = cell("ssat", "32 streams at a time, flat out", 32, STREAMED, Of::Chat);
pub(crate) const M1: Cell =
    cell("m1", "the messages wire, one connection", 1, Shape { wire: Wire::Messages, ..ASKED }, Of::Messages);
pub(crate) const HIT1: Cell = cell(
    "hit1",
    "an exact hit of the cache, one connection",
    1,
    Shape { prompt: Prompt::Same, ..ASKED },
    Of::Cached,
);
pub(crate) const X1: Cell =
    cell("x1", "chat completions translated to messages, one connection", 1, ASKED, Of::Translated);

/// All of them, in the order in which they are measured.
pub(crate) const CELLS: [&Cell; 8] = [&C1, &SAT, &BIG, &S1, &SSAT, &M1, &HIT1, &X1];
