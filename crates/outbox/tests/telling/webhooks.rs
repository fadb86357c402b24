//! Webhooks: who is told, how, how often, and who is not.

use std::sync::Arc;
use std::time::Duration;

use crypto::{KeyRing, Purpose};
use egress::{Client, Reach};
use jobs::{Context, Failure, Handler as _, Options, Worker};
use outbox::{EVENTS, News, Webhook, WebhookNotification, notify, secret_of};
use schema::JobId;
use serde_json::json;
use store::conformance::Story;
use store::{Commit, Job, JobState};
use tokio::sync::oneshot;

use crate::receiver::{Nobody, Receiver, Say, Seen};
use crate::world::{NOW, World, clock, inside, leased, nobody, on_every_store, tenant};

fn news() -> News {
    News {
        tenant: tenant(1),
        event: EVENTS[0],
        at: clock(),
        data: json!({ "approval": { "id": "apr_1", "ä": "\"" } }),
    }
}

/// What one webhook is told of the news.
fn job(webhook: &Webhook) -> Job {
    let mut jobs = notify(std::slice::from_ref(webhook), &news(), || [9; 10]);
    leased(tenant(1), jobs.pop().unwrap())
}

fn delivering(world: &World, client: Client) -> WebhookNotification {
    WebhookNotification::new(world.store.clone(), world.keys.clone(), client, clock)
}

/// What becomes of telling the news to a webhook.
async fn told(world: &World, webhook: &Webhook, client: Client) -> Result<(), Failure> {
    delivering(world, client).handle(&job(webhook), &Context::held()).await
}

/// The signature by the words of the documentation, and not by our code.
fn expected_signature(secret: &str, seen: &Seen) -> String {
    use hmac::{KeyInit as _, Mac as _};
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{}.", seen.header("x-punk-timestamp")).as_bytes());
    mac.update(&seen.body);
    let digits = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("v1={digits}")
}

on_every_store! {
    a_webhook_is_told_what_happened_signed_with_its_own_secret
    a_receiver_that_fails_is_tried_again_with_the_same_delivery
    whoever_is_gone_disabled_or_deleted_is_told_no_more
}

async fn a_webhook_is_told_what_happened_signed_with_its_own_secret(world: World) {
    let receiver = Receiver::fine().await;
    let webhook = world.webhook(7, &format!("{}/hook?token=hunter2", receiver.url)).await;
    let job = job(&webhook);
    delivering(&world, inside()).handle(&job, &Context::held()).await.unwrap();
    let [seen] = receiver.seen().try_into().unwrap();
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/hook?token=hunter2"));
    assert_eq!(seen.header("content-type"), "application/json");
    assert_eq!(seen.header("user-agent"), concat!("punk/", env!("CARGO_PKG_VERSION")));
    assert_eq!(seen.header("x-punk-event"), "approval.created");
    assert_eq!(seen.header("x-punk-delivery"), job.id.to_string());
    assert_eq!(seen.header("x-punk-timestamp"), (NOW / 1000).to_string());
    let secret = secret_of(&world.keys, &webhook).unwrap();
    assert_eq!(seen.header("x-punk-signature"), expected_signature(secret.expose(), &seen));
    // What the headers say is in what is signed too.
    assert_eq!(
        seen.json(),
        json!({
            "event": "approval.created", "delivery": job.id, "tenant": tenant(1), "at": clock(), "data": news().data,
        })
    );
}

