//! Copies of the ledger's heads: to sinks of every kind, at least once, with nothing skipped.

use std::collections::BTreeSet;
use std::sync::Arc;

use crypto::{SealKey, SecretString};
use jobs::{Failure, Handler as _};
use ledger::note::Note;
use outbox::{AuditShipment, Bucket, Comparison, Copies, Logs, Private, Shape, Sink, compare, log_of};
use schema::{CredentialId, TenantId};
use serde_json::{Value, json};
use store::{Commit, RecordBody, RecordChange, RecordKind};
use vault::{CredentialKind, Kept, MasterKeys, NewCredential, Vault};

use crate::receiver::{Nobody, Receiver, Say};
use crate::sigv4::is_signed;
use crate::world::{World, clock, handled, nobody, on_every_store, tenant};

const KEY: (&str, &str) = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");

fn shipping(world: &World, sinks: Vec<Sink>) -> AuditShipment {
    AuditShipment::new(world.store.clone(), sinks, world.logs(), clock)
}

fn posting(name: &str, receiver: &Receiver) -> Sink {
    Sink::http(name, &receiver.url, None, Private::Allowed, nobody()).unwrap()
}

async fn ship(shipment: &AuditShipment, sink: &str) -> Result<(), Failure> {
    handled(shipment, json!({ "sink": sink })).await
}

/// How far a sink is with a tenant's log.
async fn progress(world: &World, number: u8, sink: &str) -> Value {
    let record = world.tenant(number).record(RecordKind::Sink, sink).await.unwrap();
    record.map_or(Value::Null, |record| record.body)
}

fn sizes(receiver: &Receiver) -> Vec<u64> {
    let documents = receiver.seen().into_iter().map(|seen| seen.json());
    documents.filter_map(|document| document["size"].as_u64()).collect()
}

fn leaves(receiver: &Receiver) -> Vec<u64> {
    let documents = receiver.seen().into_iter().map(|seen| seen.json());
    documents.filter_map(|document| document["leaf"].as_u64()).collect()
}

on_every_store! {
    a_file_gets_a_line_for_every_new_head_that_a_trust_file_verifies
    a_receiver_gets_a_post_for_every_new_head_with_its_token
    a_bucket_gets_a_signed_object_for_every_new_head
    what_was_sent_before_a_crash_is_sent_again_and_nothing_is_skipped
    of_two_workers_neither_skips_anything
    a_sink_that_fails_in_the_middle_goes_on_where_it_was
}

async fn a_file_gets_a_line_for_every_new_head_that_a_trust_file_verifies(world: World) {
    let path = world.folder.path().join("audit.jsonl");
    let shipment = shipping(&world, vec![Sink::file("lines", path.clone())]);
    ship(&shipment, "lines").await.unwrap();
    assert!(!path.exists(), "an empty ledger has no head");
    world.runs(1, 0, 3).await;
    world.runs(2, 0, 1).await;
    ship(&shipment, "lines").await.unwrap();
    ship(&shipment, "lines").await.unwrap();
    world.runs(1, 3, 2).await;
    ship(&shipment, "lines").await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let copies = Copies::read(&text, &world.trust(&[1, 2])).unwrap();
    let shipped: Vec<(String, u64)> =
        copies.checkpoints.iter().map(|one| (one.origin.to_string(), one.size)).collect();
    let origin = |number| format!("punk.local/{}", tenant(number));
    assert_eq!(shipped, [(origin(1), 3), (origin(2), 1), (origin(1), 5)]);
    for number in [1, 2] {
        let log = log_of(&*world.tenant(number)).await.unwrap();
        let origin = origin(number).parse().unwrap();
        let compared = compare(&copies.checkpoints, &origin, &log);
        assert!(matches!(compared, Comparison::Consistent { .. }), "{compared:?}");
    }
    assert_eq!(progress(&world, 1, "lines").await, json!({ "size": 5, "told": 0 }));
    // A key that nobody trusts, and a line that was changed.
    let stranger = Copies::read(&text, &world.trust(&[2])).unwrap_err();
    assert_eq!(stranger.to_string(), "line 1: no trusted key has signed its checkpoint");
    let changed = text.replacen("\"size\":3", "\"size\":4", 1);
    let changed = Copies::read(&changed, &world.trust(&[1, 2])).unwrap_err();
    assert_eq!(changed.to_string(), "line 1: what is around its checkpoint says something else");
    let torn = Copies::read(&format!("{{\"format\":\n{text}"), &world.trust(&[1, 2])).unwrap();
    assert_eq!((torn.torn, torn.checkpoints.len()), (vec![1], 3));
}

