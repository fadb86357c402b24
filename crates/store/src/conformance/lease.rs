//! What a claim promises, and how a job ends.

use schema::JobId;

use super::{Corner, at, limit};
use crate::{Held, Job, JobState, LeaseToken, NewJob, Retry, Store};

pub async fn a_lost_lease_is_claimed_again_with_a_higher_token(store: &dyn Store) {
    let corner = Corner::of(store);
    let job = NewJob { max_attempts: 10, ..corner.job() };
    corner.enqueue([job.clone()]).await;
    let mut last = corner.claim_one(1000, 2000).await;
    for attempt in 2..6 {
        let lost_at = u64::from(attempt) * 1000;
        assert_eq!(corner.claim(lost_at - 1, lost_at + 1000, 10).await, [], "still leased");
        let claimed = corner.claim_one(lost_at, lost_at + 1000).await;
        assert_eq!((claimed.job.id, claimed.job.attempts), (job.id, attempt));
        assert_eq!(claimed.job.lease_until, Some(at(lost_at + 1000)));
        assert!(claimed.token > last.token);
        last = claimed;
    }
    // A failed attempt leads to a higher token too.
    corner.queue.fail(job.id, last.token, "later", Retry::At(at(7000))).await.unwrap();
    assert!(corner.claim_one(7000, 8000).await.token > last.token);
}

pub async fn an_old_token_finishes_nothing(store: &dyn Store) {
    let corner = Corner::of(store);
    let job = corner.job();
    corner.enqueue([job.clone()]).await;
    nobody_holds(&corner, job.id, LeaseToken(0)).await;
    let old = corner.claim_one(1000, 2000).await;
    let new = corner.claim_one(2000, 3000).await;
    nobody_holds(&corner, job.id, old.token).await;
    nobody_holds(&corner, job.id, LeaseToken(new.token.0 + 1)).await;
    assert_eq!(corner.queue.complete(job.id, new.token).await.unwrap(), Held::Yes);
    // What is finished is finished, for the newest token as well.
    for token in [old.token, new.token] {
        nobody_holds(&corner, job.id, token).await;
    }
    assert_eq!(corner.look(job.id).await.state, JobState::Done);
    // A job that nobody has made is held by nobody.
    assert_eq!(corner.queue.complete(corner.fresh(), new.token).await.unwrap(), Held::No);

    // A token does not outlive a failure, and it is not revived by the next claim.
    let job = corner.job();
    corner.enqueue([job.clone()]).await;
    let failed = corner.claim_one(1000, 2000).await;
    corner.queue.fail(job.id, failed.token, "later", Retry::At(at(3000))).await.unwrap();
    nobody_holds(&corner, job.id, failed.token).await;
    corner.claim_one(3000, 4000).await;
    nobody_holds(&corner, job.id, failed.token).await;
}

/// Whatever `token` asks for is not done.
async fn nobody_holds(corner: &Corner, job: JobId, token: LeaseToken) {
    let before = corner.look(job).await;
    let outcomes = [
        corner.queue.complete(job, token).await.unwrap(),
        corner.queue.fail(job, token, "stale", Retry::At(at(1))).await.unwrap(),
        corner.queue.fail(job, token, "stale", Retry::Never).await.unwrap(),
        corner.queue.extend(job, token, at(9_000_000)).await.unwrap(),
    ];
    assert_eq!(outcomes, [Held::No; 4]);
    assert_eq!(corner.look(job).await, before);
}

