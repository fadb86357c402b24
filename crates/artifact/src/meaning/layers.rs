//! How pieces change each other: small layers over neighbouring pieces, then over the whole text, in whole numbers.
//!
//! Weights are whole steps and so are the numbers that go through them, so every machine adds up the same. `layers.bin` has the layers
//! one after the other; a layer is, for each number that it gives, a scale and a constant (`f32`, little-endian) and a byte for each number
//! that it takes.

use std::sync::LazyLock;

use super::{DIMENSIONS, products};

static BYTES: &[u8] = include_bytes!("layers.bin");

/// How many pieces a piece is seen with: itself and its neighbours.
const WINDOW: usize = 3;
/// What a layer finds among neighbours, and in the whole text.
const FOUND: usize = 128;
const FOUND_IN_ALL: usize = 256;
/// How often neighbours are looked at.
const TIMES: usize = 2;
/// The steps of one, in numbers of pieces and of what was found among them, and in those of the whole text.
const STEPS: f32 = 512.0;
const STEPS_IN_ALL: f32 = 8192.0;

/// One layer: sums of what it takes, weighed.
struct Layer {
    takes: usize,
    weights: Vec<i16>,
    /// Scale and constant of each number that it gives.
    scales: Vec<(f32, f32)>,
}

struct Layers {
    near: Vec<(Layer, Layer)>,
    all: (Layer, Layer),
}

static LAYERS: LazyLock<Layers> = LazyLock::new(|| {
    let mut rest = BYTES;
    let mut next = |gives, takes| Layer::read(&mut rest, gives, takes);
    let near = (0..TIMES).map(|_| (next(FOUND, WINDOW * DIMENSIONS), next(DIMENSIONS, FOUND))).collect();
    Layers { near, all: (next(FOUND_IN_ALL, DIMENSIONS), next(DIMENSIONS, FOUND_IN_ALL)) }
});

impl Layer {
    fn read(bytes: &mut &[u8], gives: usize, takes: usize) -> Self {
        let mut layer = Self { takes, weights: Vec::new(), scales: Vec::new() };
        for _ in 0..gives {
            let Some((head, rest)) = bytes.split_first_chunk::<8>() else { break };
            let Some((weights, rest)) = rest.split_at_checked(takes) else { break };
            let [a, b, c, d, e, f, g, h] = *head;
            layer.scales.push((f32::from_le_bytes([a, b, c, d]), f32::from_le_bytes([e, f, g, h])));
            layer.weights.extend(weights.iter().map(|weight| i16::from(weight.cast_signed())));
            *bytes = rest;
        }
        layer
    }

    /// What it gives for `taken`, which are in `steps`.
    fn give<'a>(&'a self, taken: &'a [i16], steps: f32) -> impl Iterator<Item = f32> + 'a {
        let rows = self.weights.chunks_exact(self.takes);
        rows.zip(&self.scales)
            .map(move |(row, (scale, constant))| products(taken, row) as f32 / steps * scale + constant)
    }
}

/// The nearest step; what is too large is as large as can be. Adding and taking away rounds without a library.
fn step(value: f32, steps: f32) -> i16 {
    const ROUNDS: f32 = 12_582_912.0;
    ((value * steps).clamp(-32_767.0, 32_767.0) + ROUNDS - ROUNDS) as i16
}

/// What the pieces of a text are about together, given what each is about by itself.
pub(super) fn together(mut pieces: Vec<[f32; DIMENSIONS]>) -> [f32; DIMENSIONS] {
    // Nothing comes before the first piece and after the last, so windows are always whole.
    let mut steps = vec![0_i16; (pieces.len() + WINDOW - 1) * DIMENSIONS];
    let mut found = [0_i16; FOUND];
    for (find, change) in &LAYERS.near {
        for (steps, value) in steps[DIMENSIONS..].iter_mut().zip(pieces.iter().flatten()) {
            *steps = step(*value, STEPS);
        }
        for (window, piece) in steps.windows(WINDOW * DIMENSIONS).step_by(DIMENSIONS).zip(&mut pieces) {
            for (found, value) in found.iter_mut().zip(find.give(window, STEPS)) {
                *found = step(value.max(0.0), STEPS);
            }
            for (value, change) in piece.iter_mut().zip(change.give(&found, STEPS)) {
                *value += change;
            }
        }
    }
    let mut all = [0.0; DIMENSIONS];
    for piece in &pieces {
        for (all, value) in all.iter_mut().zip(piece) {
            *all += value;
        }
    }
    let mut all = super::normalised(all);
    let (find, change) = &LAYERS.all;
    let steps = all.map(|value| step(value, STEPS_IN_ALL));
    let mut found = [0_i16; FOUND_IN_ALL];
    for (found, value) in found.iter_mut().zip(find.give(&steps, STEPS_IN_ALL)) {
        *found = step(value.max(0.0), STEPS_IN_ALL);
    }
    for (value, change) in all.iter_mut().zip(change.give(&found, STEPS_IN_ALL)) {
        *value += change;
    }
    super::normalised(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_belongs_to_a_layer() {
        let bytes = |layer: &Layer| layer.scales.len() * (8 + layer.takes);
        let pair = |(find, change): &(Layer, Layer)| bytes(find) + bytes(change);
        assert_eq!(LAYERS.near.iter().map(pair).sum::<usize>() + pair(&LAYERS.all), BYTES.len());
    }

    #[test]
    fn numbers_are_the_nearest_step_and_no_larger_than_can_be() {
        assert_eq!([0.0, 0.6, -0.6, 1e9, -1e9].map(|value| step(value, 1.0)), [0, 1, -1, 32_767, -32_767]);
        assert_eq!(step(f32::NAN, 1.0), 0);
    }

    #[test]
    fn the_largest_sum_is_within_bounds() {
        assert_eq!(
            products(&[32_767; WINDOW * DIMENSIONS], &[127_i16; WINDOW * DIMENSIONS]),
            384 * 32_767 * 127
        );
    }
}