async fn a_receiver_gets_a_post_for_every_new_head_with_its_token(world: World) {
    let receiver = Receiver::fine().await;
    let token = Some(SecretString::new("hunter2".to_owned()).into());
    let url = format!("{}/in", receiver.url);
    let sink = Sink::http("siem", &url, token, Private::Allowed, nobody()).unwrap();
    assert!(!format!("{sink:?}").contains("hunter"));
    let shipment = shipping(&world, vec![sink]);
    world.runs(1, 0, 2).await;
    ship(&shipment, "siem").await.unwrap();
    ship(&shipment, "siem").await.unwrap();
    let [seen] = receiver.seen().try_into().unwrap();
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/in"));
    assert_eq!(seen.header("authorization"), "Bearer hunter2");
    assert_eq!(seen.header("content-type"), "application/json");
    let (document, (size, root)) = (seen.json(), world.tenant(1).log_head().await.unwrap());
    assert_eq!(
        (&document["format"], &document["size"], &document["root"], &document["tenant"], &document["at"]),
        (&json!("punk.checkpoint/1"), &json!(size), &json!(root), &json!(tenant(1)), &json!(clock()))
    );
    // The same note that a packet has.
    let note: Note = document["checkpoint"].as_str().unwrap().parse().unwrap();
    assert_eq!(note, world.logs().key(tenant(1)).unwrap().checkpoint(size, root).unwrap());
}

async fn a_bucket_gets_a_signed_object_for_every_new_head(world: World) {
    let receiver = Receiver::fine().await;
    let bucket = Bucket {
        endpoint: format!("{}/", receiver.url),
        name: "audit".to_owned(),
        prefix: "punk $/".to_owned(),
        region: "eu-central-1".to_owned(),
        access_key_id: KEY.0.to_owned(),
        secret_access_key: SecretString::new(KEY.1.to_owned()).into(),
    };
    let sink = Sink::s3("vault", bucket, Private::Allowed, nobody()).unwrap().with_runs(Shape::Punk);
    let shipment = shipping(&world, vec![sink]);
    world.runs(1, 0, 2).await;
    ship(&shipment, "vault").await.unwrap();
    let all = receiver.seen();
    assert_eq!(all.len(), 3, "two runs and a head");
    for seen in &all {
        assert!(is_signed(seen, KEY, "eu-central-1"), "{seen:?}");
        assert!(!is_signed(seen, (KEY.0, "another"), "eu-central-1"));
        let altered = crate::receiver::Seen { path: format!("{}x", seen.path), ..seen.clone() };
        assert!(!is_signed(&altered, KEY, "eu-central-1"));
    }
    let (size, root) = world.tenant(1).log_head().await.unwrap();
    let folder = format!("/audit/punk%20%24/punk.local/{}", tenant(1));
    let head = all.last().unwrap();
    assert_eq!(head.method, "PUT");
    assert_eq!(head.path, format!("{folder}/checkpoints/{size:016}-{root}.json"));
    assert!(all[..2].iter().all(|seen| seen.path.starts_with(&format!("{folder}/contexts/000000000000000"))));
    assert_eq!(progress(&world, 1, "vault").await, json!({ "size": 2, "told": 2 }));
}

async fn what_was_sent_before_a_crash_is_sent_again_and_nothing_is_skipped(world: World) {
    let receiver = Receiver::start([Say::Nothing, Say::Status(200)]).await;
    world.runs(1, 0, 2).await;
    let shipment = Arc::new(shipping(&world, vec![posting("siem", &receiver)]));
    let crashing = shipment.clone();
    let crashing = tokio::spawn(async move { ship(&crashing, "siem").await });
    // It has arrived, and whoever sent it never hears of that.
    receiver.has_seen(1).await;
    crashing.abort();
    assert!(crashing.await.unwrap_err().is_cancelled());
    assert_eq!(progress(&world, 1, "siem").await, Value::Null);
    world.runs(1, 2, 1).await;
    ship(&shipment, "siem").await.unwrap();
    assert_eq!(sizes(&receiver), [2, 3]);
    assert_eq!(progress(&world, 1, "siem").await["size"], 3);
}

