//! Work in the background: which jobs Punk does, which of them recur, and the worker that `punk serve` and `punk worker`
//! both run.
//!
//! To add a kind: its handler in [`work`], and, if it recurs, `Recurring::new(kind, tenant, Schedule::parse(…)?)` beside it.

use crate::clock;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::sinks;
use crate::stop::Stop;
use crate::storage;
use apprentice::{Apprentice, LearningTick, ReplayEvaluation};
use config::Settings;
use crypto::random::Generator;
use egress::{Client, Reach, Trust};
use jobs::{Handler, Kind, Options, Recurring, Schedule, Scheduler, Worker};
use outbox::{ApprovalSweep, AuditShipment, Logs, WebhookNotification};
use retention::{ErasureSweep, RetentionSweep};
use schema::TenantId;
use std::error::Error;
use std::sync::Arc;
use store::Store;
use vault::Vault;

/// What there is to do.
struct Work {
    /// One for each kind of job.
    handlers: Vec<Arc<dyn Handler>>,
    /// What comes again and again; every kind in it has a handler.
    recurring: Vec<Recurring>,
}

/// All that Punk does in the background.
fn work(
    store: &Arc<dyn Store>,
    settings: &Settings,
    vault: Option<&Arc<Vault>>,
    apprentice: &Arc<Apprentice>,
) -> Result<Work, Failure> {
    let keeper = storage::keeper(store, apprentice);
    let mut handlers: Vec<Arc<dyn Handler>> = vec![Arc::new(ErasureSweep(keeper.clone()))];
    handlers.push(Arc::new(RetentionSweep::new(keeper, settings.retention())));
    // One job for all tenants, at an hour when most of them sleep.
    let mut recurring = vec![recurring(Kind::RetentionSweep, "17 3 * * *")?];
    handlers.push(Arc::new(LearningTick(Arc::clone(apprentice))));
    handlers.push(Arc::new(ReplayEvaluation(Arc::clone(apprentice))));
    let every = Schedule::every(settings.learn_every()).map_err(|error| impossible(&error))?;
    recurring.push(Recurring::new(Kind::LearningTick.as_str(), TenantId::NIL, every));
    tell_others(store, settings, vault, &mut handlers, &mut recurring)?;
    Ok(Work { handlers, recurring })
}

/// What others are told: of news, and of the heads of the logs, if there is somewhere to copy them to.
fn tell_others(
    store: &Arc<dyn Store>,
    settings: &Settings,
    vault: Option<&Arc<Vault>>,
    handlers: &mut Vec<Arc<dyn Handler>>,
    recurrings: &mut Vec<Recurring>,
) -> Result<(), Failure> {
    let keys = Arc::new(storage::open_keys(settings)?);
    let trust =
        Trust::system(&[]).map_err(|error| Failure::of(Exit::Environment, "punk_no_certificates", &error))?;
    let sinks = sinks::sinks(settings, vault, &trust)?;
    let reach = if settings.private_webhooks() { Reach::private() } else { Reach::public() };
    let client = Client::new(reach, trust);
    handlers.push(Arc::new(WebhookNotification::new(store.clone(), keys.clone(), client, clock::wall)));
    handlers.push(Arc::new(ApprovalSweep::new(store.clone(), clock::wall)));
    recurrings.push(recurring(Kind::ApprovalSweep, "* * * * *")?);
    if !sinks.is_empty() {
        recurrings.push(recurring(Kind::AuditShipment, "* * * * *")?);
    }
    let logs = Logs::new(settings.log_name().to_owned(), keys);
    handlers.push(Arc::new(AuditShipment::new(store.clone(), sinks, logs, clock::wall)));
    Ok(())
}

/// Work for all tenants that comes again and again.
fn recurring(kind: Kind, schedule: &str) -> Result<Recurring, Failure> {
    let schedule = Schedule::parse(schedule, "UTC").map_err(|error| impossible(&error))?;
    Ok(Recurring::new(kind.as_str(), TenantId::NIL, schedule))
}

/// A worker and a scheduler that are ready to begin.
pub(crate) struct Background {
    worker: Worker,
    scheduler: Scheduler,
    kinds: Vec<String>,
}

impl Background {
    /// All that Punk does, as configured.
    pub(crate) fn new(
        store: &Arc<dyn Store>,
        settings: &Settings,
        vault: Option<&Arc<Vault>>,
        apprentice: &Arc<Apprentice>,
    ) -> Result<Self, Failure> {
        Self::of(store, work(store, settings, vault, apprentice)?, settings)
    }

    fn of(store: &Arc<dyn Store>, work: Work, settings: &Settings) -> Result<Self, Failure> {
        let mut random =
            Generator::new().map_err(|error| Failure::of(Exit::Environment, "punk_no_randomness", &error))?;
        let draw = Box::new(move || u64::from_be_bytes(random.bytes()));
        let kinds = work.handlers.iter().map(|handler| handler.kind().to_owned()).collect();
        let worker = Worker::new(
            Arc::from(store.jobs()),
            work.handlers,
            Box::new(clock::wall),
            draw,
            options(settings),
        );
        let scheduler = Scheduler::new(store.clone(), work.recurring, Box::new(clock::wall));
        Ok(Self {
            worker: worker.map_err(|error| impossible(&error))?,
            scheduler: scheduler.map_err(|error| impossible(&error))?,
            kinds,
        })
    }

