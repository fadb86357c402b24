//! What can become of a question to people. Pure: the store sees to it that only one of two who act at once succeeds.

use schema::{Approval, ApprovalStatus, Decision, Digest, RunId, Timestamp, Vote};

/// Somebody who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voter {
    /// Who: a key id, or `installation`.
    pub by: String,
    /// As what.
    pub role: String,
    /// Whether a person holds that key. Machines answer nothing.
    pub is_person: bool,
    /// Whether nobody can be told from anybody else here, so that who asked may well be somebody else.
    pub is_anybody: bool,
}

/// Why an answer does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VoteRefused {
    /// It was decided before, or came too late.
    #[error("it is {} already", .0.as_str())]
    Decided(ApprovalStatus),
    /// Whoever asks cannot answer.
    #[error("whoever asked for it cannot approve it")]
    OwnRequest,
    /// A machine answered.
    #[error("this key is not one that a person approves with")]
    NotAPerson,
    /// The rule wants others.
    #[error("it takes one of the roles {0}")]
    Role(String),
    /// They have answered before.
    #[error("this person has answered already")]
    Twice,
    /// A no without a why.
    #[error("a rejection wants a reason")]
    NoReason,
}

/// The approval after somebody's answer.
///
/// # Errors
/// The answer does not count, and nothing changes.
pub fn vote(
    approval: &Approval,
    voter: &Voter,
    decision: Decision,
    reason: Option<&str>,
    now: Timestamp,
) -> Result<Approval, VoteRefused> {
    let current = lapse(approval, now);
    let approval = current.as_ref().unwrap_or(approval);
    if approval.status != ApprovalStatus::Pending {
        return Err(VoteRefused::Decided(approval.status));
    }
    if !voter.is_person {
        return Err(VoteRefused::NotAPerson);
    }
    if approval.requested_by == voter.by && !voter.is_anybody && decision == Decision::Approve {
        return Err(VoteRefused::OwnRequest);
    }
    if !approval.roles.is_empty() && !approval.roles.contains(&voter.role) {
        return Err(VoteRefused::Role(approval.roles.join(", ")));
    }
    if approval.votes.iter().any(|vote| vote.by == voter.by) {
        return Err(VoteRefused::Twice);
    }
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty()).map(str::to_owned);
    if decision == Decision::Reject && reason.is_none() {
        return Err(VoteRefused::NoReason);
    }
    let mut approval = approval.clone();
    approval.votes.push(Vote { by: voter.by.clone(), role: voter.role.clone(), decision, reason, at: now });
    let yes = approval.votes.iter().filter(|vote| vote.decision == Decision::Approve).count();
    approval.status = match decision {
        Decision::Reject => ApprovalStatus::Rejected,
        Decision::Approve if yes >= approval.needed as usize => ApprovalStatus::Approved,
        Decision::Approve => ApprovalStatus::Pending,
    };
    if approval.status != ApprovalStatus::Pending {
        approval.decided_at = Some(now);
    }
    Ok(approval)
}

/// Why an approval cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UseRefused {
    /// It is not one that says yes.
    #[error("it is {}", .0.as_str())]
    Not(ApprovalStatus),
    /// It is for something else.
    #[error("it was given for another action or another payload")]
    Other,
}

/// The approval after it is used for an action with this payload.
///
/// # Errors
/// It does not say yes to exactly that, and nothing changes.
pub fn use_up(
    approval: &Approval,
    (action, payload_hash): (&str, Digest),
    run: RunId,
    now: Timestamp,
) -> Result<Approval, UseRefused> {
    if approval.action != action || approval.payload_hash != payload_hash {
        return Err(UseRefused::Other);
    }
    let lapsed = lapse(approval, now);
    let approval = lapsed.as_ref().unwrap_or(approval);
    if approval.status != ApprovalStatus::Approved {
        return Err(UseRefused::Not(approval.status));
    }
    Ok(Approval { status: ApprovalStatus::Used, used_by: Some(run), ..approval.clone() })
}