async fn of_two_workers_neither_skips_anything(world: World) {
    let receiver = Receiver::fine().await;
    let together = |_| {
        let sink = posting("siem", &receiver).with_runs(Shape::Punk);
        let shipment = shipping(&world, vec![sink]);
        tokio::spawn(async move { ship(&shipment, "siem").await })
    };
    for round in 0..5 {
        world.runs(1, round * 40, 40).await;
        let workers: Vec<_> = (0..3).map(together).collect();
        for worker in workers {
            worker.await.unwrap().unwrap();
        }
        // Whoever lost left the rest to the winner, who may have seen an older size.
        ship(&shipping(&world, vec![posting("siem", &receiver).with_runs(Shape::Punk)]), "siem")
            .await
            .unwrap();
        let size = u64::from(round + 1) * 40;
        assert_eq!(progress(&world, 1, "siem").await, json!({ "size": size, "told": size }));
        let told: BTreeSet<u64> = leaves(&receiver).into_iter().collect();
        assert!(told.into_iter().eq(0..size), "every leaf was told");
        assert!(sizes(&receiver).contains(&size));
    }
}

async fn a_sink_that_fails_in_the_middle_goes_on_where_it_was(world: World) {
    // The first batch of a hundred arrives, and of the second one does not.
    let answers = (0..150).map(|_| Say::Status(200)).chain([Say::Status(503), Say::Status(200)]);
    let receiver = Receiver::start(answers).await;
    world.runs(1, 0, 240).await;
    let shipment = shipping(&world, vec![posting("siem", &receiver).with_runs(Shape::Punk)]);
    let Err(Failure::RetryAt(when, why)) = ship(&shipment, "siem").await else { panic!("it has arrived") };
    assert_eq!(why, format!("{} answers 503 Service Unavailable", receiver.url));
    assert!(when > clock());
    assert_eq!(progress(&world, 1, "siem").await, json!({ "size": 0, "told": 100 }));
    assert_eq!(sizes(&receiver), [0u64; 0], "no head before what it covers");
    ship(&shipment, "siem").await.unwrap();
    let told: BTreeSet<u64> = leaves(&receiver).into_iter().collect();
    assert!(told.into_iter().eq(0..240));
    assert_eq!(leaves(&receiver).iter().filter(|leaf| **leaf < 100).count(), 100, "these were noted");
    assert_eq!(sizes(&receiver), [240]);
}

#[tokio::test]
async fn every_sink_has_a_job_of_its_own_and_one_that_is_away_keeps_no_other_waiting() {
    let (world, receiver) = (World::memory(), Receiver::fine().await);
    world.runs(1, 0, 1).await;
    let nobody_there = Nobody::new();
    let away = format!("{}/hunter2", nobody_there.url);
    let away = Sink::http("away", &away, None, Private::Allowed, nobody()).unwrap();
    let shipment = shipping(&world, vec![away, posting("here", &receiver)]);
    assert_eq!(shipment.kind(), "audit_shipment");
    // The recurring job, twice: the jobs of the first still wait.
    handled(&shipment, Value::Null).await.unwrap();
    handled(&shipment, Value::Null).await.unwrap();
    let jobs = world.waiting(TenantId::NIL).await;
    let mut named: Vec<_> = jobs.iter().map(|job| job.payload["sink"].as_str().unwrap()).collect();
    named.sort_unstable();
    assert_eq!(named, ["away", "here"]);
    let Err(Failure::RetryAt(_, why)) = ship(&shipment, "away").await else { panic!("who has it?") };
    assert_eq!(why, format!("no connection to {}", nobody_there.url));
    ship(&shipment, "here").await.unwrap();
    assert_eq!(sizes(&receiver), [1]);
    let unknown = ship(&shipment, "nobody").await;
    assert!(matches!(unknown, Err(Failure::GiveUp(_))), "{unknown:?}");
}

