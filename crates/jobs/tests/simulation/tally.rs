//! How often each thing happened.

use std::ops::AddAssign;

/// What happened in a world, to see that enough did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) steps: u64,
    pub(crate) done: u64,
    pub(crate) dead: u64,
    pub(crate) crashes: u64,
    pub(crate) stops: u64,
    pub(crate) given_back: u64,
    pub(crate) cancelled: u64,
    pub(crate) clock_jumps: u64,
    pub(crate) unanswered: u64,
    /// Results that came too late: the lease was lost, or an earlier try had been recorded.
    pub(crate) refused: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.done += other.done;
        self.dead += other.dead;
        self.crashes += other.crashes;
        self.stops += other.stops;
        self.given_back += other.given_back;
        self.cancelled += other.cancelled;
        self.clock_jumps += other.clock_jumps;
        self.unanswered += other.unanswered;
        self.refused += other.refused;
    }
}

impl Tally {
    pub(crate) fn assert_everything_happened(&self) {
        let Self {
            steps,
            done,
            dead,
            crashes,
            stops,
            given_back,
            cancelled,
            clock_jumps,
            unanswered,
            refused,
        } = self;
        for count in
            [steps, done, dead, crashes, stops, given_back, cancelled, clock_jumps, unanswered, refused]
        {
            assert!(*count > 0, "{self:?}");
        }
    }
}