async fn a_receiver_that_fails_is_tried_again_with_the_same_delivery(world: World) {
    let receiver = Receiver::start([500, 302, 429, 404, 204].map(Say::Status)).await;
    let webhook = world.webhook(7, &receiver.url).await;
    // In one commit with what happened, and done by a worker.
    let mut story = Story::new(tenant(1), schema::RunId::new(NOW, [1; 10]));
    let jobs = notify(&[webhook], &news(), || [9; 10]);
    let id = jobs[0].id;
    let commit = Commit { appends: vec![story.finish()], jobs, ..Commit::default() };
    world.tenant(1).commit(commit).await.unwrap();
    let handler = Arc::new(delivering(&world, inside()));
    let options = Options { poll_min: Duration::from_millis(1), ..Options::default() };
    // No wait between attempts: the least that the backoff draws.
    let worker =
        Worker::new(Arc::from(world.store.jobs()), vec![handler], Box::new(clock), Box::new(|| 0), options);
    let (stop, stopped) = oneshot::channel();
    let working = tokio::spawn(worker.unwrap().run(async { stopped.await.unwrap() }));
    let seen = tokio::time::timeout(Duration::from_secs(30), receiver.has_seen(5)).await.unwrap();
    stop.send(()).unwrap();
    working.await.unwrap();
    let deliveries: Vec<&str> = seen.iter().map(|seen| seen.header("x-punk-delivery")).collect();
    assert_eq!(deliveries, [id.to_string().as_str(); 5]);
    let job = world.tenant(1).job(id).await.unwrap().unwrap();
    assert_eq!((job.state, job.attempts), (JobState::Done, 5));
}

async fn whoever_is_gone_disabled_or_deleted_is_told_no_more(world: World) {
    let receiver = Receiver::start([410, 200].map(Say::Status)).await;
    let mut webhook = world.webhook(7, &format!("{}/hunter2", receiver.url)).await;
    let Err(Failure::GiveUp(reason)) = told(&world, &webhook, inside()).await else { panic!("tried again") };
    assert_eq!(reason, format!("{} answers 410 Gone", receiver.url));

    webhook.disabled_at = Some(clock());
    assert_eq!(notify(std::slice::from_ref(&webhook), &news(), || [0; 10]), []);
    let commit = |records| Commit { records: vec![records], ..Commit::default() };
    // It was disabled after the news.
    let late = job(&Webhook { disabled_at: None, ..webhook.clone() });
    world.tenant(1).commit(commit(webhook.change(1))).await.unwrap();
    assert_eq!(outbox::webhooks(&*world.tenant(1)).await.unwrap(), []);
    let delivering = delivering(&world, inside());
    let disabled = delivering.handle(&late, &Context::held()).await;
    assert!(matches!(disabled, Err(Failure::GiveUp(_))), "{disabled:?}");
    let gone = store::RecordChange { to: None, ..webhook.change(2) };
    world.tenant(1).commit(commit(gone)).await.unwrap();
    let deleted = delivering.handle(&late, &Context::held()).await;
    assert!(matches!(deleted, Err(Failure::GiveUp(_))), "{deleted:?}");
    assert_eq!(receiver.seen().len(), 1);
}

#[tokio::test]
async fn a_private_address_is_refused_and_never_connected_to_unless_that_is_allowed() {
    let (world, receiver) = (World::memory(), Receiver::fine().await);
    let webhook = world.webhook(7, &receiver.url).await;
    let outside = Client::new(Reach::public(), nobody());
    let refused = told(&world, &webhook, outside).await;
    assert_eq!(refused, Err(Failure::GiveUp("127.0.0.1 is a loopback address".to_owned())));
    // One that is allowed arrives after it, and is alone.
    told(&world, &webhook, inside()).await.unwrap();
    assert_eq!(receiver.seen().len(), 1);
}

#[tokio::test]
async fn no_redirect_is_followed_and_no_answer_is_too_long() {
    let (world, elsewhere) = (World::memory(), Receiver::fine().await);
    let receiver = Receiver::start([Say::Elsewhere(elsewhere.url.clone()), Say::Much(10 << 20)]).await;
    let webhook = world.webhook(7, &receiver.url).await;
    let redirected = told(&world, &webhook, inside()).await;
    assert!(matches!(&redirected, Err(Failure::Retry(why)) if why.ends_with("302 Found")), "{redirected:?}");
    told(&world, &webhook, inside()).await.unwrap();
    assert_eq!(elsewhere.seen().len(), 0);
}

