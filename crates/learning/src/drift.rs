//! Drift: evidence that a rate has risen above what was promised, whenever that began.
//!
//! The Shiryaev–Roberts process `R ← (1 + R) · L` sums the likelihood ratios of a change at every earlier moment. While the
//! rate is at most what was promised, `R` after `n` comparisons is `n` on average, so it reaches `n/α` with a chance of at most `α`.

use serde::{Deserialize, Serialize};

/// A watch over one rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// What the rate may be.
    allowed: f64,
    /// One sum for a small rise, one for a jump.
    sums: [f64; 2],
    /// What a sum must reach.
    alarm: f64,
}

impl Watch {
    /// A watch that raises a false alarm with a chance of at most `false_alarm` in `horizon` comparisons while the rate is at most `allowed`.
    #[must_use]
    pub fn new(allowed: f64, horizon: f64, false_alarm: f64) -> Self {
        Self {
            allowed: allowed.clamp(1e-6, 0.5),
            sums: [0.0; 2],
            alarm: 2.0 * horizon.max(1.0) / false_alarm.max(1e-9),
        }
    }

    /// Counts one comparison; says whether that is an alarm.
    pub fn add(&mut self, bad: bool) -> bool {
        let small = (3.0 * self.allowed).min(0.6);
        let jump = (20.0 * self.allowed).clamp(small, 0.7);
        for (sum, rise) in self.sums.iter_mut().zip([small, jump]) {
            let ratio = if bad { rise / self.allowed } else { (1.0 - rise) / (1.0 - self.allowed) };
            *sum = ((1.0 + *sum) * ratio).min(f64::MAX / 1e6);
        }
        self.sums.iter().any(|sum| *sum >= self.alarm)
    }

    /// How much of an alarm there is, from none (0) to one (1), on a logarithmic scale.
    #[must_use]
    pub fn strength(&self) -> f64 {
        let most = self.sums[0].max(self.sums[1]).max(1.0);
        (most.ln() / self.alarm.ln()).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use artifact::text::mix;

    fn alarms(rate: f64, comparisons: u64) -> usize {
        (0..500_u64)
            .filter(|stream| {
                let mut watch = Watch::new(0.01, 800.0, 0.01);
                (0..comparisons).any(|at| {
                    let draw = (mix(mix(*stream) ^ at) >> 11) as f64 / (1_u64 << 53) as f64;
                    watch.add(draw < rate)
                })
            })
            .count()
    }

    #[test]
    fn a_sound_artifact_is_seldom_suspected() {
        assert!(alarms(0.01, 800) <= 5);
        assert_eq!(alarms(0.003, 800), 0);
    }

    #[test]
    fn a_jump_is_seen_within_sixty_comparisons() {
        assert!(alarms(0.3, 60) >= 495);
    }

    #[test]
    fn a_long_good_past_does_not_hide_a_jump() {
        let mut watch = Watch::new(0.01, 800.0, 0.01);
        (0..10_000).for_each(|_| assert!(!watch.add(false)));
        assert!((0..8).any(|_| watch.add(true)));
    }
}
