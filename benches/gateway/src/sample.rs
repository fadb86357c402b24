//! What was measured, and what can be asked of it. Ratios are made inside a repeat, so that what the machine did meanwhile
//! counts for both sides; of the repeats the median is told.

use serde::Serialize;

use crate::cell::Cell;
use crate::commit::Commit;
use crate::load::{Figures, median};

/// One cell of one target in one repeat.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sample {
    pub(crate) target: String,
    pub(crate) cell: &'static str,
    pub(crate) repeat: usize,
    /// Of the machine, when it was measured.
    pub(crate) load_average: f64,
    pub(crate) figures: Figures,
}

/// One figure out of those of a load.
pub(crate) type Figure = fn(&Figures) -> Option<f64>;

/// All that a run has measured.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Samples {
    pub(crate) samples: Vec<Sample>,
    /// One for each repeat.
    pub(crate) commits: Vec<Commit>,
}

/// One repeat.
#[derive(Clone, Copy)]
pub(crate) struct Repeat<'a> {
    all: &'a Samples,
    number: usize,
}

impl Samples {
    /// The targets in the order in which they were measured.
    pub(crate) fn targets(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for sample in &self.samples {
            if !names.contains(&sample.target.as_str()) {
                names.push(&sample.target);
            }
        }
        names
    }

    fn repeats(&self) -> impl Iterator<Item = Repeat<'_>> {
        (0..self.commits.len()).map(|number| Repeat { all: self, number })
    }

    /// The median over the repeats of whatever `make` makes of one; those that lack something are left out.
    pub(crate) fn median_of(&self, make: impl Fn(Repeat<'_>) -> Option<f64>) -> Option<f64> {
        median(self.repeats().filter_map(make))
    }

    /// The median of one figure.
    pub(crate) fn figure(&self, target: &str, cell: &Cell, figure: Figure) -> Option<f64> {
        self.median_of(|repeat| repeat.figure(target, cell, figure))
    }
}

impl Repeat<'_> {
    /// One figure of this repeat, if it is sound.
    pub(crate) fn figure(self, target: &str, cell: &Cell, figure: Figure) -> Option<f64> {
        let of = |sample: &&Sample| {
            sample.repeat == self.number && sample.cell == cell.name && sample.target == target
        };
        let sample = self.all.samples.iter().find(of)?;
        figure(&sample.figures).filter(|_| sample.figures.is_sound())
    }

    /// The smallest of one figure among `targets`.
    pub(crate) fn least(self, targets: &[&str], cell: &Cell, figure: Figure) -> Option<f64> {
        targets.iter().filter_map(|target| self.figure(target, cell, figure)).min_by(f64::total_cmp)
    }

    /// What a commit cost by itself in this repeat.
    pub(crate) fn commit(self) -> Option<f64> {
        self.all.commits.get(self.number).map(|commit| commit.sqlite)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cell::C1;

    /// A target's figures in cells, by repeats.
    pub(crate) fn sample(target: &str, cell: &Cell, repeat: usize, p50: f64, cpu: f64) -> Sample {
        let figures = Figures { requests: 100, p50, cpu: Some(cpu), ..Figures::default() };
        Sample { target: target.to_owned(), cell: cell.name, repeat, load_average: 0.0, figures }
    }

    pub(crate) const COMMIT: Commit = Commit { sqlite: 20.0, fdatasync: 500.0 };

    #[test]
    fn ratios_are_made_inside_a_repeat() {
        // A machine that was three times slower in the second repeat and twice in the third.
        let mut all = Samples { commits: vec![COMMIT; 3], ..Samples::default() };
        for (repeat, slow) in [1.0, 3.0, 2.0].into_iter().enumerate() {
            all.samples.push(sample("nginx", &C1, repeat, 50.0 * slow, 30.0 * slow));
            all.samples.push(sample("ours", &C1, repeat, 80.0 * slow, 45.0 * slow));
        }
        let cpu: Figure = |figures| figures.cpu;
        let ratio = all.median_of(|r| Some(r.figure("ours", &C1, cpu)? / r.figure("nginx", &C1, cpu)?));
        assert_eq!(ratio, Some(1.5));
        assert_eq!(all.figure("ours", &C1, cpu), Some(90.0));
        assert_eq!(all.figure("nobody", &C1, cpu), None);
        assert_eq!(all.targets(), ["nginx", "ours"]);
    }

    #[test]
    fn what_mostly_failed_says_nothing() {
        let mut all = Samples { commits: vec![COMMIT], ..Samples::default() };
        all.samples.push(sample("ours", &C1, 0, 50.0, 30.0));
        all.samples[0].figures.errors = 2;
        assert_eq!(all.figure("ours", &C1, |figures| figures.cpu), None);
    }
}
