//! One more event of a run that is there: for everything that is said about a run after it began.

use ledger::{Event, Recorder};
use redaction::Lexicon;
use schema::{RunId, Seq, Subject, TenantId};
use serde_json::{Map, Value};
use store::{Append, Commit, CommitError, Settle};

use crate::app::App;
use crate::clock::now;
use crate::discretion::recordable;
use crate::error::{ApiError, unread, unrecorded};
use crate::run::absent;
use crate::strict;

/// How often an append is tried when others write to the same run.
const TRIES: u32 = 64;

/// An event to be: its type and its fields.
pub(crate) type Told = (String, Map<String, Value>);

/// Whether it takes the events that are there to say what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum History {
    Read,
    Unread,
}

/// Appends one event. Returns where it is.
pub(crate) async fn append(
    app: &App,
    tenant: TenantId,
    run: &str,
    told: Told,
) -> Result<(RunId, Seq), ApiError> {
    let tell = |_: &[Event]| Ok((vec![told.clone()], ()));
    let beside = Commit::default();
    append_after(app, tenant, run, History::Unread, &beside, tell).await.map(|(run, seq, ())| (run, seq))
}

/// Appends what `tell` makes of the events so far, in one commit with what is `beside`. Others may write at the same time: then it is asked again, about the run
/// as it is by then. Returns where the last of the events is.
pub(crate) async fn append_after<T>(
    app: &App,
    tenant: TenantId,
    run: &str,
    history: History,
    beside: &Commit,
    mut tell: impl FnMut(&[Event]) -> Result<(Vec<Told>, T), ApiError>,
) -> Result<(RunId, Seq, T), ApiError> {
    let run: RunId = run.parse().map_err(|_| ApiError::NoSuchRun)?;
    let store = app.of(tenant);
    for _ in 0..TRIES {
        let Some(row) = store.run(run).await.map_err(unread)? else { return Err(absent(&*store, run).await) };
        let mut before = Vec::new();
        if history == History::Read {
            before = events(app, tenant, run).await?;
            before.retain(|event| event.seq <= row.seq);
        }
        let (events, told) = tell(&before)?;
        let mut recorder = Recorder::resume(tenant, run, row.seq, row.head);
        for (r#type, fields) in events {
            recorder
                .append(now(), &r#type, fields_of(fields, app, tenant), salts(app))
                .map_err(unrecorded)?;
        }
        let events = recorder.end();
        let (seq, _) = events.end();
        // What comes after the end is bound by a leaf of its own.
        let settle = if row.finished { Settle::Leaf } else { Settle::Open };
        // What is said about a run is about whom the run is about.
        let subject = row.fields.get("subject").and_then(Value::as_str).map(str::to_owned);
        let subject = subject.and_then(|name| Subject::try_from(name).ok());
        let append = Append { events, settle, subject };
        match store.commit(Commit { appends: vec![append], ..beside.clone() }).await {
            Ok(()) => return Ok((run, seq, told)),
            Err(CommitError::Moved { .. }) => {}
            Err(CommitError::RecordMoved { .. }) => return Err(ApiError::Changed { what: "approval" }),
            Err(error) => return Err(unrecorded(error)),
        }
    }
    Err(ApiError::Busy { run })
}

/// The events of a run, all of them.
pub(crate) async fn events(app: &App, tenant: TenantId, run: RunId) -> Result<Vec<Event>, ApiError> {
    app.of(tenant).events(run, Seq::START, std::num::NonZeroU32::MAX).await.map_err(unread)
}

/// Fields as they may be recorded in a tenant's ledger.
pub(crate) fn fields_of(fields: Map<String, Value>, app: &App, tenant: TenantId) -> Vec<(String, Value)> {
    let (discretion, mut lexicon) = (app.house.of(tenant), Lexicon::default());
    recordable(fields, &discretion, &mut lexicon).into_iter().collect()
}

/// The members of an object.
pub(crate) fn members(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

/// Salts, one at a time.
pub(crate) fn salts(app: &App) -> impl FnMut() -> ledger::Salt {
    || app.salts(1).pop().unwrap_or(ledger::Salt::from_bytes([0; 16]))
}

/// Fields of callers that a run can have: each with a name.
pub(crate) fn check_names(fields: &Map<String, Value>, param: &str) -> Result<(), ApiError> {
    if fields.contains_key("") {
        let message = format!("{param}: a field has no name");
        return Err(ApiError::Malformed { param: param.to_owned(), message });
    }
    Ok(())
}

/// The payload of an event as a type of ours.
pub(crate) fn payload<T: serde::de::DeserializeOwned>(fields: Map<String, Value>) -> Result<T, ApiError> {
    strict::from_value(Value::Object(fields)).map_err(|error| match error {
        ApiError::Malformed { param, message } if !param.is_empty() => {
            ApiError::Malformed { param: format!("payload.{param}"), message: format!("payload.{message}") }
        }
        other => other,
    })
}
