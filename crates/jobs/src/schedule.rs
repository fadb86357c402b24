//! Cron schedules on a wall clock somewhere.
//!
//! Two crates were tried first (November 2026). `croner` 4 gives the same times around gaps and folds, but says of a bad
//! field only "number out of bounds", not which nor what is allowed, and brings `derive_builder` and `strum`. `cronexpr`
//! 1.7 skips a time in a gap, runs one in a fold twice, and looks four years ahead: too few for 29 February after 2096.

mod field;
#[cfg(test)]
mod tests;

use field::{DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, Set};
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp as Instant};
use schema::Timestamp;

/// When recurring work falls due: five cron fields, read on the clock of a time zone.
///
/// The fields are minute, hour, day of month, month, day of week; each is `*`, a number, a name (`jan`, `mon`), a range
/// (`1-5`), either with a step (`*/15`), or a list of those. As in every cron, a day counts if it matches both day
/// fields, or, when neither starts with `*`, one of them.
///
/// When the clock is put forward, times in the gap fall due together at the first moment after it. When it is put back,
/// a time that comes twice falls due the first time only, unless the schedule is for every hour of the day: that one
/// goes on through the repeated hour, because nobody wants `*/5 * * * *` to pause for an hour.
#[derive(Debug, Clone)]
pub struct Schedule {
    minutes: Set,
    hours: Set,
    days: Set,
    months: Set,
    weekdays: Set,
    zone: TimeZone,
    /// Instead of all of that: the milliseconds from one time to the next, counted from 1970.
    every: Option<u64>,
}

/// Why a text is not a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Not five of them.
    #[error("expected 5 fields (minute, hour, day of month, month, day of week), found {0}")]
    Fields(usize),
    /// One of them cannot be read.
    #[error(
        "{field}: `{text}` is not allowed; expected {allowed}, as `*`, `a`, `a-b`, `*/step` or `a-b/step`, joined by commas"
    )]
    Field {
        /// Which.
        field: &'static str,
        /// The part that cannot be read.
        text: String,
        /// The values it may have.
        allowed: &'static str,
    },
    /// No such zone.
    #[error("unknown time zone `{0}`; expected a name such as `UTC` or `Europe/Berlin`")]
    Zone(String),
    /// It asks for a day that no year has, such as 30 February.
    #[error("`{0}` never comes: none of its months has such a day")]
    Never(String),
}

impl Schedule {
    /// Reads a schedule such as `*/5 * * * *` in a zone such as `Europe/Berlin`.
    pub fn parse(cron: &str, zone: &str) -> Result<Self, ScheduleError> {
        let texts: Vec<&str> = cron.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = texts[..] else {
            return Err(ScheduleError::Fields(texts.len()));
        };
        let schedule = Self {
            minutes: MINUTE.parse(minutes)?,
            hours: HOUR.parse(hours)?,
            days: DAY_OF_MONTH.parse(days)?,
            months: MONTH.parse(months)?,
            weekdays: DAY_OF_WEEK.parse(weekdays)?,
            zone: TimeZone::get(zone).map_err(|_| ScheduleError::Zone(zone.to_owned()))?,
            every: None,
        };
        match schedule.next_civil(DateTime::constant(2000, 1, 1, 0, 0, 0, 0)) {
            Some(_) => Ok(schedule),
            None => Err(ScheduleError::Never(cron.to_owned())),
        }
    }

    /// Again and again after so long, which may be less than the minutes of cron; at least a millisecond.
    ///
    /// # Errors
    /// None that can happen: the fields of every minute are read.
    pub fn every(period: std::time::Duration) -> Result<Self, ScheduleError> {
        let millis = u64::try_from(period.as_millis()).unwrap_or(u64::MAX).max(1);
        Ok(Self { every: Some(millis), ..Self::parse("* * * * *", "UTC")? })
    }

    /// The time from one to the next, where it is always the same.
    #[must_use]
    pub fn period(&self) -> Option<std::time::Duration> {
        self.every.map(std::time::Duration::from_millis)
    }

