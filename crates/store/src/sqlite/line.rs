//! The row of a run as the table has it: what is in no column of its own, in a few bytes, with a checksum over all of it.
//!
//! It is a JSON array: when the run began, when its last event was recorded, whether it has ended, and then the place of each
//! field that it keeps, and the field. A row from before that is the whole [`RunRow`] as an object, and reads the same.

use rusqlite::Row;
use schema::{Digest, RunId, Seq, SubjectId, TenantId, Timestamp};
use serde::de::{self, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::row::Sql;
use super::sum::{with_sum, without_sum};
use crate::error::BoxError;
use crate::run::{FieldsOf, KEPT, Outline, RunFields, RunRow, SUBJECT, place};

/// A row of the table.
pub(super) struct Line {
    pub(super) run: RunId,
    pub(super) seq: Seq,
    pub(super) head: Digest,
    pub(super) subject: Option<SubjectId>,
    pub(super) text: String,
}

impl Line {
    /// Of a run as its first events show it.
    pub(super) fn of(
        tenant: TenantId,
        run: RunId,
        outline: &Outline<'_>,
        subject: Option<SubjectId>,
    ) -> Self {
        let Outline { seq, head, started_at, updated_at, finished, .. } = *outline;
        Self::new(tenant, run, (seq, head), (started_at, updated_at, finished), *outline.fields(), subject)
    }

    /// Of a run whose row is this.
    pub(super) fn of_row(tenant: TenantId, row: &RunRow, subject: Option<SubjectId>) -> Self {
        let RunRow { id, seq, head, started_at, updated_at, finished, fields } = row;
        let times = (*started_at, *updated_at, *finished);
        Self::new(tenant, *id, (*seq, *head), times, fields.by_place(), subject)
    }

    fn new(
        tenant: TenantId,
        run: RunId,
        (seq, head): (Seq, Digest),
        (started_at, updated_at, finished): (Timestamp, Timestamp, bool),
        mut fields: FieldsOf<'_>,
        subject: Option<SubjectId>,
    ) -> Self {
        // The name of a subject that has a key is not in it: it is kept once, with the key.
        if let (Some(_), Some(at)) = (subject, place(SUBJECT)) {
            fields[at] = None;
        }
        let mut text = Vec::with_capacity(512);
        text.push(b'[');
        number(&mut text, started_at.as_millis());
        text.push(b',');
        number(&mut text, updated_at.as_millis());
        text.extend_from_slice(if finished { b",1" } else { b",0" });
        for (at, value) in fields.iter().enumerate() {
            let Some(value) = value else { continue };
            text.push(b',');
            number(&mut text, at as u64);
            text.push(b',');
            // It is JSON already; writing it out cannot fail.
            let _ = serde_json::to_writer(&mut text, value);
        }
        text.push(b']');
        let text = String::from_utf8(text).unwrap_or_default();
        let text = with_sum(&about(&tenant, subject.as_ref(), &place_of(run, seq, head)), text);
        Self { run, seq, head, subject, text }
    }
}

/// The digits of a number.
fn number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut from = digits.len();
    loop {
        from -= 1;
        digits[from] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[from..]);
}

/// What is in other columns, and covered by the checksum all the same.
fn place_of(run: RunId, seq: Seq, head: Digest) -> [u8; 56] {
    let mut place = [0; 56];
    place[..16].copy_from_slice(run.as_bytes());
    place[16..24].copy_from_slice(&seq.0.to_le_bytes());
    place[24..].copy_from_slice(head.as_bytes());
    place
}

/// What a row belongs to, and what its checksum covers with it.
fn about<'a>(tenant: &'a TenantId, subject: Option<&'a SubjectId>, place: &'a [u8]) -> [&'a [u8]; 3] {
    [tenant.as_bytes(), subject.map_or(&[], |subject| subject.as_bytes()), place]
}