pub async fn a_lease_can_be_extended_by_its_holder_only(store: &dyn Store) {
    let corner = Corner::of(store);
    let job = corner.job();
    corner.enqueue([job.clone()]).await;
    let claimed = corner.claim_one(1000, 2000).await;
    for stranger in [claimed.token.0 + 1, claimed.token.0 + 2] {
        let held = corner.queue.extend(job.id, LeaseToken(stranger), at(9000)).await.unwrap();
        assert_eq!(held, Held::No);
        assert_eq!(corner.look(job.id).await, claimed.job);
    }
    assert_eq!(corner.queue.extend(job.id, claimed.token, at(5000)).await.unwrap(), Held::Yes);
    let extended = Job { lease_until: Some(at(5000)), ..claimed.job };
    assert_eq!(corner.look(job.id).await, extended, "the lease and nothing else");
    assert_eq!(corner.claim(4999, 6000, 10).await, []);

    // A lease that ran out while nobody else came is still its holder's.
    assert_eq!(corner.queue.extend(job.id, claimed.token, at(7000)).await.unwrap(), Held::Yes);
    corner.claim_one(7000, 8000).await;
    assert_eq!(corner.queue.extend(job.id, claimed.token, at(9000)).await.unwrap(), Held::No);
}

pub async fn an_extension_never_shortens_a_lease(store: &dyn Store) {
    let corner = Corner::of(store);
    let job = corner.job();
    corner.enqueue([job.clone()]).await;
    let claimed = corner.claim_one(1000, 2000).await;
    assert_eq!(corner.queue.extend(job.id, claimed.token, at(5000)).await.unwrap(), Held::Yes);
    // Sent before the one above, arrived after it.
    assert_eq!(corner.queue.extend(job.id, claimed.token, at(3000)).await.unwrap(), Held::Yes);
    assert_eq!(corner.look(job.id).await.lease_until, Some(at(5000)));
    assert_eq!(corner.queue.next_due(corner.kinds()).await.unwrap(), Some(at(5000)));
    assert_eq!(corner.claim(4999, 6000, 10).await, []);
    corner.claim_one(5000, 6000).await;
}

pub async fn a_retry_is_granted_even_on_the_last_attempt(store: &dyn Store) {
    let corner = Corner::of(store);
    let job = NewJob { max_attempts: 1, ..corner.job() };
    corner.enqueue([job.clone()]).await;
    for attempt in 1..4 {
        let claimed = corner.claim_one(attempt * 1000, attempt * 1000 + 500).await;
        assert_eq!(u64::from(claimed.job.attempts), attempt);
        let again = Retry::At(at((attempt + 1) * 1000));
        assert_eq!(corner.queue.fail(job.id, claimed.token, "stopped", again).await.unwrap(), Held::Yes);
        assert_eq!(corner.look(job.id).await.state, JobState::Waiting);
    }
    // A lease that runs out is final as ever.
    corner.claim_one(4000, 4500).await;
    assert_eq!(corner.claim(4500, 5000, 10).await, []);
    assert_eq!(corner.look(job.id).await.state, JobState::Dead);
}

pub async fn a_failed_job_waits_for_its_retry(store: &dyn Store) {
    let corner = Corner::of(store);
    let job = corner.job();
    corner.enqueue([job.clone()]).await;
    let claimed = corner.claim_one(1000, 2000).await;
    let held =
        corner.queue.fail(job.id, claimed.token, "it was \"busy\"", Retry::At(at(1500))).await.unwrap();
    assert_eq!(held, Held::Yes);
    let waiting = Job {
        state: JobState::Waiting,
        run_at: at(1500),
        lease_until: None,
        last_error: Some("it was \"busy\"".to_owned()),
        ..claimed.job
    };
    assert_eq!(corner.look(job.id).await, waiting);
    assert_eq!(corner.claim(1499, 3000, 10).await, []);
    let claimed = corner.claim_one(1500, 3000).await;
    assert_eq!((claimed.job.attempts, claimed.job.last_error), (2, waiting.last_error));
}

