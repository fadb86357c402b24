//! The proof by itself: artifacts of known disagreement, from their first comparison to their demotion.

use artifact::text::mix;
use learning::course::{Change, Course, Turn};
use learning::proof::Means;

use crate::data::{Labelled, draw};
use crate::stream::{KEY, terms};

/// What became of one artifact.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Life {
    pub(crate) served: usize,
    pub(crate) wrong: usize,
    pub(crate) promoted: bool,
    /// Served between the jump and the demotion.
    pub(crate) until_demoted: Option<usize>,
}

/// An artifact whose answers differ with chance `before`, and with chance `after` once `jump` requests were served.
pub(crate) fn live(seed: u64, before: f64, after: f64, jump: usize, most_served: usize, most: usize) -> Life {
    let mut course = Course::new(terms(0.01, Means::Shadow));
    let mut life = Life::default();
    for at in 0..most as u64 {
        if life.served >= most_served {
            break;
        }
        let chance = if life.served >= jump { after } else { before };
        let right = draw(seed, at) >= chance;
        match course.turn(KEY ^ seed, &at.to_be_bytes()) {
            Turn::Serve => {
                life.served += 1;
                life.wrong += usize::from(!right);
            }
            Turn::Compare => match course.compared(right, 0.0) {
                Some(Change::Promoted) => life.promoted = true,
                Some(Change::Demoted) => {
                    life.until_demoted = Some(life.served.saturating_sub(jump));
                    break;
                }
                _ => {}
            },
            Turn::Live => {}
        }
    }
    life
}

/// A made-up language with made-up classes, some of them hard to tell apart: a small task that no data set knows.
pub(crate) fn made_up(seed: u64, count: usize) -> Vec<Labelled> {
    let classes = 3 + mix(seed) % 8;
    let noise = draw(seed, 1) * 0.02;
    let shared = draw(seed, 2) * 0.5;
    let word = |number: u64| {
        let mut number = mix(number ^ mix(seed));
        let mut text = String::new();
        for _ in 0..2 + number % 3 {
            text.push(char::from(b"bdfgklmnprstvz"[(number % 14) as usize]));
            number /= 14;
            text.push(char::from(b"aeiou"[(number % 5) as usize]));
            number /= 5;
        }
        text
    };
    (0..count as u64)
        .map(|at| {
            let class = (draw(seed, at * 31 + 3) * classes as f64) as u64;
            let text: Vec<String> = (0..4 + mix(seed ^ at) % 6)
                .map(|place| {
                    let pick = (draw(seed, at * 31 + 4 + place) * 1e6) as u64;
                    let common = draw(seed, (at * 31 + 4 + place) ^ 0xffff_0000) < shared;
                    word(if common { 10_000 + pick % 40 } else { class * 100 + pick % 12 })
                })
                .collect();
            let told = if draw(seed, at * 31 + 29) < noise { (class + 1) % classes } else { class };
            (text.join(" "), format!("class {told}"))
        })
        .collect()
}