/// The row and whom it is about, of the columns `row`, `run`, `seq`, `head` and `subject`, if it is as it was written and where
/// it was written.
pub(super) fn kept(tenant: TenantId, row: &Row<'_>) -> rusqlite::Result<(RunRow, Option<SubjectId>)> {
    let (Sql(run), Sql(seq), Sql(head)) = (row.get(1)?, row.get(2)?, row.get(3)?);
    let subject: Option<Sql<SubjectId>> = row.get(4)?;
    let subject = subject.map(|Sql(id)| id);
    let text = row.get_ref(0)?.as_str()?;
    let changed = || damaged(format!("the row of run {run} is not as it was written").into());
    if text.starts_with('[') {
        let place = place_of(run, seq, head);
        let text = without_sum(&about(&tenant, subject.as_ref(), &place), text).ok_or_else(changed)?;
        let Rest { started_at, updated_at, finished, fields } =
            serde_json::from_str(text).map_err(|error| damaged(error.into()))?;
        return Ok((RunRow { id: run, seq, head, started_at, updated_at, finished, fields }, subject));
    }
    let about = about(&tenant, subject.as_ref(), &[]);
    let text = without_sum(&about[..2], text).ok_or_else(changed)?;
    let found: RunRow = serde_json::from_str(text).map_err(|error| damaged(error.into()))?;
    if (found.id, found.seq, found.head) != (run, seq, head) {
        return Err(damaged(format!("the row of run {run} is in the wrong place").into()));
    }
    Ok((found, subject))
}

pub(super) fn damaged(error: BoxError) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error)
}

/// What the text says.
struct Rest {
    started_at: Timestamp,
    updated_at: Timestamp,
    finished: bool,
    fields: RunFields,
}

impl<'de> Deserialize<'de> for Rest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items;
        impl<'de> Visitor<'de> for Items {
            type Value = Rest;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("the row of a run")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Rest, A::Error> {
                let mut next =
                    |at| items.next_element::<u64>()?.ok_or_else(|| de::Error::invalid_length(at, &self));
                let time = |millis| Timestamp::from_millis(millis).map_err(de::Error::custom);
                let (started_at, updated_at, finished) = (time(next(0)?)?, time(next(1)?)?, next(2)? != 0);
                let mut fields = RunFields::default();
                while let Some(place) = items.next_element::<usize>()? {
                    let value = if place < KEPT.len() {
                        items.next_element()?.map(|value| fields.put(place, value))
                    } else {
                        // Of a release that keeps more.
                        items.next_element::<IgnoredAny>()?.map(drop)
                    };
                    value.ok_or_else(|| de::Error::custom("a place without a field"))?;
                }
                Ok(Rest { started_at, updated_at, finished, fields })
            }
        }
        deserializer.deserialize_seq(Items)
    }
}

#[cfg(test)]
mod tests {
    use ledger::{Recorder, Salt};
    use proptest::prelude::*;
    use rusqlite::Connection;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::filter::Traits;
    use crate::sums::Sums;

    const RUN: RunId = RunId::NIL;

    /// Reads a line as a reader of the table does.
    fn read(line: &Line) -> rusqlite::Result<(RunRow, Option<SubjectId>)> {
        let Line { run, seq, head, subject, text } = line;
        let values = rusqlite::params![text, Sql(*run), Sql(*seq), Sql(*head), subject.map(Sql)];
        let connection = Connection::open_in_memory()?;
        connection.query_row("SELECT ?, ?, ?, ?, ?", values, |row| kept(TenantId::NIL, row))
    }

    fn line(subject: Option<SubjectId>) -> (RunRow, Line) {
        let mut recorder = Recorder::new(TenantId::NIL, RUN);
        let fields = [("model", json!("small \"é\"")), ("subject", json!("ada")), ("stream", json!(false))];
        recorder.append(Timestamp::EPOCH, "run.started", fields, || Salt::from_bytes([7; 16])).unwrap();
        let row = RunRow::fold_all(None, RUN, &recorder.end()).unwrap();
        let line = Line::of_row(TenantId::NIL, &row, subject);
        (row.at_rest(subject), line)
    }

    #[test]
    fn a_line_reads_back_as_its_row_and_so_does_one_from_before() {
        for subject in [None, Some(SubjectId::from_bytes([3; 16]))] {
            let (row, line) = line(subject);
            assert_eq!(read(&line).unwrap(), (row.clone(), subject));
            assert_eq!(line.text.contains("ada"), subject.is_none());
            let about = about(&TenantId::NIL, subject.as_ref(), &[]);
            let text = with_sum(&about[..2], serde_json::to_string(&row).unwrap());
            assert_eq!(read(&Line { text, ..line }).unwrap(), (row, subject));
        }
    }

