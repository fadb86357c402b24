use expect_test::{Expect, expect};
use jiff::{Timestamp as Instant, tz};
use proptest::prelude::*;

use super::*;

fn at(text: &str) -> Timestamp {
    Timestamp::from_millis(text.parse::<Instant>().unwrap().as_millisecond() as u64).unwrap()
}

/// The first runs after `after`, on the clock of the zone.
#[track_caller]
fn check(cron: &str, zone: &str, after: &str, expected: &Expect) {
    let schedule = Schedule::parse(cron, zone).unwrap();
    let mut runs = String::new();
    let mut last = at(after);
    for _ in 0..4 {
        last = schedule.next_after(last).unwrap();
        let zoned = Instant::from_millisecond(last.as_millis() as i64).unwrap().in_tz(zone).unwrap();
        runs += &zoned.strftime("%a %F %H:%M:%S %:z\n").to_string();
    }
    expected.assert_eq(&runs);
}

#[test]
fn steps_count_from_the_start_of_the_hour() {
    check(
        "*/25 * * * *",
        "UTC",
        "2026-11-15T23:15:24.123Z",
        &expect![[r#"
        Sun 2026-11-15 23:25:00 +00:00
        Sun 2026-11-15 23:50:00 +00:00
        Mon 2026-11-16 00:00:00 +00:00
        Mon 2026-11-16 00:25:00 +00:00
    "#]],
    );
}

#[test]
fn names_ranges_and_lists_mean_what_they_say() {
    check(
        "0 9,17 * jan-mar,12 Mon-fri",
        "Europe/Berlin",
        "2026-11-16T00:00:00Z",
        &expect![[r#"
        Tue 2026-12-01 09:00:00 +01:00
        Tue 2026-12-01 17:00:00 +01:00
        Wed 2026-12-02 09:00:00 +01:00
        Wed 2026-12-02 17:00:00 +01:00
    "#]],
    );
    check(
        "0 0 * * sat-sun",
        "UTC",
        "2026-11-16T00:00:00Z",
        &expect![[r#"
        Sat 2026-11-21 00:00:00 +00:00
        Sun 2026-11-22 00:00:00 +00:00
        Sat 2026-11-28 00:00:00 +00:00
        Sun 2026-11-29 00:00:00 +00:00
    "#]],
    );
}

#[test]
fn two_restricted_day_fields_are_alternatives() {
    check(
        "0 0 13 * fri",
        "UTC",
        "2026-11-01T00:00:00Z",
        &expect![[r#"
        Fri 2026-11-06 00:00:00 +00:00
        Fri 2026-11-13 00:00:00 +00:00
        Fri 2026-11-20 00:00:00 +00:00
        Fri 2026-11-27 00:00:00 +00:00
    "#]],
    );
    check(
        "0 0 */2 * fri",
        "UTC",
        "2026-11-01T00:00:00Z",
        &expect![[r#"
        Fri 2026-11-13 00:00:00 +00:00
        Fri 2026-11-27 00:00:00 +00:00
        Fri 2026-12-11 00:00:00 +00:00
        Fri 2026-12-25 00:00:00 +00:00
    "#]],
    );
}

#[test]
fn a_leap_day_is_found_across_the_year_that_has_none() {
    check(
        "0 0 29 2 *",
        "UTC",
        "2093-01-01T00:00:00Z",
        &expect![[r#"
        Wed 2096-02-29 00:00:00 +00:00
        Fri 2104-02-29 00:00:00 +00:00
        Wed 2108-02-29 00:00:00 +00:00
        Mon 2112-02-29 00:00:00 +00:00
    "#]],
    );
}

#[test]
fn a_time_in_the_gap_runs_at_the_first_moment_after_it() {
    check(
        "30 2 * * *",
        "Europe/Berlin",
        "2026-03-28T00:00:00Z",
        &expect![[r#"
        Sat 2026-03-28 02:30:00 +01:00
        Sun 2026-03-29 03:00:00 +02:00
        Mon 2026-03-30 02:30:00 +02:00
        Tue 2026-03-31 02:30:00 +02:00
    "#]],
    );
    check(
        "*/20 2,3 * * *",
        "Europe/Berlin",
        "2026-03-29T00:00:00Z",
        &expect![[r#"
        Sun 2026-03-29 03:00:00 +02:00
        Sun 2026-03-29 03:20:00 +02:00
        Sun 2026-03-29 03:40:00 +02:00
        Mon 2026-03-30 02:00:00 +02:00
    "#]],
    );
}

#[test]
fn a_whole_day_in_the_gap_runs_when_the_next_begins() {
    check(
        "0 12 * * *",
        "Pacific/Apia",
        "2011-12-29T00:00:00Z",
        &expect![[r#"
        Thu 2011-12-29 12:00:00 -10:00
        Sat 2011-12-31 00:00:00 +14:00
        Sat 2011-12-31 12:00:00 +14:00
        Sun 2012-01-01 12:00:00 +14:00
    "#]],
    );
}

#[test]
fn a_time_in_the_fold_runs_once() {
    check(
        "30 2 * * *",
        "Europe/Berlin",
        "2026-10-24T22:00:00Z",
        &expect![[r#"
        Sun 2026-10-25 02:30:00 +02:00
        Mon 2026-10-26 02:30:00 +01:00
        Tue 2026-10-27 02:30:00 +01:00
        Wed 2026-10-28 02:30:00 +01:00
    "#]],
    );
}

#[test]
fn a_schedule_of_every_hour_goes_on_through_the_fold() {
    check(
        "30 * * * *",
        "Europe/Berlin",
        "2026-10-24T23:40:00Z",
        &expect![[r#"
        Sun 2026-10-25 02:30:00 +02:00
        Sun 2026-10-25 02:30:00 +01:00
        Sun 2026-10-25 03:30:00 +01:00
        Sun 2026-10-25 04:30:00 +01:00
    "#]],
    );
}

#[test]
fn what_cannot_be_read_is_named_with_what_can() {
    let error = |cron: &str| Schedule::parse(cron, "UTC").unwrap_err().to_string();
    expect!["expected 5 fields (minute, hour, day of month, month, day of week), found 4"]
        .assert_eq(&error("* * * *"));
    expect!["hour: `25` is not allowed; expected 0-23, as `*`, `a`, `a-b`, `*/step` or `a-b/step`, joined by commas"]
        .assert_eq(&error("0 1,25 * * *"));
    expect!["`0 0 30 2 *` never comes: none of its months has such a day"].assert_eq(&error("0 0 30 2 *"));
    for (cron, field) in [
        ("60 * * * *", "minute: `60`"),
        ("+5 * * * *", "minute: `+5`"),
        ("*/0 * * * *", "minute: `*/0`"),
        ("*/60 * * * *", "minute: `*/60`"),
        ("5-1 * * * *", "minute: `5-1`"),
        ("1,,2 * * * *", "minute: ``"),
        ("* * 0 * *", "day of month: `0`"),
        ("* * 32 * *", "day of month: `32`"),
        ("* * * foo *", "month: `foo`"),
        ("* * * 13 *", "month: `13`"),
        ("* * * * 8", "day of week: `8`"),
        ("* * * * mon-funday", "day of week: `mon-funday`"),
    ] {
        assert!(error(cron).starts_with(&format!("{field} is not allowed; expected ")), "{}", error(cron));
    }
    let zone = Schedule::parse("* * * * *", "Europe/Atlantis").unwrap_err();
    expect!["unknown time zone `Europe/Atlantis`; expected a name such as `UTC` or `Europe/Berlin`"]
        .assert_eq(&zone.to_string());
}

/// A field's text and the values it stands for, worked out without the parser.
fn any_field(min: u8, max: u8) -> impl Strategy<Value = (String, Vec<u8>)> {
    let item = prop_oneof![
        1 => Just(("*".to_owned(), (min..=max).collect::<Vec<u8>>())),
        1 => (1..=max).prop_map(move |step| (format!("*/{step}"), (min..=max).step_by(step.into()).collect())),
        1 => (min..=max).prop_map(|value| (value.to_string(), vec![value])),
        1 => (min..=max, min..=max, 1..=max).prop_map(|(a, b, step)| {
            let (from, to) = (a.min(b), a.max(b));
            (format!("{from}-{to}/{step}"), (from..=to).step_by(step.into()).collect())
        }),
    ];
    prop::collection::vec(item, 1..3).prop_map(|items| {
        let (texts, values): (Vec<_>, Vec<_>) = items.into_iter().unzip();
        (texts.join(","), values.concat())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_next_run_is_what_looking_at_every_minute_finds(
        (minute, minutes) in any_field(0, 59), (hour, hours) in any_field(0, 23), (day, days) in any_field(1, 31),
        (weekday, weekdays) in any_field(0, 7),
        // Around the days on which these clocks change, in 2026: 29 Mar and 25 Oct, 8 Mar and 1 Nov, 5 Apr and 4 Oct.
        (zone, month_of_year, day_of_month) in prop::sample::select(vec![
            ("UTC", 2, 28), ("Europe/Berlin", 3, 28), ("Europe/Berlin", 10, 24), ("America/New_York", 3, 7),
            ("America/New_York", 10, 31), ("Australia/Lord_Howe", 4, 4), ("Australia/Lord_Howe", 10, 3),
        ]),
        start in 0i64..2 * 86_400,
    ) {
        let cron = format!("{minute} {hour} {day} * {weekday}");
        let schedule = Schedule::parse(&cron, zone).unwrap();
        let clock = tz::TimeZone::get(zone).unwrap();
        let midnight = jiff::civil::date(2026, month_of_year, day_of_month).to_zoned(clock.clone()).unwrap().timestamp();
        let after = Instant::from_second(midnight.as_second() + start).unwrap();

        let reads = |civil: DateTime| {
            let on_day = days.contains(&(civil.day() as u8));
            let sunday_zero = civil.weekday().to_sunday_zero_offset() as u8;
            let on_weekday = weekdays.contains(&sunday_zero) || (sunday_zero == 0 && weekdays.contains(&7));
            let date = if day.starts_with('*') || weekday.starts_with('*') { on_day && on_weekday } else { on_day || on_weekday };
            date && hours.contains(&(civil.hour() as u8)) && minutes.contains(&(civil.minute() as u8))
        };
        let every_hour = (0..24).all(|hour| hours.contains(&hour));
        let falls_due = |instant: Instant| {
            let civil = clock.to_datetime(instant);
            let before = clock.to_offset(Instant::from_second(instant.as_second() - 1).unwrap());
            let jump = clock.to_offset(instant).seconds() - before.seconds();
            let skipped = (0..jump / 60).map(|minute| civil.saturating_sub(SignedDuration::from_mins(i64::from(minute) + 1)));
            let second_time = || (1..=120).any(|minute| {
                clock.to_datetime(Instant::from_second(instant.as_second() - minute * 60).unwrap()) == civil
            });
            (reads(civil) && (every_hour || !second_time())) || skipped.into_iter().any(reads)
        };
        let first = after.as_second().div_euclid(60) + 1;
        let found = (first..first + 2 * 1_440).map(|minute| Instant::from_second(minute * 60).unwrap()).find(|&i| falls_due(i));

        let next = schedule.next_after(Timestamp::from_millis(after.as_millisecond() as u64).unwrap()).unwrap();
        let next = Instant::from_millisecond(next.as_millis() as i64).unwrap();
        match found {
            Some(found) => prop_assert_eq!(next, found, "{} after {}", cron, after),
            None => prop_assert!(next.as_second() >= (first + 2 * 1_440) * 60, "{} after {}: {}", cron, after, next),
        }
    }
}

#[test]
fn the_last_time_up_to_a_moment_includes_the_moment() {
    for (cron, until, expected) in [
        ("0 3 * * *", "2026-11-16T02:59:59.999Z", Some("2026-11-15T03:00:00Z")),
        ("0 3 * * *", "2026-11-16T03:00:00Z", Some("2026-11-16T03:00:00Z")),
        ("0 0 29 2 *", "2026-11-16T00:00:00Z", Some("2024-02-29T00:00:00Z")),
        ("0 0 29 2 *", "2103-01-01T00:00:00Z", Some("2096-02-29T00:00:00Z")),
        ("0 0 29 2 *", "1971-01-01T00:00:00Z", None),
    ] {
        let schedule = Schedule::parse(cron, "UTC").unwrap();
        assert_eq!(schedule.last_until(at(until)), expected.map(at), "{cron} {until}");
    }
}

proptest! {
    #[test]
    fn nothing_lies_between_the_last_time_and_the_next(
        cron in prop::sample::select(vec![
            "* * * * *", "*/25 * * * *", "30 2 * * *", "15 1,2,3 * * *", "0 9 * * mon-fri", "0 0 1 1 *", "0 12 31 * *",
        ]),
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
        // Half of them around a change of the clocks.
        until in prop_oneof![1_000_000_000_000u64..4_000_000_000_000, 1_792_879_200_000u64..1_792_900_000_000],
    ) {
        let schedule = Schedule::parse(cron, zone).unwrap();
        let until = Timestamp::from_millis(until).unwrap();
        let last = schedule.last_until(until).unwrap();
        prop_assert!(last <= until);
        prop_assert!(schedule.next_after(last).unwrap() > until, "a later one has come");
        let before = Timestamp::from_millis(last.as_millis() - 1).unwrap();
        prop_assert_eq!(schedule.next_after(before), Some(last), "it is a time of the schedule");
    }
}

#[test]
fn a_period_may_be_shorter_than_a_minute() {
    let schedule = Schedule::every(std::time::Duration::from_secs(10)).unwrap();
    let (before, then) = (at("2026-11-15T23:59:50.001Z"), at("2026-11-16T00:00:00Z"));
    assert_eq!(schedule.next_after(before), Some(then));
    assert_eq!(schedule.last_until(before), Some(at("2026-11-15T23:59:50Z")));
    assert_eq!(
        (schedule.last_until(then), schedule.next_after(then)),
        (Some(then), Some(at("2026-11-16T00:00:10Z")))
    );
}