#[tokio::test]
async fn a_token_in_the_vault_is_used_as_it_is_now_and_a_missing_one_holds_the_copies_back() {
    let (world, receiver) = (World::memory(), Receiver::fine().await);
    let masters = MasterKeys::new(SealKey::from_bytes([1; 32]), Vec::new());
    let vault = Arc::new(Vault::start(world.store.clone(), masters, None).await.unwrap());
    let token = Kept::new(vault.clone(), "cred:siem".parse().unwrap(), "sinks.siem.token");
    let sink = Sink::http("siem", &receiver.url, Some(token.into()), Private::Allowed, nobody()).unwrap();
    let shipment = shipping(&world, vec![sink]);
    world.runs(1, 0, 1).await;
    let Err(Failure::RetryAt(_, why)) = ship(&shipment, "siem").await else { panic!("without a token?") };
    assert!(why.starts_with("sinks.siem.token: there is no credential `cred:siem`"), "{why}");
    assert!(receiver.seen().is_empty());
    let new = NewCredential {
        id: CredentialId::new(1, [1; 10]),
        name: "siem".parse().unwrap(),
        kind: CredentialKind::Other,
        value: SecretString::new("hunter2".to_owned()),
        created_by: "installation".to_owned(),
        at: clock(),
    };
    let made = vault.add(TenantId::NIL, new, Commit::default()).await.unwrap();
    ship(&shipment, "siem").await.unwrap();
    let another = SecretString::new("hunter3".to_owned());
    vault.replace(TenantId::NIL, &made, another, clock(), Commit::default()).await.unwrap();
    world.runs(1, 1, 1).await;
    ship(&shipment, "siem").await.unwrap();
    let seen = receiver.seen();
    let sent: Vec<_> = seen.iter().map(|seen| seen.header("authorization")).collect();
    assert_eq!(sent, ["Bearer hunter2", "Bearer hunter3"]);
    assert_eq!(sizes(&receiver), [1, 2], "nothing was skipped");
}

#[tokio::test]
async fn a_private_address_is_refused_at_the_start_and_never_connected_to() {
    let receiver = Receiver::fine().await;
    let refused = Sink::http("siem", &receiver.url, None, Private::Refused, nobody()).unwrap_err();
    assert_eq!(refused.to_string(), "127.0.0.1 is a loopback address");
    let metadata = Sink::http("siem", "http://169.254.169.254/", None, Private::Allowed, nobody());
    assert!(metadata.is_err(), "whatever is allowed");
    assert_eq!(receiver.seen().len(), 0);
}

#[tokio::test]
async fn what_is_wrong_with_one_tenant_keeps_no_other_from_being_shipped() {
    let (world, receiver) = (World::memory(), Receiver::fine().await);
    world.runs(1, 0, 1).await;
    world.runs(2, 0, 2).await;
    let to = RecordBody {
        group: String::new(),
        key: None,
        body: json!("no progress"),
        created_at: clock(),
        due_at: None,
    };
    let broken = RecordChange { kind: RecordKind::Sink, id: "siem".to_owned(), expected: 0, to: Some(to) };
    world.tenant(1).commit(Commit { records: vec![broken], ..Commit::default() }).await.unwrap();
    let shipment = shipping(&world, vec![posting("siem", &receiver)]);
    let Err(Failure::RetryAt(_, why)) = ship(&shipment, "siem").await else { panic!("all is well?") };
    assert!(why.starts_with("the store is damaged: sink siem: "), "{why}");
    assert_eq!(sizes(&receiver), [2]);
}

#[tokio::test]
async fn without_a_key_nothing_is_shipped_and_somebody_is_told_why() {
    let (world, receiver) = (World::memory(), Receiver::fine().await);
    world.runs(1, 0, 1).await;
    let empty = Arc::new(crypto::KeyRing::open(world.folder.path().join("none")).unwrap());
    let logs = Logs::new("punk.local".to_owned(), empty);
    let shipment = AuditShipment::new(world.store.clone(), vec![posting("siem", &receiver)], logs, clock);
    let Err(Failure::RetryAt(_, why)) = ship(&shipment, "siem").await else { panic!("signed by whom?") };
    assert_eq!(why, "the key ring has no key that signs the ledger");
    assert_eq!(receiver.seen().len(), 0);
}