    #[test]
    fn a_change_to_any_column_is_noticed() {
        let (row, mut line) = line(None);
        for place in 0..line.text.len() {
            for bit in 0..7 {
                let mut changed = line.text.clone().into_bytes();
                changed[place] ^= 1 << bit;
                let text = String::from_utf8(changed).unwrap_or_default();
                let before = std::mem::replace(&mut line.text, text);
                // A digit of the checksum in capitals is the same checksum.
                assert!(read(&line).map_or(true, |(found, _)| found == row), "{}", line.text);
                line.text = before;
            }
        }
        assert!(read(&Line { seq: line.seq.next(), text: line.text.clone(), ..line }).is_err());
        assert!(read(&Line { head: Digest::ZERO, text: line.text.clone(), ..line }).is_err());
        assert!(read(&Line { run: RunId::from_bytes([7; 16]), text: line.text.clone(), ..line }).is_err());
        assert!(read(&Line { subject: Some(SubjectId::NIL), text: line.text.clone(), ..line }).is_err());
    }

    #[test]
    fn what_another_release_keeps_besides_is_passed_over_and_half_a_field_is_damage() {
        let (row, mut line) = line(None);
        let about = |line: &Line| place_of(line.run, line.seq, line.head);
        let (text, _) = line.text.rsplit_once(']').unwrap();
        let (more, half) = (format!("{text},99,{{}}]"), format!("{text},99]"));
        line.text = with_sum(&super::about(&TenantId::NIL, None, &about(&line)), more);
        assert_eq!(read(&line).unwrap().0, row);
        line.text = with_sum(&super::about(&TenantId::NIL, None, &about(&line)), half);
        assert!(read(&line).is_err());
    }

    fn any_event() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
        (0..7usize, prop::collection::vec((0..9usize, 0..6usize), 0..6))
    }

    proptest! {
        #[test]
        fn an_outline_comes_to_what_following_the_events_comes_to(
            told in prop::collection::vec(any_event(), 1..7),
        ) {
            const TYPES: [&str; 7] = ["run.started", "run.finished", "policy.decided", "side_effect.executed",
                "feedback.recorded", "model.completed", "run.finished"];
            const NAMES: [&str; 9] = ["kind", "agent", "model", "status", "costMicroUsd", "savedMs", "verdict", "rating", "x"];
            let values = [json!("a"), json!("audit"), json!(7), json!(null), json!({ "effect": "allow" }), json!(1.5)];
            let mut recorder = Recorder::new(TenantId::NIL, RUN);
            for (day, (r#type, fields)) in told.into_iter().enumerate() {
                let at = Timestamp::from_millis(day as u64 * 50_000_000).unwrap();
                let fields: Map<String, Value> = fields.into_iter()
                    .map(|(name, value)| (NAMES[name].to_owned(), values[value].clone())).collect();
                recorder.append(at, TYPES[r#type], fields, || Salt::from_bytes([7; 16])).unwrap();
            }
            let events = recorder.end();
            let mut wanted = Sums::default();
            let row = wanted.follow(None, RUN, &events).unwrap();
            let Some(mut outline) = Outline::of(&events) else {
                // Two agents did it.
                prop_assert!(wanted.conduct.len() > 1 || wanted.agents.keys().ne(wanted.conduct.keys().map(|(agent, _)| agent)));
                return Ok(());
            };
            let line = Line::of(TenantId::NIL, RUN, &outline, None);
            prop_assert_eq!(&line.text, &Line::of_row(TenantId::NIL, &row, None).text);
            prop_assert_eq!(&read(&line).unwrap().0, &row);
            prop_assert_eq!(outline.traits().owned(), Traits::of(&row));
            let likeness = super::super::likeness::Likeness::of(Traits::of(&row));
            prop_assert_eq!(likeness.sums(&outline.adds()), wanted);
        }
    }
}