/// The approval after its time, if that has come: what nobody answered is rejected by it, what nobody used is void.
#[must_use]
pub fn lapse(approval: &Approval, now: Timestamp) -> Option<Approval> {
    let open = matches!(approval.status, ApprovalStatus::Pending | ApprovalStatus::Approved);
    (open && now >= approval.expires_at).then(|| Approval {
        status: ApprovalStatus::Expired,
        decided_at: approval.decided_at.or(Some(approval.expires_at)),
        ..approval.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use schema::{ApprovalId, TenantId};

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(millis).unwrap()
    }

    fn asked(needed: u32, roles: &[&str]) -> Approval {
        Approval {
            id: ApprovalId::NIL,
            tenant: TenantId::NIL,
            run_id: RunId::NIL,
            action: "write:payment".into(),
            tool: None,
            payload_hash: Digest::from_bytes([7; 32]),
            policy: "office".into(),
            rule: Some(1),
            status: ApprovalStatus::Pending,
            needed,
            roles: roles.iter().map(ToString::to_string).collect(),
            votes: Vec::new(),
            requested_by: "key_asker".into(),
            app: "desk".into(),
            agent: "ada".into(),
            requested_at: at(0),
            expires_at: at(1000),
            decided_at: None,
            used_by: None,
        }
    }

    fn person(by: &str) -> Voter {
        Voter { by: by.into(), role: "reviewer".into(), is_person: true, is_anybody: false }
    }

    #[test]
    fn enough_people_say_yes_and_one_no_is_enough() {
        let once = vote(&asked(2, &[]), &person("a"), Decision::Approve, None, at(1)).unwrap();
        assert_eq!(once.status, ApprovalStatus::Pending);
        assert_eq!(vote(&once, &person("a"), Decision::Approve, None, at(2)), Err(VoteRefused::Twice));
        let twice = vote(&once, &person("b"), Decision::Approve, None, at(2)).unwrap();
        assert_eq!((twice.status, twice.decided_at), (ApprovalStatus::Approved, Some(at(2))));
        let no = vote(&once, &person("b"), Decision::Reject, Some("too much"), at(2)).unwrap();
        assert_eq!(no.status, ApprovalStatus::Rejected);
    }

    #[test]
    fn whoever_may_not_answer_changes_nothing() {
        let machine = Voter { is_person: false, ..person("m") };
        let anybody = Voter { is_anybody: true, ..person("key_asker") };
        let say = |voter: &Voter, decision, reason, now| {
            vote(&asked(1, &["reviewer"]), voter, decision, reason, at(now)).map(|approval| approval.status)
        };
        assert_eq!(say(&person("key_asker"), Decision::Approve, None, 1), Err(VoteRefused::OwnRequest));
        assert_eq!(say(&anybody, Decision::Approve, None, 1), Ok(ApprovalStatus::Approved));
        assert_eq!(say(&machine, Decision::Approve, None, 1), Err(VoteRefused::NotAPerson));
        assert_eq!(say(&person("a"), Decision::Reject, Some("  "), 1), Err(VoteRefused::NoReason));
        let late = Err(VoteRefused::Decided(ApprovalStatus::Expired));
        assert_eq!(say(&person("a"), Decision::Approve, None, 1000), late);
        let viewer = Voter { role: "viewer".into(), ..person("a") };
        assert_eq!(say(&viewer, Decision::Approve, None, 1), Err(VoteRefused::Role("reviewer".into())));
    }

    #[test]
    fn an_approval_is_used_once_in_time_and_for_what_it_was_given() {
        let yes = vote(&asked(1, &[]), &person("a"), Decision::Approve, None, at(1)).unwrap();
        let same = ("write:payment", yes.payload_hash);
        let used = use_up(&yes, same, RunId::NIL, at(2)).unwrap();
        assert_eq!(use_up(&used, same, RunId::NIL, at(3)), Err(UseRefused::Not(ApprovalStatus::Used)));
        let changed = ("write:payment", Digest::from_bytes([8; 32]));
        assert_eq!(use_up(&yes, changed, RunId::NIL, at(2)), Err(UseRefused::Other));
        assert_eq!(use_up(&yes, ("read:x", yes.payload_hash), RunId::NIL, at(2)), Err(UseRefused::Other));
        assert_eq!(use_up(&yes, same, RunId::NIL, at(1000)), Err(UseRefused::Not(ApprovalStatus::Expired)));
        assert_eq!(
            use_up(&asked(1, &[]), same, RunId::NIL, at(2)),
            Err(UseRefused::Not(ApprovalStatus::Pending))
        );
    }

    proptest! {
        #[test]
        fn nothing_that_people_do_approves_without_enough_of_them_in_time(
            needed in 1u32..4,
            votes in proptest::collection::vec((0u8..5, any::<bool>(), 0u64..1500), 0..8),
        ) {
            let mut approval = asked(needed, &[]);
            for (who, yes, when) in votes {
                let voter = if who == 0 { person("key_asker") } else { person(&who.to_string()) };
                let decision = if yes { Decision::Approve } else { Decision::Reject };
                if let Ok(next) = vote(&approval, &voter, decision, Some("why"), at(when)) {
                    prop_assert!(when < 1000, "after the end nothing counts");
                    approval = next;
                }
            }
            if approval.status == ApprovalStatus::Approved {
                let mut people: Vec<_> = approval.votes.iter().map(|vote| vote.by.clone()).collect();
                people.sort();
                people.dedup();
                prop_assert!(people.len() >= needed as usize);
                prop_assert!(!people.contains(&"key_asker".to_owned()));
            }
        }
    }
}