    /// The kinds of job it does, for people.
    pub(crate) fn kinds(&self) -> String {
        if self.kinds.is_empty() { "no kind of job yet".to_owned() } else { self.kinds.join(", ") }
    }

    /// Works until `stop`, then finishes what it has begun within `server.drain_seconds` and gives back the rest.
    pub(crate) async fn run(self, stop: Stop) {
        tokio::join!(self.scheduler.run(stop.clone().requested()), self.worker.run(stop.requested()));
    }
}

fn options(settings: &Settings) -> Options {
    let defaults = Options::default();
    let poll_max = settings.worker_poll();
    Options { poll_max, poll_min: defaults.poll_min.min(poll_max), grace: settings.drain(), ..defaults }
}

/// Work that contradicts itself is our own mistake; a test looks for it.
fn impossible(error: &dyn Error) -> Failure {
    Failure::of(Exit::Environment, "punk_work_impossible", error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{FileSource, Sources};
    use jobs::Context;
    use std::num::NonZeroU32;
    use std::time::Duration;
    use store::memory::MemoryStore;
    use store::{Job, JobState};
    use tokio::sync::Notify;

    fn settings(environment: &[(&str, &str)]) -> Settings {
        let environment = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        config::load(&Sources { flags: Vec::new(), environment, file: FileSource::Absent }).unwrap()
    }

    #[tokio::test]
    async fn what_punk_does_fits_together() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let masters = vault::MasterKeys::new(crypto::SealKey::from_bytes([1; 32]), Vec::new());
        let vault = Arc::new(Vault::start(store.clone(), masters, None).await.unwrap());
        let text = "[sinks.a]\nkind = 'file'\npath = 'a'\n[sinks.b]\nkind = 'file'\npath = 'b'\n".to_owned();
        let file = FileSource::Text { name: "punk.toml".to_owned(), text };
        let with_sinks = config::load(&Sources { file, ..Sources::default() }).unwrap();
        let apprentice = Arc::new(Apprentice::new(store.clone(), clock::wall, 0, false));
        for (settings, ships) in [(settings(&[]), false), (with_sinks, true)] {
            let Work { handlers, recurring } = work(&store, &settings, Some(&vault), &apprentice).unwrap();
            for recurring in &recurring {
                let handled = handlers.iter().any(|handler| handler.kind() == recurring.kind);
                assert!(handled, "nobody does `{}`", recurring.kind);
            }
            let shipment = recurring.iter().find(|work| work.kind == Kind::AuditShipment.as_str());
            assert_eq!(shipment.is_some(), ships, "where there is nothing to copy to, nothing recurs");
            assert!(Background::new(&store, &settings, Some(&vault), &apprentice).is_ok());
        }
    }

    #[test]
    fn a_worker_works_as_configured() {
        let configured = options(&settings(&[("PUNK_WORKER_POLL_MS", "20"), ("PUNK_DRAIN_SECONDS", "3")]));
        let millis = Duration::from_millis;
        assert_eq!(
            (configured.poll_min, configured.poll_max, configured.grace),
            (millis(20), millis(20), millis(3_000))
        );
        let defaults = options(&settings(&[]));
        assert_eq!(
            (defaults.poll_min, defaults.poll_max, defaults.grace),
            (millis(50), millis(500), millis(30_000))
        );
    }

    struct Sweep(Notify);

    #[async_trait::async_trait]
    impl Handler for Sweep {
        fn kind(&self) -> &str {
            "sweep"
        }

        async fn handle(&self, _: &Job, _: &Context) -> Result<(), jobs::Failure> {
            self.0.notify_one();
            Ok(())
        }
    }

    #[tokio::test]
    async fn recurring_work_is_made_and_done_until_the_stop() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let sweep = Arc::new(Sweep(Notify::new()));
        let nightly = Recurring::new("sweep", TenantId::NIL, Schedule::parse("0 3 * * *", "UTC").unwrap());
        let work = Work { handlers: vec![sweep.clone()], recurring: vec![nightly] };
        let background = Background::of(&store, work, &settings(&[])).unwrap();
        assert_eq!(background.kinds(), "sweep");

        let (stopper, stop) = Stop::channel();
        let running = tokio::spawn(background.run(stop));
        tokio::time::timeout(Duration::from_secs(20), sweep.0.notified()).await.unwrap();
        stopper.send_replace(true);
        running.await.unwrap();
        let jobs = store.tenant(TenantId::NIL).jobs(None, None, NonZeroU32::MAX).await.unwrap();
        assert_eq!(jobs.iter().map(|job| job.state).collect::<Vec<_>>(), [JobState::Done]);
    }
}
