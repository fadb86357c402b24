//! How an agent's behaviour becomes a score, and the score a tier. Rises slowly, falls fast.
//!
//! Everything is counted in thousandths, so that the same behaviour gives the same score on every machine:
//!
//! ```text
//! score   = calm × (0.45 × history + 0.35 × tenure + 0.20 × feedback)
//! history = good ÷ (good + 3 × bad + 100)        of 30 days; at most 10 good acts count for a day
//! tenure  = days with a good act ÷ 30
//! feedback= praised ÷ (praised + 3 × corrected)  one half where there is none
//! calm    = 1 − incidents ÷ 5, at least 0        an incident weighs 1, and half as much for every week that passes
//! ```
//!
//! Behaviour earns `verified` from 0.25 and `trusted` from 0.50. Nothing but an operator's word makes `privileged`.

use schema::{Day, TrustTier};
use serde::Serialize;

/// How many days count.
pub const DAYS: u32 = 30;

const GOOD_A_DAY: u64 = 10;
const PRIOR: u64 = 100;
const INCIDENTS: u64 = 5;
const VERIFIED: u16 = 250;
const TRUSTED: u16 = 500;

/// What an agent did on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayOfConduct {
    /// Which day.
    pub day: Day,
    /// Acts that were allowed, and effects that were carried out.
    pub good: u64,
    /// Acts that were denied, and effects that were blocked.
    pub bad: u64,
    /// Answers that people liked.
    pub praised: u64,
    /// Answers that people put right.
    pub corrected: u64,
}

/// What a score is made of, each from 0 to 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Components {
    /// How much of what it did was good.
    pub history: u16,
    /// On how many days.
    pub tenure: u16,
    /// What people said of it.
    pub feedback: u16,
    /// How long ago it last did what it may not.
    pub calm: u16,
}

/// How far an agent is trusted by what it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trust {
    /// From 0 to 1000.
    pub score_milli: u16,
    /// What the score earns.
    pub tier: TrustTier,
    /// What it is made of.
    pub components: Components,
}

/// The score of what an agent did, up to `today`.
#[must_use]
pub fn trust(conduct: &[DayOfConduct], today: Day) -> Trust {
    let (mut good, mut bad, mut praised, mut corrected, mut active) = (0, 0, 0, 0, 0);
    let mut incidents = 0;
    for day in conduct {
        let Some(age) = today.number().checked_sub(day.day.number()).filter(|age| *age < DAYS) else {
            continue;
        };
        good += day.good.min(GOOD_A_DAY);
        bad += day.bad;
        praised += day.praised;
        corrected += day.corrected;
        active += u64::from(day.good > 0);
        // Half as much for every week that passed.
        incidents += day.bad.min(1_000_000) * (1000 >> (age / 7));
    }
    let history = ratio(good, good + 3 * bad + PRIOR);
    let tenure = ratio(active, u64::from(DAYS));
    let feedback = if praised + corrected == 0 { 500 } else { ratio(praised, praised + 3 * corrected) };
    let calm = 1000u64.saturating_sub(incidents / INCIDENTS);
    let earned = 450 * history + 350 * tenure + 200 * feedback;
    let score_milli = milli(calm * earned / 1_000_000);
    let tier = match score_milli {
        TRUSTED.. => TrustTier::Trusted,
        VERIFIED.. => TrustTier::Verified,
        _ => TrustTier::Unverified,
    };
    let components = Components {
        history: milli(history),
        tenure: milli(tenure),
        feedback: milli(feedback),
        calm: milli(calm),
    };
    Trust { score_milli, tier, components }
}

fn ratio(part: u64, whole: u64) -> u64 {
    (1000 * part).checked_div(whole).unwrap_or(0).min(1000)
}

fn milli(value: u64) -> u16 {
    u16::try_from(value.min(1000)).unwrap_or(1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use proptest::prelude::*;

    fn day(number: u32, good: u64, bad: u64) -> DayOfConduct {
        DayOfConduct { day: Day::from_number(number).unwrap(), good, bad, praised: 0, corrected: 0 }
    }

    fn told(conduct: &[DayOfConduct], today: u32) -> String {
        let trust = trust(conduct, Day::from_number(today).unwrap());
        format!("{:>4} {:?}\n", trust.score_milli, trust.tier)
    }

    #[test]
    fn it_rises_in_weeks_and_falls_in_minutes() {
        let mut story = String::new();
        let mut conduct = Vec::new();
        story += &format!("never seen        {}", told(&conduct, 100));
        for day_number in 100..130 {
            conduct.push(day(day_number, 40, 0));
            if [100, 102, 106, 113, 129].contains(&day_number) {
                story += &format!("good for {:>2} days  {}", day_number - 99, told(&conduct, day_number));
            }
        }
        for denied in [1, 3, 5] {
            conduct.truncate(30);
            conduct.push(day(130, 0, denied));
            story += &format!("then {denied} denied     {}", told(&conduct, 130));
        }
        conduct.extend((131..145).map(|number| day(number, 40, 0)));
        story += &format!("two weeks later   {}", told(&conduct, 144));
        expect![[r#"
            never seen         100 Unverified
            good for  1 days   152 Unverified
            good for  3 days   238 Unverified
            good for  7 days   366 Verified
            good for 14 days   525 Trusted
            good for 30 days   787 Trusted
            then 1 denied      615 Trusted
            then 3 denied      305 Verified
            then 5 denied        0 Unverified
            two weeks later    570 Trusted
        "#]]
        .assert_eq(&story);
    }

    proptest! {
        #[test]
        fn a_denial_never_raises_it_and_a_score_stays_in_its_range(
            days in proptest::collection::vec((0u32..40, 0u64..100, 0u64..5), 0..30),
            more in 0u32..40,
        ) {
            let today = Day::from_number(39).unwrap();
            let mut conduct: Vec<_> = days.into_iter().map(|(at, good, bad)| day(at, good, bad)).collect();
            let before = trust(&conduct, today).score_milli;
            conduct.push(day(more, 0, 1));
            let after = trust(&conduct, today).score_milli;
            prop_assert!(after <= before && before <= 1000);
        }
    }
}