    /// The first time after `after`; `None` if that lies beyond the year 9999.
    #[must_use]
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        if let Some(every) = self.every {
            let next = (after.as_millis() / every).checked_add(1)?.checked_mul(every)?;
            return Timestamp::from_millis(next).ok();
        }
        let after = Instant::from_millisecond(i64::try_from(after.as_millis()).ok()?).ok()?;
        let next = match (self.next_once(after), self.next_in_the_hour(after)) {
            (Some(one), Some(other)) => one.min(other),
            (one, other) => one.or(other)?,
        };
        Timestamp::from_millis(u64::try_from(next.as_millisecond()).ok()?).ok()
    }

    /// The last time up to and including `until`; `None` if there is none since 1970.
    #[must_use]
    pub fn last_until(&self, until: Timestamp) -> Option<Timestamp> {
        if let Some(every) = self.every {
            return Timestamp::from_millis(until.as_millis() / every * every).ok();
        }
        let next_by_then = |after: u64| {
            let next = self.next_after(Timestamp::from_millis(after).ok()?)?;
            (next <= until).then_some(next.as_millis())
        };
        // Back in ever longer steps until there is a time, then closer to the last one by halves.
        let (mut high, mut step) = (until.as_millis(), 60_000);
        let mut last = loop {
            let from = until.as_millis().saturating_sub(step);
            match next_by_then(from) {
                Some(time) => break time,
                None if from == 0 => return None,
                None => (high, step) = (from, step * 2),
            }
        };
        while last < high {
            let middle = last + (high - last) / 2;
            match next_by_then(middle) {
                Some(time) => last = time,
                None => high = middle,
            }
        }
        Timestamp::from_millis(last).ok()
    }

    /// The next time when every reading of the clock counts once.
    fn next_once(&self, after: Instant) -> Option<Instant> {
        let mut civil = minute_of(self.zone.to_datetime(after));
        loop {
            civil = self.next_civil(civil)?;
            let instant = self.first_instant(civil)?;
            if instant > after {
                return Some(instant);
            }
            civil = civil.checked_add(SignedDuration::from_mins(1)).ok()?;
        }
    }

    /// For a schedule of every hour: the next time within an hour, however often the clock reads it.
    fn next_in_the_hour(&self, after: Instant) -> Option<Instant> {
        if !HOUR.is_all(self.hours) {
            return None;
        }
        let minute = after.as_second().div_euclid(60);
        (1..=60).map_while(|later| Instant::from_second((minute + later) * 60).ok()).find(|&instant| {
            let civil = self.zone.to_datetime(instant);
            self.has_date(civil.date()) && self.minutes.has(civil.minute()) && civil.second() == 0
        })
    }

    /// The first reading of the clock from `from` on, which must be a whole minute, gaps or not.
    fn next_civil(&self, from: DateTime) -> Option<DateTime> {
        let (mut date, mut hour, mut minute) = (from.date(), from.hour(), from.minute());
        // The calendar repeats after 400 years, weekdays included.
        let last_year = from.year().saturating_add(400);
        while date.year() <= last_year {
            if self.has_date(date) {
                if self.hours.has(hour)
                    && let Some(minute) = self.minutes.first_from(minute)
                {
                    return Some(date.at(hour, minute, 0, 0));
                }
                if let Some(hour) = self.hours.first_from(hour + 1) {
                    return Some(date.at(hour, self.minutes.first_from(0)?, 0, 0));
                }
            }
            (hour, minute) = (0, 0);
            let skip_month = !self.months.has(date.month());
            date = if skip_month { date.last_of_month().tomorrow().ok()? } else { date.tomorrow().ok()? };
        }
        None
    }

    fn has_date(&self, date: Date) -> bool {
        let day = self.days.has(date.day());
        let weekday = self.weekdays.has(date.weekday().to_sunday_zero_offset());
        let both = self.days.starts_with_star() || self.weekdays.starts_with_star();
        self.months.has(date.month()) && if both { day && weekday } else { day || weekday }
    }

    /// When the clock first reads `civil`, or, if it never does, the first moment after the gap.
    fn first_instant(&self, civil: DateTime) -> Option<Instant> {
        match self.zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(civil).ok(),
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(civil).ok(),
            AmbiguousOffset::Gap { after, .. } => {
                // By the offset of after the gap, a time in it lies before the clock is put forward.
                let before_the_gap = after.to_timestamp(civil).ok()?;
                Some(self.zone.following(before_the_gap).next()?.timestamp())
            }
        }
    }
}

fn minute_of(civil: DateTime) -> DateTime {
    civil.date().at(civil.hour(), civil.minute(), 0, 0)
}
