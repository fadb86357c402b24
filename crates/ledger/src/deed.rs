//! A deed: something that was done by Punk itself or to the ledger, as a run of its own.
//!
//! Nobody called a model, and yet it has to be known who did what: a person was forgotten, an approval ended. Such a run is
//! of the kind `audit`, is begun and finished at once, and costs nothing.

use schema::{RunId, RunKind, RunStatus, TenantId, Timestamp};
use serde_json::{Map, Value, json};

use crate::canonical::CanonicalError;
use crate::field::Salt;
use crate::recorded::{Recorded, Recorder};

/// What was done, and through whom.
#[derive(Debug, Clone)]
pub struct Deed<'a> {
    /// The app it came through.
    pub app: &'a str,
    /// The agent, or the part of Punk, that did it.
    pub agent: &'a str,
    /// The type of the event that says so, such as `audit.subject_erased`.
    pub r#type: &'a str,
    /// What there is to say of it.
    pub fields: Map<String, Value>,
}

impl Deed<'_> {
    /// The whole of the run: begun, what was done, finished.
    ///
    /// # Errors
    /// A field has no canonical form.
    pub fn record(
        self,
        tenant: TenantId,
        run: RunId,
        at: Timestamp,
        mut salt: impl FnMut() -> Salt,
    ) -> Result<Recorded, CanonicalError> {
        let started = json!({
            "kind": RunKind::Audit, "app": self.app, "agent": self.agent, "subject": null, "model": null,
        });
        let finished = json!({
            "status": RunStatus::Completed, "costMicroUsd": 0, "savedMicroUsd": 0,
            "inputTokens": 0, "outputTokens": 0, "latencyMs": 0,
        });
        let members = |value| if let Value::Object(members) = value { members } else { Map::new() };
        let mut recorder = Recorder::new(tenant, run);
        recorder.append(at, "run.started", members(started), &mut salt)?;
        recorder.append(at, self.r#type, self.fields, &mut salt)?;
        recorder.append(at, "run.finished", members(finished), &mut salt)?;
        Ok(recorder.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deed_is_a_run_that_began_and_ended_with_it() {
        let fields = Map::from_iter([("target".to_owned(), json!("apr_1"))]);
        let deed = Deed { app: "punk", agent: "sweep", r#type: "audit.approval_expired", fields };
        let (run, at) = (RunId::from_bytes([1; 16]), Timestamp::from_millis(7).unwrap());
        let recorded = deed.record(TenantId::NIL, run, at, || Salt::from_bytes([7; 16])).unwrap();
        let types: Vec<&str> = recorded.iter().map(|event| event.r#type.as_str()).collect();
        assert_eq!(types, ["run.started", "audit.approval_expired", "run.finished"]);
        assert_eq!(recorded[0].payload["kind"].value(), Some(&json!("audit")));
        assert_eq!(recorded[1].payload["target"].value(), Some(&json!("apr_1")));
        assert!(recorded.iter().all(|event| event.at == at));
    }
}