pub async fn a_given_up_job_is_dead_and_can_be_requeued(store: &dyn Store) {
    let corner = Corner::of(store);
    let job = NewJob { key: Some("one".to_owned()), ..corner.job() };
    corner.enqueue([job.clone()]).await;
    assert!(!corner.tenant.requeue(job.id, at(1)).await.unwrap(), "it waits");
    let claimed = corner.claim_one(1000, 2000).await;
    assert!(!corner.tenant.requeue(job.id, at(1)).await.unwrap(), "it is leased");
    let held = corner.queue.fail(job.id, claimed.token, "no use", Retry::Never).await.unwrap();
    assert_eq!(held, Held::Yes);

    let dead = Job {
        state: JobState::Dead,
        lease_until: None,
        last_error: Some("no use".to_owned()),
        ..claimed.job.clone()
    };
    assert_eq!(corner.look(job.id).await, dead);
    assert_eq!(corner.claim(1_000_000, 2_000_000, 10).await, []);
    assert_eq!(corner.tenant.jobs(Some(JobState::Dead), None, limit(10)).await.unwrap(), [dead]);

    assert!(corner.tenant.requeue(job.id, at(5000)).await.unwrap());
    assert!(!corner.tenant.requeue(job.id, at(6000)).await.unwrap(), "it is back already");
    let back = corner.look(job.id).await;
    assert_eq!((back.state, back.run_at, back.attempts), (JobState::Waiting, at(5000), 0));
    assert_eq!(corner.claim(4999, 6000, 10).await, []);
    let again = corner.claim_one(5000, 6000).await;
    assert_eq!(again.job.attempts, 1);
    assert!(again.token > claimed.token, "attempts are forgotten, tokens are not");

    corner.queue.complete(job.id, again.token).await.unwrap();
    assert!(!corner.tenant.requeue(job.id, at(7000)).await.unwrap(), "it is done");
    assert!(!corner.tenant.requeue(corner.fresh(), at(7000)).await.unwrap(), "there is no such job");
}

pub async fn a_dead_job_is_not_requeued_beside_a_live_one(store: &dyn Store) {
    let corner = Corner::of(store);
    let keyed = || NewJob { key: Some("one".to_owned()), ..corner.job() };
    let dead = corner.bury(keyed()).await;
    let live = keyed();
    corner.enqueue([live.clone()]).await;
    assert!(!corner.tenant.requeue(dead, at(1)).await.unwrap(), "another waits");
    let claimed = corner.claim_one(1000, 2000).await;
    assert_eq!(claimed.job.id, live.id);
    assert!(!corner.tenant.requeue(dead, at(1)).await.unwrap(), "another runs");
    assert_eq!(corner.look(dead).await.state, JobState::Dead);
    corner.queue.complete(live.id, claimed.token).await.unwrap();
    assert!(corner.tenant.requeue(dead, at(3000)).await.unwrap());
    // Without a key nothing is in the way.
    let (first, second) = (corner.bury(corner.job()).await, corner.bury(corner.job()).await);
    assert!(corner.tenant.requeue(first, at(3000)).await.unwrap());
    assert!(corner.tenant.requeue(second, at(3000)).await.unwrap());
}

pub async fn a_lease_that_runs_out_on_the_last_attempt_is_dead(store: &dyn Store) {
    let corner = Corner::of(store);
    let job = NewJob { max_attempts: 2, ..corner.job() };
    corner.enqueue([job.clone()]).await;
    corner.claim_one(1000, 2000).await;
    let last = corner.claim_one(2000, 3000).await;
    assert_eq!(last.job.attempts, 2);
    assert_eq!(corner.claim(2999, 4000, 10).await, []);
    assert_eq!(corner.look(job.id).await.state, JobState::Leased, "it may still be done");
    // Somebody has to look for it to be found dead, so it falls due.
    assert_eq!(corner.queue.next_due(corner.kinds()).await.unwrap(), Some(at(3000)));
    assert_eq!(corner.claim(3000, 4000, 10).await, []);

    let dead = corner.look(job.id).await;
    assert_eq!((dead.state, dead.attempts, dead.lease_until), (JobState::Dead, 2, None));
    assert_eq!(corner.queue.next_due(corner.kinds()).await.unwrap(), None);
    nobody_holds(&corner, job.id, last.token).await;
    assert!(corner.tenant.requeue(job.id, at(5000)).await.unwrap());
    assert_eq!(corner.claim_one(5000, 6000).await.job.attempts, 1);
}
