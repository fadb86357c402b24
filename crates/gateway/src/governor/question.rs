//! Questions to people: asked where a verdict asks, found again when what they answered is tried again, used once.

use governance::approval::use_up;
use governance::policy::ApprovalTerms;
use governance::{Facts, Granted, PolicySet, decide};
use ledger::sha256;
use outbox::{News, notify};
use schema::{Approval, ApprovalId, ApprovalStatus, Digest, Effect, Timestamp, Verdict};
use serde_json::json;
use std::num::NonZeroU32;
use store::{
    Append, Commit, CommitError, NewJob, Record, RecordBody, RecordChange, RecordFilter, RecordKind,
};

use super::Asking;
use super::meters::later;
use super::policies::InForce;
use crate::app::App;
use crate::audit::Change;
use crate::error::{ApiError, unread, unrecorded};
use crate::identity::Caller;

/// How many approvals of the same are looked at: more than one is there only while people change their minds.
const SAME: NonZeroU32 = NonZeroU32::new(20).unwrap();

/// A question that a verdict puts.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) id: ApprovalId,
    /// What makes it, in the commit of the run that it is about; none, if it was put before.
    pub(crate) change: Option<RecordChange>,
    /// What tells others of it, in the same commit.
    pub(crate) jobs: Vec<NewJob>,
}

/// What an approval is found by: who wants to do what, exactly, and which rule asks. A word of the payload more, another
/// agent, another end user or another rule is another question.
pub(crate) fn binding(caller: &Caller, action: &str, payload: Digest, verdict: &Verdict) -> Digest {
    let Caller { app, agent, subject, key, .. } = caller;
    let bound = json!([action, payload, verdict.policy, verdict.rule, app, agent, subject, key]);
    sha256(bound.to_string().as_bytes())
}

impl App {
    /// The verdict after what people have approved: a question for each rule that asks, and all of them answered. The
    /// approvals are used up by it, together; where one is missing, none is.
    pub(super) async fn with_approvals(
        &self,
        caller: &Caller,
        asking: &Asking<'_>,
        policies: &InForce,
        facts: &mut Facts,
        asked: Verdict,
    ) -> Result<Verdict, ApiError> {
        let (mut verdict, mut found) = (asked.clone(), Vec::new());
        while verdict.effect == Effect::Ask {
            let Some((record, approval)) = self.approved(caller, asking, &verdict).await? else { break };
            facts.approvals.push(Granted {
                id: approval.id,
                policy: approval.policy.clone(),
                rule: approval.rule,
            });
            found.push((record, approval));
            verdict = decide(&policies.set, facts, &asking.action);
        }
        let named = asking.approval.filter(|_| asked.effect == Effect::Ask);
        if let Some(id) = named.filter(|id| found.iter().all(|(_, approval)| approval.id != *id)) {
            // Whoever names an approval means it: another question would only hide that it does not fit.
            return Err(ApiError::ApprovalUnfit { id, why: self.unfit(caller, id).await? });
        }
        if verdict.effect == Effect::Allow && self.use_all(caller, asking, &found).await? {
            return Ok(verdict);
        }
        facts.approvals.clear();
        // Of those that are there, one may be missing: that is what people are asked.
        Ok(if verdict.effect == Effect::Allow { asked } else { verdict })
    }

    /// An approval that stands for exactly this.
    async fn approved(
        &self,
        caller: &Caller,
        asking: &Asking<'_>,
        verdict: &Verdict,
    ) -> Result<Option<(Record, Approval)>, ApiError> {
        let payload = (asking.payload)();
        let key = binding(caller, asking.action.as_str(), payload, verdict);
        for record in self.approvals_for(caller, key, ApprovalStatus::Approved).await? {
            let approval: Approval = serde_json::from_value(record.body.clone()).map_err(unread)?;
            if use_up(&approval, (asking.action.as_str(), payload), asking.run, asking.now).is_ok() {
                return Ok(Some((record, approval)));
            }
        }
        Ok(None)
    }

    /// Why an approval that was named is none for this.
    async fn unfit(&self, caller: &Caller, id: ApprovalId) -> Result<String, ApiError> {
        let record =
            self.of(caller.tenant).record(RecordKind::Approval, &id.to_string()).await.map_err(unread)?;
        let Some(record) = record else { return Ok("there is no such approval".to_owned()) };
        Ok(match record.group.as_str() {
            "approved" => "it was given for another action, another payload or another caller".to_owned(),
            status => format!("it is {status}"),
        })
    }

