//! What is promised of a rotation of the master key.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use schema::TenantId;
use store::{Commit, RecordBody, RecordChange, RecordKind};
use vault::{MasterKeys, Progress, RotateError, Vault};

use super::{MANY, MARK, Shared, add, master, opened, start, tenant, vault};

pub(crate) async fn a_rotation_re_wraps_all_and_touches_no_value(store: Shared) {
    let (alice, bob) = (tenant(&store, 1).await, tenant(&store, 2).await);
    let before = vault(&store, &[1]).await;
    let places = [(TenantId::NIL, "a"), (alice, "a"), (alice, "b"), (bob, "a")];
    for (tenant, name) in places {
        add(&before, tenant, name, &format!("{MARK} {name}")).await;
    }
    let sealed = sealed_of(&store, alice).await;
    let both = vault(&store, &[2, 1]).await;
    assert!(both.rotation_is_due().await.unwrap());
    let mut seen = Vec::new();
    let rotated = both.rotate(|progress| {
        seen.push(progress);
        ControlFlow::Continue(())
    });
    let rotated = rotated.await.unwrap();
    assert_eq!((rotated.rewrapped, rotated.to, rotated.left.len()), (4, master(2).id(), 0));
    let done: Vec<u64> = seen.iter().map(|Progress { done, .. }| *done).collect();
    assert_eq!(done, [0, 1, 2, 3, 4, 4]);
    assert!(seen.iter().all(|progress| progress.total == 4));
    assert!(!both.rotation_is_due().await.unwrap());
    assert_eq!(sealed_of(&store, alice).await, sealed, "values are not touched");
    // The old key is of no use any more, and of no need.
    assert!(start(&store, &[1]).await.is_err());
    let after = vault(&store, &[2]).await;
    for (tenant, name) in places {
        assert_eq!(opened(&after, tenant, name).await, Some(format!("{MARK} {name}")));
    }
    assert_eq!(after.rotate(|_| ControlFlow::Continue(())).await.unwrap().rewrapped, 0);
}

async fn sealed_of(store: &Shared, tenant: TenantId) -> BTreeSet<String> {
    let filter = store::RecordFilter::of(RecordKind::Credential);
    let records = store.tenant(tenant).records(&filter, None, MANY).await.unwrap();
    records.iter().filter_map(|record| record.body["sealed"].as_str().map(str::to_owned)).collect()
}

/// Every commit of a rotation is followed by a word to whoever watches; whoever stops there leaves the store as a process
/// does that is killed there.
pub(crate) async fn a_rotation_killed_after_any_commit_is_resumed(store: Shared) {
    const CREDENTIALS: u8 = 5;
    let alice = tenant(&store, 1).await;
    let first = vault(&store, &[1]).await;
    for number in 0..CREDENTIALS {
        let whose = if number % 2 == 0 { alice } else { TenantId::NIL };
        add(&first, whose, &format!("n{number}"), &format!("value {number}")).await;
    }
    let mut steps = 0;
    // Each time from one key to the next, killed one commit later.
    for (kill_after, key) in (0u8..).zip(2u8..) {
        let keys = [key, key - 1];
        let killed = vault(&store, &keys).await;
        let mut commits = 0;
        let stopped = killed.rotate(|_| {
            commits += 1;
            if commits > kill_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let finished = stopped.await;
        // Whoever has both keys opens all of it, wherever it stopped.
        let meanwhile = vault(&store, &keys).await;
        for number in 0..CREDENTIALS {
            let whose = if number % 2 == 0 { alice } else { TenantId::NIL };
            let value = opened(&meanwhile, whose, &format!("n{number}")).await;
            assert_eq!(value, Some(format!("value {number}")), "killed after {kill_after}");
        }
        match &finished {
            Err(RotateError::Stopped(done)) => {
                steps += 1;
                assert!(meanwhile.rotation_is_due().await.unwrap() || *done == u64::from(CREDENTIALS));
                let resumed = meanwhile.rotate(|_| ControlFlow::Continue(())).await.unwrap();
                assert_eq!(
                    resumed.rewrapped + done,
                    u64::from(CREDENTIALS),
                    "none is done twice or left out"
                );
            }
            Ok(_) => assert!(kill_after > CREDENTIALS, "{kill_after}"),
            Err(other) => panic!("{other}"),
        }
        let alone = vault(&store, &[key]).await;
        assert_eq!(opened(&alone, alice, "n0").await.as_deref(), Some("value 0"));
        if finished.is_ok() {
            break;
        }
    }
    assert_eq!(steps, u32::from(CREDENTIALS) + 2, "at the beginning, after each, and at the end");
}

pub(crate) async fn what_does_not_open_is_left_and_told(store: Shared) {
    let ours = TenantId::NIL;
    let first = vault(&store, &[1]).await;
    let (good, bad) = (add(&first, ours, "good", MARK).await, add(&first, ours, "bad", MARK).await);
    let id = bad.id.to_string();
    let record = store.tenant(ours).record(RecordKind::Credential, &id).await.unwrap().unwrap();
    let mut body = record.body.clone();
    body["version"] = 5.into();
    let to = RecordBody { group: record.group, key: None, body, created_at: record.created_at, due_at: None };
    let change = RecordChange { kind: RecordKind::Credential, id, expected: 1, to: Some(to) };
    store.tenant(ours).commit(Commit { records: vec![change], ..Commit::default() }).await.unwrap();
    let both = vault(&store, &[2, 1]).await;
    let rotated = both.rotate(|_| ControlFlow::Continue(())).await.unwrap();
    assert_eq!(rotated.rewrapped, 1);
    assert_eq!(rotated.left.iter().map(|left| left.id).collect::<Vec<_>>(), [bad.id]);
    assert!(both.rotation_is_due().await.unwrap(), "the old key is still of use");
    assert_eq!(opened(&both, ours, &good.id.to_string()).await.as_deref(), Some(MARK));
    // What does not open keeps nobody else from being known.
    both.refresh(ours).await.unwrap();
    assert_eq!(both.known().values(ours).len(), 1);
}

/// Two processes whose keys lie in one place: what the one rotates the other opens.
pub(crate) async fn a_process_that_does_not_know_a_new_master_key_reads_it_again(store: Shared) {
    let first = MasterKeys::new(master(1), Vec::new());
    let reload = || Some(MasterKeys::new(master(2), vec![master(1)]));
    let serving = Vault::start(store.clone(), first, Some(Box::new(reload))).await.unwrap();
    let made = add(&serving, TenantId::NIL, "openai", MARK).await;
    vault(&store, &[2, 1]).await.rotate(|_| ControlFlow::Continue(())).await.unwrap();
    // Asked by its id: by its name it was never opened here, and neither was it so.
    assert_eq!(opened(&serving, TenantId::NIL, &made.id.to_string()).await.as_deref(), Some(MARK));
    assert_eq!(serving.master_key_id(), master(2).id());
}
