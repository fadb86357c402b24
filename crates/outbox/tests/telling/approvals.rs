//! Approvals whose time is over.

use std::sync::Arc;

use jobs::Handler as _;
use outbox::ApprovalSweep;
use schema::{Approval, ApprovalId, ApprovalStatus, Digest, RunId, Seq};
use serde_json::{Value, json};
use store::conformance::limit;
use store::{Commit, CommitError, Record, RecordBody, RecordChange, RecordKind, RunFilter};
use tokio::sync::Barrier;

use crate::world::{NOW, World, at, clock, handled, on_every_store, tenant};

fn approval(number: u8, status: ApprovalStatus, expires: u64) -> Approval {
    Approval {
        id: ApprovalId::from_bytes([number; 16]),
        tenant: tenant(1),
        run_id: RunId::from_bytes([number; 16]),
        action: "write:payment".into(),
        tool: None,
        payload_hash: Digest::from_bytes([7; 32]),
        policy: "office".into(),
        rule: Some(1),
        status,
        needed: 1,
        roles: Vec::new(),
        votes: Vec::new(),
        requested_by: "key_asker".into(),
        app: "desk".into(),
        agent: "ada".into(),
        requested_at: at(NOW - 60_000),
        expires_at: at(expires),
        decided_at: None,
        used_by: None,
    }
}

fn change(approval: &Approval, expected: u64, body: Value) -> RecordChange {
    let open = matches!(approval.status, ApprovalStatus::Pending | ApprovalStatus::Approved);
    let to = RecordBody {
        group: approval.status.as_str().to_owned(),
        key: Some(Digest::from_bytes([3; 32])),
        body,
        created_at: approval.requested_at,
        due_at: open.then_some(approval.expires_at),
    };
    RecordChange { kind: RecordKind::Approval, id: approval.id.to_string(), expected, to: Some(to) }
}

async fn write(world: &World, change: RecordChange) -> Result<(), CommitError> {
    world.tenant(1).commit(Commit { records: vec![change], ..Commit::default() }).await
}

async fn ask(world: &World, approval: &Approval) {
    write(world, change(approval, 0, json!(approval))).await.unwrap();
}

async fn record(world: &World, number: u8) -> Record {
    let id = ApprovalId::from_bytes([number; 16]).to_string();
    world.tenant(1).record(RecordKind::Approval, &id).await.unwrap().unwrap()
}

async fn sweep(world: &World) {
    let sweep = ApprovalSweep::new(world.store.clone(), clock);
    assert_eq!(sweep.kind(), "approval_sweep");
    handled(&sweep, Value::Null).await.unwrap();
}

/// What the audit runs of the tenant say, oldest first.
async fn audited(world: &World) -> Vec<Value> {
    let rows = world.tenant(1).runs(&RunFilter::ALL, None, limit(999)).await.unwrap();
    let mut said = Vec::new();
    for row in rows.iter().rev() {
        assert_eq!(row.fields["kind"], "audit");
        let events = world.tenant(1).events(row.id, Seq::START, limit(9)).await.unwrap();
        assert_eq!(events[1].r#type, "audit.approval_expired");
        let field = |name: &str| events[1].payload[name].value().cloned().unwrap();
        said.push(json!([field("target"), field("was"), field("status"), field("actor")]));
    }
    said
}

on_every_store! {
    what_nobody_answered_or_used_in_time_ends_on_record_and_is_told
    an_approval_that_cannot_be_read_keeps_no_other_from_ending
    a_decision_in_that_moment_wins_or_loses_whole
}

async fn what_nobody_answered_or_used_in_time_ends_on_record_and_is_told(world: World) {
    world.webhook(7, "https://desk.example.org").await;
    ask(&world, &approval(1, ApprovalStatus::Pending, NOW)).await;
    ask(&world, &approval(2, ApprovalStatus::Approved, NOW - 1)).await;
    ask(&world, &approval(3, ApprovalStatus::Pending, NOW + 1)).await;
    ask(&world, &approval(4, ApprovalStatus::Used, NOW - 1)).await;
    sweep(&world).await;
    for (number, status) in [(1, "expired"), (2, "expired"), (3, "pending"), (4, "used")] {
        let record = record(&world, number).await;
        assert_eq!((record.group.as_str(), &record.body["status"]), (status, &json!(status)), "{number}");
        assert_eq!(record.key, Some(Digest::from_bytes([3; 32])));
        assert_eq!(record.due_at.is_some(), status == "pending");
    }
    let id = |number: u8| ApprovalId::from_bytes([number; 16]);
    let mut said = audited(&world).await;
    said.sort_by_key(ToString::to_string);
    assert_eq!(
        said,
        [json!([id(1), "pending", "expired", "punk"]), json!([id(2), "approved", "expired", "punk"])]
    );
    let jobs = world.waiting(tenant(1)).await;
    let mut told: Vec<_> = jobs.iter().map(|job| &job.payload["body"]).collect();
    told.sort_by_key(ToString::to_string);
    assert!(jobs.iter().all(|job| job.kind == "webhook_notification"));
    let about = |body: &Value| (body["event"].clone(), body["data"]["approval"]["status"].clone());
    let expired = (json!("approval.decided"), json!("expired"));
    assert_eq!(told.into_iter().map(about).collect::<Vec<_>>(), [expired.clone(), expired]);
    // Once, however often it is looked at.
    sweep(&world).await;
    assert_eq!((audited(&world).await.len(), world.waiting(tenant(1)).await.len()), (2, 2));
    store::audit(&*world.tenant(1), tenant(1)).await.unwrap();
}

async fn an_approval_that_cannot_be_read_keeps_no_other_from_ending(world: World) {
    // More than a page, the longest due first.
    for number in 0..120 {
        let broken = approval(number, ApprovalStatus::Pending, NOW - 1000);
        let body = if number < 10 { json!({ "no": "approval" }) } else { json!(broken) };
        write(&world, change(&broken, 0, body)).await.unwrap();
    }
    sweep(&world).await;
    assert_eq!(audited(&world).await.len(), 110);
    assert_eq!(record(&world, 3).await.group, "pending");
    assert_eq!(record(&world, 119).await.group, "expired");
}

async fn a_decision_in_that_moment_wins_or_loses_whole(world: World) {
    const MANY: u8 = 40;
    world.webhook(7, "https://desk.example.org").await;
    for number in 0..MANY {
        ask(&world, &approval(number, ApprovalStatus::Pending, NOW)).await;
    }
    let world = Arc::new(world);
    let together = Arc::new(Barrier::new(2));
    let (deciding, barrier) = (world.clone(), together.clone());
    let decider = tokio::spawn(async move {
        barrier.wait().await;
        let mut won = Vec::new();
        // From the other end, so that they meet.
        for number in (0..MANY).rev() {
            let rejected = approval(number, ApprovalStatus::Rejected, NOW);
            match write(&deciding, change(&rejected, 1, json!(rejected))).await {
                Ok(()) => won.push(number),
                Err(CommitError::RecordMoved { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        won
    });
    together.wait().await;
    sweep(&world).await;
    let won = decider.await.unwrap();
    for number in 0..MANY {
        let status = if won.contains(&number) { "rejected" } else { "expired" };
        let record = record(&world, number).await;
        assert_eq!((record.group.as_str(), record.version), (status, 2), "{number}");
    }
    let expired = usize::from(MANY) - won.len();
    assert_eq!(audited(&world).await.len(), expired);
    assert_eq!(world.waiting(tenant(1)).await.len(), expired);
}