    /// Uses approvals up, all of them or none. Of two who try at once, one succeeds.
    async fn use_all(
        &self,
        caller: &Caller,
        asking: &Asking<'_>,
        found: &[(Record, Approval)],
    ) -> Result<bool, ApiError> {
        let mut commit = Commit::default();
        for (record, approval) in found {
            let bound = (asking.action.as_str(), approval.payload_hash);
            let Ok(used) = use_up(approval, bound, asking.run, asking.now) else { return Ok(false) };
            let (append, change) =
                self.decided_on(caller, record, &used, "audit.approval_used", asking.now)?;
            commit.appends.push(append);
            commit.records.push(change);
        }
        if commit.records.is_empty() {
            return Ok(true);
        }
        match self.of(caller.tenant).commit(commit).await {
            Ok(()) => Ok(true),
            Err(CommitError::RecordMoved { .. }) => Ok(false),
            Err(error) => Err(unrecorded(error)),
        }
    }

    /// What becomes of an approval, and the record of who did it.
    pub(crate) fn decided_on(
        &self,
        caller: &Caller,
        before: &Record,
        after: &Approval,
        action: &'static str,
        at: Timestamp,
    ) -> Result<(Append, RecordChange), ApiError> {
        let details = json!({
            "status": after.status, "run": after.run_id, "action": after.action, "policy": after.policy,
            "rule": after.rule, "payloadHash": after.payload_hash, "votes": after.votes, "usedBy": after.used_by,
        });
        let change = Change { tenant: after.tenant, at, action, target: &after.id.to_string(), details };
        let change = change.record(self, caller)?;
        let to = Some(body_of(after, before.key));
        let (kind, id, expected) = (RecordKind::Approval, before.id.clone(), before.version);
        Ok((change, RecordChange { kind, id, expected, to }))
    }

    async fn approvals_for(
        &self,
        caller: &Caller,
        key: Digest,
        status: ApprovalStatus,
    ) -> Result<Vec<Record>, ApiError> {
        let group = Some(status.as_str().to_owned());
        let filter = RecordFilter { kind: RecordKind::Approval, group, key: Some(key) };
        self.of(caller.tenant).records(&filter, None, SAME).await.map_err(unread)
    }

    /// The question that a verdict puts: the one that was put before for exactly this, or a new one.
    pub(super) async fn question(
        &self,
        caller: &Caller,
        asking: &Asking<'_>,
        verdict: &Verdict,
        set: &PolicySet,
    ) -> Result<Question, ApiError> {
        let payload = (asking.payload)();
        let key = binding(caller, asking.action.as_str(), payload, verdict);
        let pending = self.approvals_for(caller, key, ApprovalStatus::Pending).await?;
        let standing = pending.iter().find(|record| record.due_at.is_none_or(|due| asking.now < due));
        if let Some(id) = standing.and_then(|record| record.id.parse().ok()) {
            return Ok(Question { id, change: None, jobs: Vec::new() });
        }
        let terms = verdict.rule.and_then(|rule| set.approval_terms(&verdict.policy, rule));
        let terms = terms.unwrap_or_default();
        let approval = asked(self, caller, asking, verdict, payload, &terms);
        let change = RecordChange {
            kind: RecordKind::Approval,
            id: approval.id.to_string(),
            expected: 0,
            to: Some(body_of(&approval, Some(key))),
        };
        let news = News::approval_created(&approval, asking.now);
        let webhooks = &self.decided(caller.tenant).await?.webhooks;
        let jobs = notify(webhooks, &news, || self.random_bytes());
        Ok(Question { id: approval.id, change: Some(change), jobs })
    }
}

fn asked(
    app: &App,
    caller: &Caller,
    asking: &Asking<'_>,
    verdict: &Verdict,
    payload_hash: Digest,
    terms: &ApprovalTerms,
) -> Approval {
    Approval {
        id: ApprovalId::new(asking.now.as_millis(), app.random_bytes()),
        tenant: caller.tenant,
        run_id: asking.run,
        action: asking.action.as_str().to_owned(),
        tool: asking.tool.map(str::to_owned),
        payload_hash,
        policy: verdict.policy.clone(),
        rule: verdict.rule,
        status: ApprovalStatus::Pending,
        needed: terms.needed,
        roles: terms.roles.clone(),
        votes: Vec::new(),
        requested_by: caller.actor(),
        app: caller.app.clone(),
        agent: caller.agent.clone(),
        requested_at: asking.now,
        expires_at: later(asking.now, u64::from(terms.expires_minutes) * 60_000),
        decided_at: None,
        used_by: None,
    }
}

/// An approval as it is kept. It is due when it ends by itself, as long as it can.
pub(crate) fn body_of(approval: &Approval, key: Option<Digest>) -> RecordBody {
    let open = matches!(approval.status, ApprovalStatus::Pending | ApprovalStatus::Approved);
    RecordBody {
        group: approval.status.as_str().to_owned(),
        key,
        body: json!(approval),
        created_at: approval.requested_at,
        due_at: open.then_some(approval.expires_at),
    }
}