#[tokio::test]
async fn nobody_who_reads_errors_or_logs_learns_the_address_or_the_secret() {
    let (world, nobody_there) = (World::memory(), Nobody::new());
    let webhook = world.webhook(7, &format!("{}/hunter2?token=hunter3", nobody_there.url)).await;
    let failed = format!("{:?} {webhook:?}", told(&world, &webhook, inside()).await);
    assert!(failed.contains(&nobody_there.url) && !failed.contains("hunter"), "{failed}");
    let secret = secret_of(&world.keys, &webhook).unwrap();
    assert_eq!(format!("{secret:?}"), "[secret]");
    let kept = world.tenant(1).record(store::RecordKind::Webhook, &webhook.id.to_string()).await.unwrap();
    assert!(!format!("{kept:?}").contains(secret.expose().as_str()));
}

#[tokio::test]
async fn a_webhooks_secret_is_its_own_and_outlives_the_rotation_of_keys() {
    let world = World::memory();
    let (one, other) = (world.webhook(7, "https://a.org").await, world.webhook(8, "https://a.org").await);
    let secret = |keys: &KeyRing, webhook: &Webhook| secret_of(keys, webhook).unwrap();
    assert_ne!(secret(&world.keys, &one), secret(&world.keys, &other));
    assert!(secret(&world.keys, &one).expose().starts_with("whsec_"));
    let mut rotated = KeyRing::open(world.keys.folder()).unwrap();
    rotated.rotate(Purpose::Log, jiff::Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(secret(&rotated, &one), secret(&world.keys, &one));
    // A process that has not read the ring since cannot sign for one that was made after.
    let newer = Webhook { key_id: rotated.active(Purpose::Log).unwrap().id, ..one.clone() };
    assert_ne!(secret(&rotated, &newer), secret(&rotated, &one));
    assert!(secret_of(&world.keys, &newer).is_none());
}

#[test]
fn only_who_wants_to_know_is_told() {
    let news = News { event: EVENTS[1], ..news() };
    let world = tokio::runtime::Runtime::new().unwrap().block_on(async {
        let world = World::memory();
        (world.webhook(7, "https://a.org").await, world)
    });
    let all = world.0;
    let created = Webhook { events: vec![EVENTS[0].to_owned()], ..all.clone() };
    let approvals = Webhook { events: vec!["x".to_owned(), "approval.*".to_owned()], ..all.clone() };
    let mut drawn = 0;
    let jobs = notify(&[all, created, approvals], &news, || {
        drawn += 1;
        [drawn; 10]
    });
    assert_eq!(jobs.iter().map(|job| job.id).collect::<Vec<JobId>>().len(), 2);
    assert_ne!(jobs[0].id, jobs[1].id);
}

/// The example of a receiver in the documentation, run as it stands there.
#[tokio::test]
async fn the_documented_receiver_takes_what_we_sign_and_nothing_else() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/webhooks.md");
    let page = std::fs::read_to_string(page).unwrap();
    let example = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let (world, receiver) = (World::memory(), Receiver::fine().await);
    let webhook = world.webhook(7, &receiver.url).await;
    told(&world, &webhook, inside()).await.unwrap();
    let [seen] = receiver.seen().try_into().unwrap();
    let headers: serde_json::Map<_, _> = ["x-punk-timestamp", "x-punk-signature"]
        .map(|name| (name.to_owned(), seen.header(name).into()))
        .into_iter()
        .collect();
    let driver = format!(
        "secret, headers, body, now = {secret:?}, {headers}, {body:?}.encode(), {now}\n\
         assert is_from_punk(secret, headers, body, now)\n\
         assert not is_from_punk('whsec_other', headers, body, now)\n\
         assert not is_from_punk(secret, headers, body + b' ', now)\n\
         assert not is_from_punk(secret, headers, body, now + 3600)\n\
         assert not is_from_punk(secret, {{**headers, 'x-punk-timestamp': str(now + 1)}}, body, now)\n",
        secret = secret_of(&world.keys, &webhook).unwrap().expose(),
        headers = json!(headers),
        body = json!(String::from_utf8(seen.body.to_vec()).unwrap()).as_str().unwrap(),
        now = NOW / 1000,
    );
    let functions = example.split("if __name__").next().unwrap();
    let output =
        std::process::Command::new("python3").arg("-c").arg(format!("{functions}\n{driver}")).output();
    match output {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => eprintln!("python3 is not here, so its example was not run: {error}"),
    }
}
